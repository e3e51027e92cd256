#include "tb_backend/analysis/critical_path.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace traceglass {

using libtrace::EventId;
using libtrace::kNone;
using libtrace::Trace;

namespace {

constexpr std::size_t kWhatIfs = 8;          // names asked about: a walk each
constexpr std::size_t kMostSegments = 4000;  // of a listed path

// Calls `put` for each segment of the range, the last one first.
template <class Put>
class BackwardWalk {
 public:
  BackwardWalk(const StepGraph& graph, libtrace::TimeRange range, Put put)
      : g_(graph), range_(range), put_(std::move(put)) {}

  void from(NodeId n) {
    std::int64_t now = range_.end;
    std::size_t lane = n == kNoNode ? 0 : g_.nodes()[n].lane;
    if (n != kNoNode && g_.nodes()[n].end < now) {
      put(g_.nodes()[n].end, now, kUnknownGap, kNone, lane, EdgeKind::kNone, kNoNode);
      now = std::max(g_.nodes()[n].end, range_.start);
    }
    while (n != kNoNode && now > range_.start) {
      const Node& node = g_.nodes()[n];
      lane = node.lane;
      const Edge edge = g_.binding(n);
      if (node.start < now) {
        put(node.start, now, path_category(node.activity), node.event, lane, edge.kind, n);
        now = node.start;
      }
      if (edge.from == kNoNode) break;
      const Node& from = g_.nodes()[edge.from];
      const std::int64_t since = edge.after_start ? from.start : from.end;
      // Between what it waited for and its start: latency of a launch, or a delay.
      if (since < now) {
        const bool launch = edge.kind == EdgeKind::kLaunch && node.delay == 0;
        const bool overlap = edge.after_start && edge.kind != EdgeKind::kLaunch;
        if (overlap) {  // `from` ran until then
          put(since, now, path_category(from.activity), from.event, from.lane, edge.kind,
              edge.from);
        } else {
          put(since, now, launch ? kLaunchDelay : kUnknownGap,
              launch ? g_.trace().launch(node.event) : kNone, lane, edge.kind, kNoNode);
        }
        now = since;
      }
      n = edge.from;
    }
    if (now > range_.start) {
      put(range_.start, now, kUnknownGap, kNone, lane, EdgeKind::kNone, kNoNode);
    }
  }

 private:
  void put(std::int64_t start, std::int64_t end, int category, EventId event, std::size_t lane,
           EdgeKind edge, NodeId node) {
    start = std::max(start, range_.start);
    end = std::min(end, range_.end);
    if (start >= end) return;
    put_(PathSegment{start, end, event, category, lane, edge, node, 1});
  }

  const StepGraph& g_;
  libtrace::TimeRange range_;
  Put put_;
};

std::vector<PathSegment> path_to(const StepGraph& graph, libtrace::TimeRange range, NodeId last) {
  std::vector<PathSegment> out;
  BackwardWalk(graph, range, [&](const PathSegment& s) { out.push_back(s); }).from(last);
  std::reverse(out.begin(), out.end());
  return out;
}

// Whole numbers in the ratio of `sums` that sum to `mean`: the largest remainders round up.
std::vector<std::int64_t> shared_out(const std::vector<std::int64_t>& sums, std::int64_t steps,
                                     std::int64_t mean) {
  std::vector<std::int64_t> out(sums.size());
  std::vector<std::size_t> order(sums.size());
  std::iota(order.begin(), order.end(), 0);
  std::int64_t rest = mean;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    out[i] = sums[i] / steps;
    rest -= out[i];
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return sums[a] % steps > sums[b] % steps; });
  for (std::size_t i = 0; rest > 0 && i < order.size(); ++i, --rest) ++out[order[i]];
  return out;
}

