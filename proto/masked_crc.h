// The checksum of TensorFlow's record files: CRC-32C, rotated and offset so that a checksum of
// data that holds checksums stays useful.
#pragma once

#include <cstdint>
#include <string_view>

namespace traceglass::proto {

std::uint32_t crc32c(std::string_view bytes) noexcept;
std::uint32_t masked_crc32c(std::string_view bytes) noexcept;

}  // namespace traceglass::proto
