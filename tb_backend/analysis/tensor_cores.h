// Whether a kernel ran on tensor cores, as far as its name tells.
#pragma once

#include <cstdint>
#include <string_view>

namespace traceglass {

enum class TensorCores : std::uint8_t { kNo, kYes, kUnknown };
std::string_view tensor_cores_name(TensorCores value);  // "no", "yes", "unknown"

// Names are guesses: a matrix product whose name says nothing is unknown, not "no".
TensorCores tensor_cores_of_kernel(std::string_view name);
// Single precision on the matrix units, which shows in the kernel's name only.
bool runs_tf32(std::string_view name);

}  // namespace traceglass
