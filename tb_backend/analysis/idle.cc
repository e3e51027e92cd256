#include "tb_backend/analysis/idle.h"

#include <algorithm>
#include <unordered_map>

#include "tb_backend/analysis/activity.h"
#include "tb_backend/analysis/thresholds.h"

namespace traceglass {

using libtrace::EventId;
using libtrace::kNone;
using libtrace::TimeRange;
using libtrace::Trace;

namespace {

IdleCause cause_of(const Node& n) {
  switch (n.activity) {
    case Activity::kDataLoading:
      return IdleCause::kDataLoading;
    case Activity::kSync:
      return IdleCause::kSynchronization;
    case Activity::kMemoryCall:
      return IdleCause::kMemory;
    case Activity::kHostCommunication:
      return IdleCause::kCommunication;
    case Activity::kPython:
    case Activity::kAnnotation:
      // A short stretch between two operators is the way to the next launch.
      return n.long_python ? IdleCause::kPython : IdleCause::kLaunch;
    default:
      return IdleCause::kLaunch;
  }
}

class Attribution {
 public:
  Attribution(const StepGraph& graph, DeviceIdle& out) : g_(graph), out_(out) {}

  // The gap before `next`, which the thread of `lane` handed over at `given`.
  void add(TimeRange gap, EventId next, std::size_t lane, std::int64_t given) {
    next_ = next;
    first_ = out_.gaps.size();
    drained_ = false;
    const std::int64_t until = std::clamp(given, gap.start, gap.end);
    if (lane == g_.lanes().size()) {
      put(gap, IdleCause::kUnknown, kNone);
      return;
    }
    const NodeId n = g_.at(lane, gap.start);
    if (n != kNoNode && g_.nodes()[n].order.from != kNoNode) {
      const Node& before = g_.nodes()[g_.nodes()[n].order.from];
      drained_ = before.cause.kind == EdgeKind::kSync && before.end >= gap.start - kClockSkewNs;
    }
    host({gap.start, until}, lane, n, 0);
    // On its way to the device; more than any launch takes has a reason that is not recorded.
    const TimeRange way{until, gap.end};
    if (way.length() == 0) return;
    const bool usual = way.length() <= 2 * kUnexplainedNs;
    put(way, usual ? IdleCause::kLaunch : IdleCause::kUnknown, kNone);
    // Given before the gap began, or so soon that the stream would have taken as long anyway.
    const bool queued = until == gap.start || gap.length() <= 2 * kUsualGapNs;
    if (usual && queued) out_.queued_ns += way.length();
  }

  void finish() {
    for (const auto& [name, ns] : late_) out_.late.emplace_back(name, ns);
    std::sort(out_.late.begin(), out_.late.end(), [](const auto& a, const auto& b) {
      return a.second != b.second ? a.second > b.second : a.first < b.first;
    });
  }

 private:
  // `n`: what the lane is in at the start of the range.
  void host(TimeRange range, std::size_t lane, NodeId n, int hops) {
    std::int64_t now = range.start;
    for (; now < range.end; ++n) {
      if (n == kNoNode || n >= g_.lanes()[lane].last) {
        // Before the thread's first event or behind its last.
        const GraphLane& l = g_.lanes()[lane];
        const std::int64_t begins = g_.nodes()[l.first].start;
        const std::int64_t until = begins > now ? std::min(begins, range.end) : range.end;
        put({now, until}, IdleCause::kUnknown, kNone);
        now = until;
        if (now >= range.end) return;
        n = l.first;
      }
      const Node& node = g_.nodes()[n];
      const std::int64_t waited = std::min(node.start, range.end);
      if (waited > now) {
        wait({now, waited}, node, hops);
        now = waited;
      }
      const std::int64_t until = std::min(node.end, range.end);
      if (until > now) {
        work({now, until}, node);
        now = until;
      }
    }
  }

  void wait(TimeRange range, const Node& node, int hops) {
    constexpr int kMostHops = 2;  // to the other thread and, where that waits in turn, back
    if (node.cause.kind == EdgeKind::kSync) {
      drained_ = true;
      put(range,
          node.activity == Activity::kMemoryCall ? IdleCause::kMemory : IdleCause::kSynchronization,
          blamed(node));
    } else if (node.cause.kind == EdgeKind::kQueue) {  // of another device
      put(range, IdleCause::kLaunch, blamed(node));
    } else if (node.cause.from != kNoNode && hops < kMostHops) {
      const std::size_t other = g_.nodes()[node.cause.from].lane;
      host(range, other, g_.at(other, range.start), hops + 1);
    } else {
      put(range, IdleCause::kPython, blamed(node));
    }
  }

  void work(TimeRange range, const Node& node) {
    IdleCause cause = cause_of(node);
    if (cause == IdleCause::kSynchronization) drained_ = true;
    if (cause == IdleCause::kLaunch) {
      if (drained_) {
        cause = IdleCause::kSynchronization;
      } else if (const EventId e = blamed(node); e != kNone) {
        late_[g_.trace().name_id(e)] += range.length();
      }
    }
    put(range, cause, blamed(node));
  }

