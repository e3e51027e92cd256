// The passes that turn rows in file order into a Trace, in the order TraceBuilder::finish calls
// them. Each owns the columns it fills.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "libtrace/trace.h"

namespace libtrace {

// Rows as collected: the columns of `data` plus what only the passes need.
struct Draft {
  TraceData data;
  Column<std::int64_t> correlation;  // one a slice; 0 is none
};

// Sorts the slices by (lane, start, -end, order) and sets each lane's range.
void sort_slices(Draft& draft);
// flag::kOverrun. Needs sorted slices.
void mark_overruns(TraceData& data);
// parent, depth, self, flag::kOutermost; counts crossings. O(n) for nested ranges.
void nest(TraceData& data);
// launch, owner, anchor; counts what stays unlinked.
void link_devices(Draft& draft);
// MemoryEvent::op.
void place_memory(TraceData& data);
// Everything of the report that only counts: suspects, overlaps, duplicates, markers, …
void check(Draft& draft);

// ---- small shared questions on unfinished traces ---------------------------------------------
inline bool suspect(const TraceData& d, EventId e) { return (d.flags[e] & flag::kSuspect) != 0; }
inline std::int64_t end_of(const TraceData& d, EventId e) { return d.start[e] + d.dur[e]; }
inline std::string_view text_of(const TraceData& d, StringId id) {
  return {d.string_data.data() + d.string_offset[id],
          d.string_offset[id + 1] - d.string_offset[id]};
}
// "name" of a slice for a report's places.
std::string place_of(const TraceData& d, EventId e);

// Counts slices for one report code; keeps the places of the first few only.
class Tally {
 public:
  explicit Tally(std::string_view code) : code_(code) {}
  void hit(const TraceData& d, EventId e) {
    if (count_++ < static_cast<std::int64_t>(Report::kFirst)) places_.push_back(place_of(d, e));
  }
  void into(Report& report) const {
    for (const std::string& place : places_) report.add(code_, 1, place);
    report.add(code_, count_ - static_cast<std::int64_t>(places_.size()));
  }

 private:
  std::string_view code_;
  std::int64_t count_ = 0;
  std::vector<std::string> places_;
};

// Deepest op, and deepest op or annotation, that contain each time on a lane ([start, end)).
struct InnermostQuery {
  LaneId lane;
  std::int64_t at;
  EventId op = kNone, op_or_annotation = kNone;
};
// Answers in place; `queries` must be sorted by (lane, at).
void find_innermost(const TraceData& data, std::vector<InnermostQuery>& queries);

}  // namespace libtrace