// At most about `most` segments: runs of short ones become one, named by the longest of them.
std::vector<PathSegment> shortened(std::vector<PathSegment> path, std::size_t most) {
  if (path.size() <= most) return path;
  std::vector<std::int64_t> lengths;
  for (const PathSegment& s : path) lengths.push_back(s.end - s.start);
  // Every long one may stand between two runs.
  const auto middle = lengths.begin() + static_cast<std::ptrdiff_t>(most / 2);
  std::nth_element(lengths.begin(), middle, lengths.end(), std::greater<>());
  const std::int64_t limit = *middle;
  std::vector<PathSegment> out;
  std::int64_t longest = 0;
  bool run = false;
  for (const PathSegment& s : path) {
    const std::int64_t length = s.end - s.start;
    const bool is_short = length <= limit;
    if (is_short && run) {
      PathSegment& last = out.back();
      if (length > longest) {
        const PathSegment whole = last;
        last = s;
        last.start = whole.start;
        last.pieces = whole.pieces;
        longest = length;
      }
      last.end = s.end;
      ++last.pieces;
      continue;
    }
    out.push_back(s);
    run = is_short;
    longest = length;
  }
  return out;
}

using NameKey = std::uint64_t;
NameKey key_of(const Trace& trace, EventId e) {
  return std::uint64_t{trace.name_id(e)} << 8 | static_cast<std::uint8_t>(trace.kind(e));
}
using NameRows = std::unordered_map<NameKey, WhatIfRow>;

// The names on the chain that ends with a step, back to where the recording begins, with what of
// their time is the chosen steps' own.
NameRows names_on_chain(const StepChain& chain, std::size_t step) {
  const Trace& trace = chain.graph().trace();
  const libtrace::TimeRange all{std::min(trace.range().start, chain.step(0).extended.start),
                                chain.step(step).extended.end};
  NameRows rows;
  BackwardWalk(chain.graph(), all, [&](const PathSegment& s) {
    if (s.event == kNone || s.node == kNoNode || !chain.chosen(s.node)) return;
    WhatIfRow& row = rows[key_of(trace, s.event)];
    row.name = trace.name_id(s.event);
    row.kind = trace.kind(s.event);
    row.ns_on_path += chain.own_part(s.node, s.end - s.start);
    // Of equal ones the first.
    if (row.longest == kNone || trace.dur(s.event) > trace.dur(row.longest) ||
        (trace.dur(s.event) == trace.dur(row.longest) &&
         trace.start(s.event) < trace.start(row.longest))) {
      row.longest = s.event;
    }
  }).from(chain.last_node(step));
  return rows;
}

// What each of the rows would gain, were all of its name twice as fast.
void ask_twice_as_fast(const StepChain& chain, std::vector<WhatIfRow>& rows) {
  const Trace& trace = chain.graph().trace();
  const std::vector<Node>& nodes = chain.graph().nodes();
  std::unordered_map<NameKey, std::size_t> row_of;
  for (const WhatIfRow& row : rows) row_of.emplace(key_of(trace, row.longest), row_of.size());
  std::vector<bool> asked(trace.string_count());
  for (const WhatIfRow& row : rows) asked[row.name] = true;
  std::vector<std::vector<NodeId>> nodes_of(rows.size());
  for (NodeId n = 0; n < nodes.size(); ++n) {
    const EventId e = nodes[n].event;
    if (e == kNone || !chain.chosen(n) || !asked[trace.name_id(e)]) continue;
    const auto it = row_of.find(key_of(trace, e));
    if (it != row_of.end()) nodes_of[it->second].push_back(n);
  }
  WhatIf w = chain.graph().as_recorded();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (const NodeId n : nodes_of[i]) {
      w.cost[n] = chain.changed(n, nodes[n].cost() - nodes[n].cost() / 2);
    }
    rows[i].gain_ns = chain.gain(w);
    for (const NodeId n : nodes_of[i]) w.cost[n] = nodes[n].cost();
  }
}

