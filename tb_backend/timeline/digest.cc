#include "tb_backend/timeline/digest.h"

#include <algorithm>

#include "tb_backend/timeline/tile_encoder.h"

namespace traceglass {

using libtrace::TimeRange;

namespace {

// The whole trace is there down to 8192 buckets: sharp on any screen, and some way into it.
constexpr std::int64_t kWholeTiles = 8;

// From this many tiles of the focus on, zoomed into it, every second level does: what lies between
// is drawn from the coarser one.
constexpr std::int64_t kSharpTiles = 4;

// A level coarser than the one whose tile 0 holds everything: what a narrow page draws.
int first_level(std::int64_t length) {
  int k = 0;
  while (k < kMaxZoom && (length >> k) > kBuckets) ++k;
  return std::min(k + 1, kMaxZoom);
}

TimeRange within(TimeRange focus, TimeRange whole) {
  const std::int64_t start = std::clamp(focus.start, whole.start, whole.end);
  const std::int64_t end = std::clamp(focus.end, start, whole.end);
  return {start - whole.start, end - whole.start};
}

}  // namespace

Digest::Digest(const Timeline& timeline, TimeRange focus)
    : timeline_(timeline),
      focus_(within(focus, timeline.trace().range())),
      length_(std::max<std::int64_t>(1, timeline.trace().range().length())),
      k_(first_level(length_)),
      level_(k_) {}

std::optional<std::string> Digest::next(std::size_t most_bytes) {
  if (k_ < 0 || exact_) return std::nullopt;
  const int shift = k_ + kBucketsLog2;
  const auto tile_of = [shift](std::int64_t at) { return shift > 62 ? 0 : at >> shift; };
  const std::int64_t last = tile_of(length_ - 1);
  const std::int64_t from = tile_of(focus_.start);
  const std::int64_t to = tile_of(std::max(focus_.start, focus_.end - 1));
  std::optional<std::string> level;
  if (last < kWholeTiles) level = tiles(0, last, most_bytes);
  if (!level) level = tiles(from, to, most_bytes);
  if (!level) return std::nullopt;
  level_ = k_;
  k_ -= to - from >= kSharpTiles ? 2 : 1;
  return level;
}

std::optional<std::string> Digest::tiles(std::int64_t first, std::int64_t last,
                                         std::size_t most_bytes) {
  std::string out;
  bool folded = false;
  for (const Group& group : timeline_.groups()) {
    const auto rows = static_cast<std::uint32_t>(group.rows.size());
    for (std::int64_t i = first; i <= last; ++i) {
      const auto slices = timeline_.tile(group.id, k_, i);
      for (const TileSlice& slice : slices) folded |= slice.count > 1;
      encode_tile({k_, i, group.id, rows}, slices, out);
      if (out.size() > most_bytes) return std::nullopt;
    }
  }
  exact_ = !folded;
  return out;
}

std::vector<libtrace::EventId> longest_slices(const libtrace::Trace& trace, TimeRange range,
                                              std::size_t most) {
  std::vector<libtrace::EventId> found;
  for (libtrace::EventId e = 0; e < trace.size(); ++e) {
    if (trace.start(e) >= range.start && trace.start(e) < range.end) found.push_back(e);
  }
  const auto longer = [&](libtrace::EventId a, libtrace::EventId b) {
    return trace.dur(a) != trace.dur(b) ? trace.dur(a) > trace.dur(b) : a < b;
  };
  const std::size_t kept = std::min(most, found.size());
  std::partial_sort(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(kept), found.end(),
                    longer);
  found.resize(kept);
  return found;
}

}  // namespace traceglass
