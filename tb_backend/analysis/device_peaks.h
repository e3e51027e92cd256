// What devices can do at most, by the name that a trace gives them. The table is in the .cc, with
// its sources; a device that is not in it is unknown, and nothing is guessed for it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "tb_backend/analysis/op_cost.h"

namespace traceglass {

// TFLOP/s without sparsity, at the clock that the vendor states; 0: the vendor states none.
struct DevicePeaks {
  std::string_view model;  // as the vendor calls it
  double vector_fp32 = 0, matrix_fp32 = 0, tf32 = 0, half = 0, fp8 = 0;
  double memory_gb_s = 0;
  [[nodiscard]] double memory_bytes_per_s() const { return memory_gb_s * 1e9; }
};

// The precisions that have a roof, lowest first.
inline constexpr Precision kRoofs[] = {Precision::kVector, Precision::kFp32, Precision::kTf32,
                                       Precision::kHalf, Precision::kFp8};

// `memory_bytes` tells apart models that a name does not.
std::optional<DevicePeaks> find_device_peaks(std::string_view name,
                                             std::optional<std::int64_t> memory_bytes);

// FLOP/s of one precision; nullopt: unknown, or not in the table.
std::optional<double> peak_of(const DevicePeaks& peaks, Precision precision);

}  // namespace traceglass
