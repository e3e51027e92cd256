#include "tb_backend/timeline/layout.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "tb_backend/timeline/labels.h"

namespace traceglass {
namespace {

using libtrace::EventId;
using libtrace::Kind;
using libtrace::kNone;
using libtrace::LaneId;
using libtrace::Trace;

// Rows of one group while it fills; `end` of a row is where its last slice ends.
class Placer {
 public:
  Placer(const Trace& trace, std::vector<std::uint16_t>& row_of) : trace_(trace), row_of_(row_of) {}

  // Lowest free row from `from` on.
  void place(EventId e, std::size_t from) {
    const std::int64_t start = trace_.start(e);
    std::size_t row = std::min(from, kMaxRows - 1);
    while (row < kMaxRows - 1 && row < end_.size() && end_[row] > start) ++row;
    while (end_.size() <= row) {
      end_.push_back(std::numeric_limits<std::int64_t>::min());
      rows_.emplace_back();
    }
    shared_ = shared_ || end_[row] > start;
    end_[row] = std::max({end_[row], start, trace_.end(e)});
    rows_[row].push_back(e);
    row_of_[e] = static_cast<std::uint16_t>(row);
  }

  [[nodiscard]] std::size_t row_count() const { return rows_.size(); }

  void finish(GroupPlan& group) {
    // An overrun slice comes late: put it in its place in the shared row.
    if (!rows_.empty()) std::sort(rows_.back().begin(), rows_.back().end());
    group.rows = std::move(rows_);
    group.shared_last = shared_;
  }

 private:
  const Trace& trace_;
  std::vector<std::uint16_t>& row_of_;
  std::vector<std::vector<EventId>> rows_;
  std::vector<std::int64_t> end_;
  bool shared_ = false;
};

// Slices of one part of a lane. An impossible device slice (overrun) would push all its
// successors aside: these come last, in rows of their own.
void fill(const Trace& trace, const libtrace::Lane& lane, std::vector<std::uint16_t>& row_of,
          GroupPlan& group) {
  Placer placer(trace, row_of);
  bool overruns = false;
  for (EventId e = lane.first; e < lane.last; ++e) {
    if (part_of(trace.kind(e)) != group.part) continue;
    if ((trace.flags(e) & libtrace::flag::kOverrun) != 0) {
      overruns = true;
      continue;
    }
    const EventId parent = trace.parent(e);
    const bool nested = parent != kNone && part_of(trace.kind(parent)) == group.part &&
                        trace.lane_of(parent) == trace.lane_of(e);
    placer.place(e, nested ? row_of[parent] + std::size_t{1} : 0);
  }
  if (overruns) {
    const std::size_t from = placer.row_count();
    for (EventId e = lane.first; e < lane.last; ++e) {
      if (part_of(trace.kind(e)) == group.part &&
          (trace.flags(e) & libtrace::flag::kOverrun) != 0) {
        placer.place(e, from);
      }
    }
  }
  placer.finish(group);
}

GroupType type_of(Part part, bool has_calls, libtrace::Domain domain) {
  switch (part) {
    case Part::kCalls:
      return has_calls && domain == libtrace::Domain::kHost ? GroupType::kHost : GroupType::kOther;
    case Part::kPython:
      return GroupType::kPython;
    case Part::kDevice:
      return GroupType::kDevice;
    case Part::kDeviceAnnotation:
      return GroupType::kDeviceAnnotation;
    case Part::kSync:
      return GroupType::kSync;
    case Part::kSpan:
      break;
  }
  return GroupType::kOther;
}

}  // namespace

std::string_view group_type_name(GroupType type) {
  static constexpr std::array<std::string_view, 6> kNames = {
      "host", "python", "device", "device_annotation", "sync", "other"};
  return kNames[static_cast<std::size_t>(type)];
}

Part part_of(Kind kind) {
  switch (kind) {
    case Kind::kPython:
      return Part::kPython;
    case Kind::kKernel:
    case Kind::kMemcpy:
    case Kind::kMemset:
      return Part::kDevice;
    case Kind::kDeviceAnnotation:
      return Part::kDeviceAnnotation;
    case Kind::kSync:
      return Part::kSync;
    case Kind::kSpan:
      return Part::kSpan;
    case Kind::kOp:
    case Kind::kAnnotation:
    case Kind::kRuntime:
    case Kind::kOverhead:
    case Kind::kOther:
      break;
  }
  return Part::kCalls;
}

Layout lay_out(const Trace& trace) {
  Layout layout;
  layout.row_of.resize(trace.size());
  for (const LaneId lane_id : lanes_in_order(trace)) {
    const libtrace::Lane& lane = trace.lanes()[lane_id];
    std::array<bool, kPartCount> has{};
    bool has_calls = false;
    for (EventId e = lane.first; e < lane.last; ++e) {
      has[static_cast<std::size_t>(part_of(trace.kind(e)))] = true;
      has_calls = has_calls || libtrace::is_host_tree(trace.kind(e));
    }
    for (std::size_t p = 0; p < has.size(); ++p) {
      if (!has[p]) continue;
      GroupPlan group;
      group.lane = lane_id;
      group.part = static_cast<Part>(p);
      group.type = type_of(group.part, has_calls, lane.domain);
      group.section = section_id(trace, lane);
      group.section_label = section_label(trace, lane);
      group.label = track_label(trace, lane, group.type);
      group.sublabel = track_sublabel(lane, group.type);
      fill(trace, lane, layout.row_of, group);
      layout.groups.push_back(std::move(group));
    }
  }
  return layout;
}

}  // namespace traceglass
