#include "tb_backend/analysis/step_graph.h"

#include <algorithm>

namespace traceglass {

NodeId StepGraph::at(std::size_t lane, std::int64_t at) const {
  const GraphLane& l = lanes_[lane];
  const auto first = nodes_.begin() + l.first;
  const auto last = nodes_.begin() + l.last;
  if (first == last || at < first->start) return kNoNode;
  const auto it =
      std::upper_bound(first, last, at, [](std::int64_t t, const Node& n) { return t < n.end; });
  return it == last ? kNoNode : static_cast<NodeId>(it - nodes_.begin());
}

std::size_t StepGraph::lane_index(libtrace::LaneId lane) const { return lane_of_[lane]; }

std::int64_t StepGraph::free_since(NodeId n) const {
  const Node& node = nodes_[n];
  if (node.order.from == kNoNode) return node.start;
  return std::min(node.start, nodes_[node.order.from].end);
}

std::pair<const StepGraph::Wait*, const StepGraph::Wait*> StepGraph::waits(NodeId n) const {
  if (!nodes_[n].has_waits) return {nullptr, nullptr};
  const auto by_node = [](const Wait& w, NodeId x) { return w.node < x; };
  const auto first = std::lower_bound(waits_.begin(), waits_.end(), n, by_node);
  auto last = first;
  while (last != waits_.end() && last->node == n) ++last;
  return {waits_.data() + (first - waits_.begin()), waits_.data() + (last - waits_.begin())};
}

Edge StepGraph::binding(NodeId n) const {
  const Node& node = nodes_[n];
  Edge best;
  std::int64_t latest = INT64_MIN;
  const auto look = [&](const Edge& e) {
    if (e.from == kNoNode) return;
    const Node& from = nodes_[e.from];
    const std::int64_t bound = (e.after_start ? from.start : from.end) + e.lag;
    // At equal bounds what is not mere order says more.
    if (bound < latest || (bound == latest && e.kind == EdgeKind::kHost)) return;
    latest = bound;
    best = e;
  };
  look(node.order);
  look(node.cause);
  for (auto [w, end] = waits(n); w != end; ++w) look(w->edge);
  if (best.from != kNoNode) {
    best.lag = node.start - (best.after_start ? nodes_[best.from].start : nodes_[best.from].end);
  }
  return best;
}

WhatIf StepGraph::as_recorded() const {
  WhatIf w;
  w.cost.resize(nodes_.size());
  for (NodeId n = 0; n < nodes_.size(); ++n) w.cost[n] = nodes_[n].cost();
  return w;
}

void StepGraph::walk(const WhatIf& what_if, Times& t) const {
  t.resize(nodes_.size());
  for (const NodeId n : sequence_) {
    const Node& node = nodes_[n];
    std::int64_t start = INT64_MIN;
    const auto bind = [&](const Edge& e) {
      const libtrace::TimeRange from = t[e.from];
      std::int64_t at = from.end + e.lag;
      if (e.after_start) {
        // A hand-over from the middle of a stretch comes no later than its end.
        const std::int64_t lag =
            e.kind == EdgeKind::kHandover ? std::min(e.lag, from.length()) : e.lag;
        at = from.start + lag;
      }
      start = std::max(start, at);
    };
    const bool unbound = !what_if.unbound.empty() && what_if.unbound[n];
    if (node.order.from != kNoNode) {
      Edge order = node.order;
      if (unbound && !order.after_start) order.lag = 0;
      bind(order);
    }
    if (node.cause.from != kNoNode && !unbound) bind(node.cause);
    for (auto [w, end] = waits(n); w != end; ++w) bind(w->edge);
    start = start == INT64_MIN ? node.start : start + (unbound ? 0 : node.delay);
    t[n] = {start, start + what_if.cost[n]};
  }
}

}  // namespace traceglass
