#include "tb_backend/timeline/tile_encoder.h"

#include <array>
#include <bit>
#include <cstring>

namespace traceglass {
namespace {

static_assert(std::endian::native == std::endian::little, "columns are copied as they stand");

constexpr std::uint32_t kMagic = 0x314C5447;  // "GTL1"
constexpr std::uint16_t kVersion = 1;
constexpr std::size_t kHeaderBytes = 64;
constexpr std::size_t kOffsets = 8;  // start … busy; flags follows busy
constexpr std::size_t kOffsetsAt = 32;

std::size_t aligned(std::size_t bytes) { return (bytes + 7) & ~std::size_t{7}; }

template <class T>
void put(char* at, T value) {
  std::memcpy(at, &value, sizeof value);
}

}  // namespace

void encode_tile(const TileHeader& header, std::span<const TileSlice> slices, std::string& out) {
  const std::size_t n = slices.size();
  constexpr std::array<std::size_t, kOffsets + 1> kWidth = {4, 4, 4, 4, 4, 2, 1, 1, 1};
  std::array<std::size_t, kOffsets + 1> offset{};
  std::size_t bytes = kHeaderBytes;
  for (std::size_t c = 0; c < kWidth.size(); ++c) {
    offset[c] = bytes;
    bytes += aligned(kWidth[c] * n);
  }

  const std::size_t base = out.size();
  out.resize(base + bytes, '\0');
  char* tile = out.data() + base;
  put(tile, kMagic);
  put(tile + 4, kVersion);
  put(tile + 6, static_cast<std::uint16_t>(header.k));
  put(tile + 8, header.i);
  put(tile + 16, header.group);
  put(tile + 20, static_cast<std::uint32_t>(n));
  put(tile + 24, header.rows);
  put(tile + 28, static_cast<std::uint32_t>(bytes));
  for (std::size_t c = 0; c < kOffsets; ++c) {
    put(tile + kOffsetsAt + 4 * c, static_cast<std::uint32_t>(offset[c]));
  }
  for (std::size_t j = 0; j < n; ++j) {
    const TileSlice& s = slices[j];
    put(tile + offset[0] + 4 * j, s.start);
    put(tile + offset[1] + 4 * j, s.end);
    put(tile + offset[2] + 4 * j, s.id);
    put(tile + offset[3] + 4 * j, s.name);
    put(tile + offset[4] + 4 * j, s.count);
    put(tile + offset[5] + 2 * j, s.row);
    put(tile + offset[6] + j, s.kind);
    put(tile + offset[7] + j, s.busy);
    put(tile + offset[8] + j, s.flags);
  }
}

}  // namespace traceglass
