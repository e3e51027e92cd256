// A tile: 1024 buckets of 2^k ns of one group, folded so that time and counts are conserved.
//
// Per row and bucket: a slice of at least a bucket's width stands for itself (at most one starts
// there); the others that start there fold into one run with their extent, count, longest and
// covered share. One more may enter from the left. So a row costs at most 2·1024 + 1 slices and
// O(1024 · log n), whatever the trace, and a tile does not depend on its neighbours.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "libtrace/trace.h"
#include "tb_backend/timeline/row.h"

namespace traceglass {

inline constexpr int kBucketsLog2 = 10;
inline constexpr std::int64_t kBuckets = std::int64_t{1} << kBucketsLog2;
inline constexpr int kMaxZoom = 52;  // 1024 buckets of 2^52 ns are 146 years
inline constexpr int kSubBuckets = 256;

namespace tile_flag {
inline constexpr std::uint8_t kContinuesLeft = 1;
inline constexpr std::uint8_t kContinuesRight = 2;
inline constexpr std::uint8_t kFolded = 4;
inline constexpr std::uint8_t kUnfinished = 8;
inline constexpr std::uint8_t kLinked = 16;  // has a launch or flow
inline constexpr std::uint8_t kSuspect = 32;
}  // namespace tile_flag

struct TileSlice {
  std::uint32_t start = 0, end = 0;  // 1/256 bucket from the tile's left edge
  libtrace::EventId id = 0;          // of a run: the longest
  libtrace::StringId name = 0;
  std::uint32_t count = 1;
  std::uint16_t row = 0;
  std::uint8_t kind = 0;  // Kind, +16 communication, +32 data loading
  std::uint8_t busy = 255;
  std::uint8_t flags = 0;
  std::int64_t covered_ns = 0;  // exact; not part of the format
};

// What a slice is, in the byte that tiles have for it.
std::uint8_t tile_kind(const libtrace::Trace& trace, libtrace::EventId e);

// Where a tile lies, or nullopt where it would leave 64-bit time: there is nothing.
struct TileWindow {
  int k = 0;
  std::int64_t start = 0, end = 0;

  static std::optional<TileWindow> of(std::int64_t origin, int k, std::int64_t i);
};

// Appends the slices of one row, in time order. `linked` has a bit a slice.
void fold_row(const libtrace::Trace& trace, const Row& row, std::uint16_t row_number,
              const TileWindow& window, const std::vector<bool>& linked,
              std::vector<TileSlice>& out);

}  // namespace traceglass
