// The call trees of host lanes: parents, depths, self time. One sweep a lane.
#include <algorithm>
#include <queue>

#include "libtrace/model/passes.h"

namespace libtrace {
namespace {

class Tree {
 public:
  Tree(TraceData& data, std::vector<std::uint32_t>& open_names, Tally& crossings)
      : d_(data), open_(open_names), crossings_(crossings) {}

  void add(EventId e) {
    const std::int64_t start = d_.start[e];
    advance(start);
    alive_.push_back(e);

    while (!chain_.empty() && end_of(d_, chain_.back()) <= start) close();
    while (!strays_.empty() && strays_.top() <= start) strays_.pop();
    bool crosses = false;
    while (!chain_.empty() && end_of(d_, chain_.back()) < end_of(d_, e)) {
      strays_.push(end_of(d_, chain_.back()));
      close();
      crosses = true;
    }
    crosses = crosses || (!strays_.empty() && strays_.top() < end_of(d_, e));
    if (crosses && d_.kind[e] != Kind::kPython) crossings_.hit(d_, e);

    if (!chain_.empty()) {
      d_.parent[e] = chain_.back();
      d_.depth[e] = static_cast<std::uint16_t>(std::min(d_.depth[chain_.back()] + 1, 0xFFFF));
    }
    if (open_[slot(e)]++ == 0) d_.flags[e] |= flag::kOutermost;
    chain_.push_back(e);
  }

  void finish() {
    while (!alive_.empty()) advance(end_of(d_, alive_.back()));
    while (!chain_.empty()) close();
    strays_ = {};
  }

 private:
  // Credits the time from the cursor to `to` to whatever was innermost in it. `alive_` may hold
  // ranges that ended below others (crossings): they are skipped when they come to the top.
  void advance(std::int64_t to) {
    while (!alive_.empty() && end_of(d_, alive_.back()) <= to) {
      const std::int64_t end = end_of(d_, alive_.back());
      if (end > cursor_) {
        d_.self[alive_.back()] += end - cursor_;
        cursor_ = end;
      }
      alive_.pop_back();
    }
    if (!alive_.empty()) d_.self[alive_.back()] += to - cursor_;
    cursor_ = to;
  }
  void close() {
    --open_[slot(chain_.back())];
    chain_.pop_back();
  }
  [[nodiscard]] std::size_t slot(EventId e) const {
    const std::size_t kind = d_.kind[e] == Kind::kPython ? 3 : static_cast<std::size_t>(d_.kind[e]);
    return std::size_t{d_.name[e]} * 4 + kind;
  }

  TraceData& d_;
  std::vector<std::uint32_t>& open_;  // open ranges by (name, kind)
  Tally& crossings_;
  std::vector<EventId> chain_;  // the ancestors of the last event: ends never increase upwards
  std::vector<EventId> alive_;  // by start: the last one not ended is the innermost
  // Ends of ranges that left the chain because a later one outlasts them.
  std::priority_queue<std::int64_t, std::vector<std::int64_t>, std::greater<>> strays_;
  std::int64_t cursor_ = 0;
};

}  // namespace

void nest(TraceData& d) {
  const std::size_t n = d.start.size();
  d.parent.assign(n, kNone);
  d.depth.assign(n, 0);
  d.self.assign(n, 0);
  std::vector<std::uint32_t> open_names((d.string_offset.size() - 1) * 4);
  Tally crossings("crossing");
  for (const Lane& lane : d.lanes) {
    if (lane.domain != Domain::kHost) continue;
    Tree calls(d, open_names, crossings), python(d, open_names, crossings);
    for (EventId e = lane.first; e < lane.last; ++e) {
      if (suspect(d, e)) continue;
      if (is_host_tree(d.kind[e])) calls.add(e);
      if (d.kind[e] == Kind::kPython) python.add(e);
    }
    calls.finish();
    python.finish();
  }
  crossings.into(d.report);
}

void find_innermost(const TraceData& d, std::vector<InnermostQuery>& queries) {
  std::vector<EventId> ops, ranges;
  const auto top = [&](std::vector<EventId>& stack, std::int64_t at) {
    while (!stack.empty() && end_of(d, stack.back()) <= at) stack.pop_back();
    return stack.empty() ? kNone : stack.back();
  };
  for (std::size_t q = 0; q < queries.size();) {
    const LaneId lane = queries[q].lane;
    ops.clear();
    ranges.clear();
    EventId e = d.lanes[lane].first;
    for (; q < queries.size() && queries[q].lane == lane; ++q) {
      for (; e < d.lanes[lane].last && d.start[e] <= queries[q].at; ++e) {
        if (suspect(d, e) || d.kind[e] > Kind::kAnnotation) continue;
        top(ranges, d.start[e]);
        ranges.push_back(e);
        if (d.kind[e] != Kind::kOp) continue;
        top(ops, d.start[e]);
        ops.push_back(e);
      }
      queries[q].op = top(ops, queries[q].at);
      queries[q].op_or_annotation = top(ranges, queries[q].at);
    }
  }
}

}  // namespace libtrace
