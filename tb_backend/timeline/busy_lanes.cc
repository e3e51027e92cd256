#include "tb_backend/timeline/busy_lanes.h"

#include <algorithm>
#include <cmath>

namespace traceglass {
namespace {

using libtrace::Trace;

// Sums of one lane while rows are added.
class Columns {
 public:
  Columns(std::size_t columns, double per_column_units)
      : per_column_(per_column_units), by_kind_(columns) {}

  // `covered` of the time between two places in the tile, spread evenly.
  void add(const TileSlice& s, double covered_units) {
    if (by_kind_.empty()) return;
    const double from = s.start;
    const double to = s.end;
    const double density = to > from ? covered_units / (to - from) : 0;
    const std::size_t last = std::min(by_kind_.size() - 1, column(to));
    for (std::size_t c = std::min(last, column(from)); c <= last; ++c) {
      const double left = std::max(from, static_cast<double>(c) * per_column_);
      const double right = std::min(to, static_cast<double>(c + 1) * per_column_);
      if (right > left) by_kind_[c][s.kind % kTileKinds] += (right - left) * density;
    }
  }

  [[nodiscard]] BusyLane finish() const {
    BusyLane lane;
    lane.share.reserve(by_kind_.size());
    lane.kind.reserve(by_kind_.size());
    for (const auto& sums : by_kind_) {
      double all = 0;
      for (const double part : sums) all += part;
      lane.share.push_back(all / per_column_);
      const auto most = std::max_element(sums.begin(), sums.end());
      lane.kind.push_back(static_cast<std::uint8_t>(most - sums.begin()));
    }
    return lane;
  }

 private:
  [[nodiscard]] std::size_t column(double units) const {
    return static_cast<std::size_t>(std::max(0.0, units) / per_column_);
  }

  double per_column_;
  std::vector<std::array<double, kTileKinds>> by_kind_;
};

// The smallest zoom at which one tile shows the whole range.
int zoom_of_whole(std::int64_t length) {
  int k = 0;
  while (k < kMaxZoom && (kBuckets << k) < length) ++k;
  return k;
}

class Adder {
 public:
  Adder(const Timeline& timeline, std::size_t columns)
      : timeline_(timeline),
        k_(zoom_of_whole(timeline.trace().range().length())),
        window_(TileWindow::of(timeline.trace().range().start, k_, 0)) {
    const double units = static_cast<double>(timeline.trace().range().length()) * kUnitsPerBucket /
                         static_cast<double>(std::int64_t{1} << k_);
    const double per_column = std::max(1e-9, units / static_cast<double>(columns));
    host_ = Columns(columns, per_column);
    device_ = Columns(columns, per_column);
  }

  void add(const Group& group) {
    if (!window_) return;
    if (group.type == GroupType::kDevice) {
      has_device_ = true;
      for (const Row& row : group.rows) {
        for (const TileSlice& s : folded(row)) device_.add(s, covered(s));
      }
    } else if (group.type == GroupType::kHost && !group.rows.empty()) {
      has_host_ = true;
      add_host(group);
    }
  }

  [[nodiscard]] BusyLanes finish() const {
    BusyLanes out;
    if (has_host_) out.host = host_.finish();
    if (has_device_) out.device = device_.finish();
    return out;
  }

 private:
  static constexpr double kUnitsPerBucket = 256;

  void add_host(const Group& group) {
    steps_.clear();
    for (const TileSlice& s : folded(group.rows[0])) {
      if (is_step(s)) {
        steps_.push_back(s);
      } else {
        host_.add(s, covered(s));
      }
    }
    if (steps_.empty() || group.rows.size() < 2) return;
    // Both ascend: each slice of the row below is looked at once.
    std::size_t at = 0;
    for (const TileSlice& s : folded(group.rows[1])) {
      while (at < steps_.size() && steps_[at].end <= s.start) ++at;
      if (at < steps_.size() && steps_[at].start <= s.start) host_.add(s, covered(s));
    }
  }

  // A folded run whose longest is a step is one of steps.
  [[nodiscard]] bool is_step(const TileSlice& s) const {
    return (timeline_.trace().flags(s.id) & libtrace::flag::kStep) != 0;
  }
  [[nodiscard]] double covered(const TileSlice& s) const {
    return static_cast<double>(s.covered_ns) * kUnitsPerBucket /
           static_cast<double>(std::int64_t{1} << k_);
  }
  const std::vector<TileSlice>& folded(const Row& row) {
    slices_.clear();
    fold_row(timeline_.trace(), row, 0, *window_, timeline_.links().linked(), slices_);
    return slices_;
  }

  const Timeline& timeline_;
  int k_;
  std::optional<TileWindow> window_;
  Columns host_{0, 1};
  Columns device_{0, 1};
  bool has_host_ = false;
  bool has_device_ = false;
  std::vector<TileSlice> slices_;
  std::vector<TileSlice> steps_;
};

std::vector<std::uint8_t> kinds_of(const Trace& trace) {
  std::array<bool, kTileKinds> has{};
  for (libtrace::EventId e = 0; e < trace.size(); ++e) has[tile_kind(trace, e)] = true;
  std::vector<std::uint8_t> out;
  for (std::size_t kind = 0; kind < has.size(); ++kind) {
    if (has[kind]) out.push_back(static_cast<std::uint8_t>(kind));
  }
  return out;
}

}  // namespace

BusyLanes busy_lanes(const Timeline& timeline, std::size_t columns) {
  Adder adder(timeline, columns);
  for (const Group& group : timeline.groups()) adder.add(group);
  BusyLanes out = adder.finish();
  out.kinds = kinds_of(timeline.trace());
  return out;
}

}  // namespace traceglass
