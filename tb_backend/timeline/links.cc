#include "tb_backend/timeline/links.h"

#include <algorithm>
#include <tuple>

namespace traceglass {
namespace {

using libtrace::EventId;
using libtrace::Flow;
using libtrace::kNone;
using libtrace::Trace;

bool by_from(const Link& a, const Link& b) {
  return std::tie(a.from, a.to, a.type) < std::tie(b.from, b.to, b.type);
}
bool by_to(const Link& a, const Link& b) {
  return std::tie(a.to, a.from, a.type) < std::tie(b.to, b.from, b.type);
}

// Kineto's launch arrows: Trace::launch has them by correlation, without their many lone ends.
bool is_launch_flow(std::string_view category) {
  return category == "ac2g" || category == "async_cpu_to_gpu" || category == "async_gpu" ||
         category == "cpu_to_cuda";
}

// Ends of one id, begins first at equal times: each end is reached from the last begin before it.
void pair_flows(const Trace& trace, std::vector<Link>& out) {
  struct End {
    const Flow* flow;
    EventId slice;
  };
  std::vector<End> ends;
  for (const Flow& flow : trace.flows()) {
    if (flow.lane == kNone || is_launch_flow(trace.text(flow.category))) continue;
    const EventId slice = slice_at(trace, flow.lane, flow.at);
    if (slice != kNone) ends.push_back({&flow, slice});
  }
  const auto key = [](const End& e) {
    return std::tuple(e.flow->category, e.flow->name, e.flow->id);
  };
  std::stable_sort(ends.begin(), ends.end(), [&](const End& a, const End& b) {
    return std::tuple(key(a), a.flow->at, !a.flow->begin) <
           std::tuple(key(b), b.flow->at, !b.flow->begin);
  });
  const End* begin = nullptr;
  for (const End& end : ends) {
    if (begin != nullptr && key(*begin) != key(end)) begin = nullptr;
    if (end.flow->begin) {
      begin = &end;
    } else if (begin != nullptr && begin->slice != end.slice) {
      out.push_back({begin->slice, end.slice, end.flow->category});
    }
  }
}

template <class Key>
std::span<const Link> range(const std::vector<Link>& links, EventId first, EventId last, Key key) {
  const auto lo = std::partition_point(links.begin(), links.end(),
                                       [&](const Link& link) { return key(link) < first; });
  const auto hi =
      std::partition_point(lo, links.end(), [&](const Link& link) { return key(link) < last; });
  return {lo, hi};
}

}  // namespace

EventId slice_at(const Trace& trace, libtrace::LaneId lane_id, std::int64_t at) {
  const libtrace::Lane& lane = trace.lanes()[lane_id];
  EventId lo = lane.first;
  EventId hi = lane.last;
  while (lo < hi) {  // first slice that starts after `at`
    const EventId middle = lo + (hi - lo) / 2;
    if (trace.start(middle) <= at) {
      lo = middle + 1;
    } else {
      hi = middle;
    }
  }
  // Python frames and overhead may stand between; so far back is far enough on any real lane.
  constexpr EventId kLook = 256;
  const EventId stop = lo - lane.first > kLook ? lo - kLook : lane.first;
  for (EventId e = lo; e-- > stop;) {
    if (!libtrace::is_host_tree(trace.kind(e)) && !libtrace::is_device_work(trace.kind(e))) {
      continue;
    }
    if (trace.start(e) == at) return e;
    for (EventId up = e; up != kNone; up = trace.parent(up)) {
      if (trace.end(up) > at) return up;
    }
    return kNone;
  }
  return kNone;
}

Links::Links(const Trace& trace) : linked_(trace.size()) {
  for (EventId e = 0; e < trace.size(); ++e) {
    if (trace.launch(e) != kNone) launches_.push_back({trace.launch(e), e, 0});
  }
  pair_flows(trace, flows_);
  std::sort(launches_.begin(), launches_.end(), by_from);
  std::sort(flows_.begin(), flows_.end(), by_from);
  flows_by_to_ = flows_;
  std::sort(flows_by_to_.begin(), flows_by_to_.end(), by_to);
  for (const auto* links : {&launches_, &flows_}) {
    for (const Link& link : *links) linked_[link.from] = linked_[link.to] = true;
  }
}

std::span<const Link> Links::flows_from(EventId e) const {
  return range(flows_, e, e + 1, [](const Link& link) { return link.from; });
}

std::span<const Link> Links::flows_to(EventId e) const {
  return range(flows_by_to_, e, e + 1, [](const Link& link) { return link.to; });
}

std::span<const Link> Links::launches(EventId first, EventId last) const {
  return range(launches_, first, last, [](const Link& link) { return link.from; });
}

std::size_t Links::resident_bytes() const {
  return (launches_.capacity() + flows_.capacity() + flows_by_to_.capacity()) * sizeof(Link) +
         linked_.capacity() / 8;
}

}  // namespace traceglass