  static EventId blamed(const Node& node) {
    return node.context != kNone ? node.context : node.event;
  }

  void put(TimeRange range, IdleCause cause, EventId blame) {
    out_.by_cause[static_cast<std::size_t>(cause)] += range.length();
    if (out_.gaps.size() > first_ && out_.gaps.back().cause == cause) {
      IdleGap& last = out_.gaps.back();
      last.end = range.end;
      blame_ns_ = blame == last.blame ? blame_ns_ + range.length() : blame_ns_;
      if (blame != kNone && range.length() > blame_ns_) {
        last.blame = blame;
        blame_ns_ = range.length();
      }
      return;
    }
    out_.gaps.push_back({range.start, range.end, cause, blame, next_});
    blame_ns_ = blame == kNone ? 0 : range.length();
  }

  const StepGraph& g_;
  DeviceIdle& out_;
  EventId next_ = kNone;
  std::size_t first_ = 0;      // of the current gap in out_.gaps
  bool drained_ = false;       // the host waited for the device in this gap or right before it
  std::int64_t blame_ns_ = 0;  // of the last piece
  std::unordered_map<libtrace::StringId, std::int64_t> late_;
};

// Where work without a launch is looked for: the main thread with the most nodes.
std::size_t busiest_main(const StepGraph& graph) {
  std::size_t best = graph.lanes().size();
  const auto size = [&](std::size_t i) { return graph.lanes()[i].last - graph.lanes()[i].first; };
  for (std::size_t i = 0; i < graph.lanes().size(); ++i) {
    if (!graph.lanes()[i].main) continue;
    if (best == graph.lanes().size() || size(i) > size(best)) best = i;
  }
  return best;
}

// What lies between two steps is none of them.
std::vector<TimeRange> chosen_ranges(const Trace& trace, const Selection& selection) {
  if (selection.count() == 0) return {selection.range(trace)};
  std::vector<TimeRange> out;
  for (std::size_t i = 0; i < selection.count(); ++i) {
    out.push_back(selection.steps()[selection.position(i)].extended);
  }
  return libtrace::united(std::move(out));
}

}  // namespace

std::string_view idle_cause_name(IdleCause cause) {
  constexpr std::string_view kNames[] = {"data_loading", "synchronization", "launch", "memory",
                                         "python",       "communication",   "unknown"};
  return kNames[static_cast<std::size_t>(cause)];
}

std::vector<IdleCause> DeviceIdle::causes_by_size() const {
  std::vector<IdleCause> out;
  for (int c = 0; c < kIdleCauseCount; ++c) {
    if (of(static_cast<IdleCause>(c)) > 0) out.push_back(static_cast<IdleCause>(c));
  }
  std::stable_sort(out.begin(), out.end(), [&](IdleCause a, IdleCause b) { return of(a) > of(b); });
  return out;
}

std::vector<DeviceIdle> find_idle(const StepGraph& graph, const Selection& selection) {
  const Trace& trace = graph.trace();
  const std::vector<TimeRange> within = chosen_ranges(trace, selection);
  const std::int64_t begin = within.empty() ? 0 : within.front().start;
  const std::size_t fallback = busiest_main(graph);
  std::vector<DeviceIdle> out;
  for (const DeviceActivity& d : find_devices(trace)) {
    DeviceIdle idle;
    idle.type = d.type;
    idle.id = d.id;
    idle.name = d.name;
    Attribution attribution(graph, idle);
    std::size_t w = 0;
    for (const TimeRange gap : libtrace::without(within, d.busy)) {
      idle.idle_ns += gap.length();
      while (w < d.work.size() && trace.start(d.work[w]) < gap.end) ++w;
      const EventId next = w < d.work.size() ? d.work[w] : kNone;
      std::size_t lane = fallback;
      std::int64_t given = INT64_MAX;
      if (next != kNone && trace.launch(next) != kNone) {
        const EventId launch = trace.launch(next);
        const std::size_t of_launch = graph.lane_index(trace.lane_of(launch));
        if (of_launch < graph.lanes().size()) {
          lane = of_launch;
          given = trace.end(launch);
        }
      }
      attribution.add(gap, next, lane, given);
      if (gap.start == begin && w == 0) idle.lead_in = idle.by_cause;
    }
    attribution.finish();
    out.push_back(std::move(idle));
  }
  return out;
}

std::vector<IdleGap> longest_gaps(const std::vector<IdleGap>& gaps, std::size_t count) {
  std::vector<IdleGap> out = gaps;
  const auto longer = [](const IdleGap& a, const IdleGap& b) {
    const std::int64_t x = a.end - a.start, y = b.end - b.start;
    return x != y ? x > y : a.start < b.start;
  };
  if (out.size() > count) {
    std::nth_element(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(count), out.end(),
                     longer);
    out.resize(count);
  }
  std::sort(out.begin(), out.end(),
            [](const IdleGap& a, const IdleGap& b) { return a.start < b.start; });
  return out;
}

}  // namespace traceglass