// Time and gain are both of the chain of all chosen steps: a step's own path is cut where the step
// before it ends, so that what one hands to the next is on neither.
std::vector<WhatIfRow> what_if_rows(const StepChain& chain) {
  NameRows rows = names_on_chain(chain, chain.steps() - 1);
  if (chain.long_run()) {
    for (const auto& [key, row] : names_on_chain(chain, 0)) {
      if (const auto it = rows.find(key); it != rows.end()) it->second.ns_on_path -= row.ns_on_path;
    }
  }
  std::vector<WhatIfRow> out;
  for (auto& [key, row] : rows) {
    row.ns_on_path =
        std::clamp<std::int64_t>(row.ns_on_path / chain.steps_of_gain(), 0, chain.mean_step_ns());
    if (row.ns_on_path > 0) out.push_back(row);
  }
  std::sort(out.begin(), out.end(), [](const WhatIfRow& a, const WhatIfRow& b) {
    return std::tuple(-a.ns_on_path, a.name, a.kind) < std::tuple(-b.ns_on_path, b.name, b.kind);
  });
  if (out.size() > kWhatIfs) out.resize(kWhatIfs);
  ask_twice_as_fast(chain, out);
  std::stable_sort(out.begin(), out.end(),
                   [](const WhatIfRow& a, const WhatIfRow& b) { return a.gain_ns > b.gain_ns; });
  return out;
}

}  // namespace

std::string_view path_category_name(int category) {
  constexpr std::string_view kNames[kPathCategoryCount] = {
      "data_loading", "synchronization", "memory_call",        "runtime", "op",
      "annotation",   "python",          "host_communication", "kernel",  "memcpy",
      "memset",       "communication",   "launch_delay",       "gap"};
  return kNames[category];
}

std::vector<std::pair<int, std::int64_t>> CriticalPath::parts_by_size() const {
  std::vector<std::pair<int, std::int64_t>> out;
  for (std::size_t c = 0; c < parts.size(); ++c) {
    if (parts[c] != 0) out.emplace_back(static_cast<int>(c), parts[c]);
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  return out;
}

std::vector<PathSegment> critical_path(const StepChain& chain, std::size_t step) {
  return path_to(chain.graph(), chain.step(step).extended, chain.last_node(step));
}

std::size_t median_step(const StepChain& chain) {
  std::vector<std::size_t> order(chain.steps());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return chain.step(a).extended.length() < chain.step(b).extended.length();
  });
  return order[(order.size() - 1) / 2];
}

std::vector<PathSegment> path_before(const StepGraph& graph, EventId event, std::int64_t from) {
  const Trace& trace = graph.trace();
  const std::size_t lane = graph.lane_index(trace.lane_of(event));
  if (lane >= graph.lanes().size() || from >= trace.start(event)) return {};
  const std::int64_t start = trace.start(event);
  NodeId n = graph.at(lane, start);
  if (libtrace::is_device_work(trace.kind(event))) {  // its own node; those of a stream may overlap
    const std::vector<Node>& nodes = graph.nodes();
    const GraphLane& l = graph.lanes()[lane];
    const auto it = std::find_if(
        std::lower_bound(nodes.begin() + l.first, nodes.begin() + l.last, start,
                         [](const Node& x, std::int64_t t) { return x.start < t; }),
        nodes.begin() + l.last, [&](const Node& x) { return x.event == event || x.start > start; });
    n = static_cast<NodeId>(it - nodes.begin());
    if (n == l.last || nodes[n].event != event) return {};
  }
  if (n == kNoNode) return {};
  return path_to(graph, {from, start}, n);
}

CriticalPath find_critical_path(const StepChain& chain, std::size_t step) {
  CriticalPath out;
  out.steps = chain.steps();
  out.mean_step_ns = chain.mean_step_ns();
  out.parts.assign(kPathCategoryCount, 0);
  if (chain.steps() == 0) return out;
  out.step = step < chain.steps() ? step : median_step(chain);
  std::vector<std::int64_t> sums(kPathCategoryCount);
  for (std::size_t i = 0; i < chain.steps(); ++i) {
    std::vector<PathSegment> path = critical_path(chain, i);
    for (const PathSegment& s : path) {
      sums[static_cast<std::size_t>(s.category)] += s.end - s.start;
    }
    if (i == out.step) out.path = shortened(std::move(path), kMostSegments);
  }
  out.parts = shared_out(sums, static_cast<std::int64_t>(chain.steps()), out.mean_step_ns);
  out.what_if = what_if_rows(chain);
  return out;
}

}  // namespace traceglass
