#include "tb_backend/timeline/tiles.h"

#include <algorithm>
#include <cmath>

namespace traceglass {
namespace {

using libtrace::EventId;
namespace flag = libtrace::flag;

// One row of one tile.
class Folder {
 public:
  Folder(const libtrace::Trace& trace, const Row& row, std::uint16_t row_number,
         const TileWindow& window, const std::vector<bool>& linked, std::vector<TileSlice>& out)
      : trace_(trace),
        slices_(row.slices()),
        index_(row.index()),
        row_number_(row_number),
        window_(window),
        linked_(linked),
        out_(out) {}

  void run() {
    std::size_t at = index_.first_from(slices_, window_.start);
    if (at > 0 && slices_.end(at - 1) > window_.start) single(at - 1);
    while (at < slices_.size() && slices_.start(at) < window_.end) {
      const std::int64_t width = std::int64_t{1} << window_.k;
      const std::int64_t offset = (slices_.start(at) - window_.start) >> window_.k;
      const std::int64_t bucket_end = window_.start + (offset + 1) * width;
      std::size_t next = at + 1;
      // Most buckets of a sparse row hold one slice: no search for those.
      if (next < slices_.size() && slices_.start(next) < bucket_end) {
        next = index_.first_from(slices_, bucket_end);
      }
      bucket(at, next, width);
      at = next;
    }
  }

 private:
  void bucket(std::size_t first, std::size_t last, std::int64_t width) {
    if (last - first == 1) return single(first);
    const RangeSum sum = index_.over(slices_, first, last);
    // A slice as wide as the bucket ends outside it, so it is the last that starts there, but for
    // instants at its very start or end.
    if (sum.longest >= width) {
      run_of(first, sum.at);
      single(sum.at);
      run_of(sum.at + 1, last);
    } else {
      fold(first, last, sum);
    }
  }

  void run_of(std::size_t first, std::size_t last) {
    if (first == last) return;
    if (last - first == 1) return single(first);
    fold(first, last, index_.over(slices_, first, last));
  }

  void single(std::size_t i) {
    const EventId e = slices_.id(i);
    TileSlice s = base(e, slices_.start(i), slices_.end(i));
    if ((trace_.flags(e) & flag::kUnfinished) != 0) s.flags |= tile_flag::kUnfinished;
    if (trace_.suspect(e)) s.flags |= tile_flag::kSuspect;
    if (linked_[e]) s.flags |= tile_flag::kLinked;
    s.covered_ns = clamp(slices_.end(i)) - clamp(slices_.start(i));
    out_.push_back(s);
  }

  void fold(std::size_t first, std::size_t last, const RangeSum& sum) {
    const std::int64_t end = slices_.end(last - 1);
    TileSlice s = base(slices_.id(sum.at), slices_.start(first), end);
    s.count = static_cast<std::uint32_t>(last - first);
    s.flags |= tile_flag::kFolded;
    s.covered_ns = sum.covered - (end - clamp(end));
    const std::int64_t extent = clamp(end) - slices_.start(first);
    if (extent > 0) {
      const double share = static_cast<double>(s.covered_ns) / static_cast<double>(extent);
      s.busy = static_cast<std::uint8_t>(std::lround(share * 255));
    }
    out_.push_back(s);
  }

  TileSlice base(EventId e, std::int64_t start, std::int64_t end) const {
    TileSlice s;
    s.start = units(start);
    s.end = units(end);
    s.id = e;
    s.name = trace_.name_id(e);
    s.row = row_number_;
    s.kind = tile_kind(trace_, e);
    if (start < window_.start) s.flags |= tile_flag::kContinuesLeft;
    if (end > window_.end) s.flags |= tile_flag::kContinuesRight;
    return s;
  }

  [[nodiscard]] std::int64_t clamp(std::int64_t t) const {
    return std::clamp(t, window_.start, window_.end);
  }
  [[nodiscard]] std::uint32_t units(std::int64_t t) const {
    const std::int64_t ns = clamp(t) - window_.start;
    constexpr int kSubLog2 = 8;
    const std::int64_t n =
        window_.k >= kSubLog2 ? ns >> (window_.k - kSubLog2) : ns << (kSubLog2 - window_.k);
    return static_cast<std::uint32_t>(n);
  }

  const libtrace::Trace& trace_;
  const RowSlices slices_;
  const RowIndex<RowSlices>& index_;
  const std::uint16_t row_number_;
  const TileWindow& window_;
  const std::vector<bool>& linked_;
  std::vector<TileSlice>& out_;
};

}  // namespace

std::uint8_t tile_kind(const libtrace::Trace& trace, EventId e) {
  auto kind = static_cast<unsigned>(trace.kind(e));
  if ((trace.flags(e) & flag::kCommunication) != 0) kind |= 16U;
  if ((trace.flags(e) & flag::kDataLoader) != 0) kind |= 32U;
  return static_cast<std::uint8_t>(kind);
}

std::optional<TileWindow> TileWindow::of(std::int64_t origin, int k, std::int64_t i) {
  if (k < 0 || k > kMaxZoom) return std::nullopt;
  const std::int64_t width = kBuckets << k;
  TileWindow window{k, 0, 0};
  std::int64_t offset = 0;
  if (__builtin_mul_overflow(width, i, &offset) ||
      __builtin_add_overflow(origin, offset, &window.start) ||
      __builtin_add_overflow(window.start, width, &window.end)) {
    return std::nullopt;
  }
  return window;
}

void fold_row(const libtrace::Trace& trace, const Row& row, std::uint16_t row_number,
              const TileWindow& window, const std::vector<bool>& linked,
              std::vector<TileSlice>& out) {
  Folder(trace, row, row_number, window, linked, out).run();
}

}  // namespace traceglass
