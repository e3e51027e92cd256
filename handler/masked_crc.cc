#include "handler/masked_crc.h"

#include <array>

namespace libtrace {
namespace {

// Castagnoli, reflected. Records are tens of bytes: a table of 1 KiB is fast enough.
constexpr std::array<std::uint32_t, 256> kTable = [] {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t c = i;
    for (int bit = 0; bit < 8; ++bit) c = (c >> 1) ^ ((c & 1) != 0 ? 0x82F6'3B78U : 0U);
    table[i] = c;
  }
  return table;
}();

}  // namespace

std::uint32_t crc32c(std::string_view bytes) noexcept {
  std::uint32_t c = 0xFFFF'FFFF;
  for (const char b : bytes) c = (c >> 8) ^ kTable[(c ^ static_cast<unsigned char>(b)) & 0xFF];
  return ~c;
}

std::uint32_t masked_crc32c(std::string_view bytes) noexcept {
  const std::uint32_t c = crc32c(bytes);
  return ((c >> 15) | (c << 17)) + 0xA282'EAD8U;
}

}  // namespace libtrace
