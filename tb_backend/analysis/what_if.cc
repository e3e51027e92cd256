#include "tb_backend/analysis/what_if.h"

#include <algorithm>
#include <cmath>

namespace traceglass {

using libtrace::EventId;
using libtrace::kNone;
using libtrace::Trace;

namespace {

// The lane with the most step annotations.
std::size_t lane_of_steps(const StepGraph& graph) {
  const Trace& trace = graph.trace();
  std::size_t best = graph.lanes().size(), most = 0;
  for (std::size_t i = 0; i < graph.lanes().size(); ++i) {
    if (graph.lanes()[i].device) continue;
    const libtrace::Lane& lane = trace.lanes()[graph.lanes()[i].lane];
    std::size_t count = 0;
    for (EventId e = lane.first; e < lane.last; ++e) {
      count += (trace.flags(e) & libtrace::flag::kStep) != 0 && !trace.suspect(e);
    }
    if (count > most) best = i;
    most = std::max(most, count);
  }
  return best;
}

auto launched_from(const StepGraph& graph, std::int64_t at) {
  return std::lower_bound(graph.launched().begin(), graph.launched().end(), at,
                          [](const StepGraph::Launched& l, std::int64_t t) { return l.at < t; });
}

}  // namespace

StepChain::StepChain(const StepGraph& graph, const Selection& selection)
    : graph_(graph), chosen_(graph.nodes().size()), step_lane_(lane_of_steps(graph)) {
  double sum = 0;
  for (std::size_t i = 0; i < selection.steps().size(); ++i) {
    if (!selection.selected(i)) continue;
    steps_.push_back(selection.steps()[i]);
    sum += static_cast<double>(steps_.back().extended.length());
  }
  if (steps_.empty()) return;
  mean_ = std::llround(sum / static_cast<double>(steps_.size()));
  for (const Step& s : steps_) host_ends_.push_back(host_end(s));
  Times recorded;
  for (const Node& n : graph.nodes()) {
    recorded.start.push_back(n.start);
    recorded.end.push_back(n.end);
  }
  recorded_ends_ = ends(recorded);
  if (steps_.front().synthetic) {
    chosen_.assign(chosen_.size(), true);
    return;
  }
  const std::int64_t first = steps_.front().host.start, last = steps_.back().host.end;
  for (const GraphLane& lane : graph.lanes()) {
    if (lane.device) continue;
    for (NodeId n = lane.first; n < lane.last; ++n) {
      // A stretch that waited into the steps is of them.
      chosen_[n] = graph.nodes()[n].end > first && graph.free_since(n) >= first &&
                   graph.free_since(n) < last;
    }
  }
  for (auto l = launched_from(graph, first); l != graph.launched().end() && l->at < last; ++l) {
    chosen_[l->node] = true;
  }
}

StepChain::HostEnd StepChain::host_end(const Step& step) const {
  if (step_lane_ == graph_.lanes().size() || step.synthetic) return {};
  const NodeId n = graph_.at(step_lane_, step.host.end - 1);
  return n == kNoNode ? HostEnd{} : HostEnd{n, step.host.end};
}

std::vector<std::int64_t> StepChain::ends(const Times& times) const {
  std::vector<std::int64_t> out;
  std::int64_t previous = steps_.empty() ? 0 : steps_.front().extended.start;
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const Step& s = steps_[i];
    std::int64_t end = previous;
    if (s.synthetic) {
      end = times.end.empty() ? s.extended.end
                              : *std::max_element(times.end.begin(), times.end.end());
      out.push_back(end);
      continue;
    }
    const HostEnd& host = host_ends_[i];
    if (host.node == kNoNode) {
      end = std::max(end, s.host.end);
    } else {
      const Node& n = graph_.nodes()[host.node];
      if (host.at >= n.end) {
        end = std::max(end, times.end[host.node] + (host.at - n.end));
      } else if (host.at >= n.start) {
        end = std::max(
            end, std::min(times.start[host.node] + (host.at - n.start), times.end[host.node]));
      } else {  // in the middle of a wait: no later than that is over
        const NodeId before = n.order.from;
        end = std::max(end,
                       before == kNoNode
                           ? host.at
                           : std::min(times.start[host.node],
                                      times.end[before] + (host.at - graph_.nodes()[before].end)));
      }
    }
    for (auto l = launched_from(graph_, s.host.start);
         l != graph_.launched().end() && l->at < s.host.end; ++l) {
      if (graph_.trace().launch(graph_.nodes()[l->node].event) == kNone) continue;
      end = std::max(end, times.end[l->node]);
    }
    out.push_back(end);
    previous = end;
  }
  return out;
}

NodeId StepChain::last_node(std::size_t step) const {
  const Step& s = steps_[step];
  NodeId best = kNoNode;
  if (s.synthetic) {
    for (NodeId n = 0; n < graph_.nodes().size(); ++n) {
      if (best == kNoNode || graph_.nodes()[n].end > graph_.nodes()[best].end) best = n;
    }
    return best;
  }
  for (auto l = launched_from(graph_, s.host.start);
       l != graph_.launched().end() && l->at < s.host.end; ++l) {
    if (graph_.trace().launch(graph_.nodes()[l->node].event) == kNone) continue;
    if (best == kNoNode || graph_.nodes()[l->node].end > graph_.nodes()[best].end) best = l->node;
  }
  if (best == kNoNode || graph_.nodes()[best].end < s.extended.end) return host_ends_[step].node;
  return best;
}

std::int64_t StepChain::gain(const WhatIf& what_if) const {
  if (steps_.empty()) return 0;
  const std::vector<std::int64_t>& was = recorded_ends_;
  const std::vector<std::int64_t> is = ends(graph_.walk(what_if));
  std::int64_t gain = was.back() - is.back();
  auto count = static_cast<std::int64_t>(steps_.size());
  // The recording opens with an empty queue and ends with a full one: with enough steps the gain is
  // that of a long run, from the first one's end to the last one's.
  constexpr std::int64_t kEnoughSteps = 3;
  if (count >= kEnoughSteps) {
    gain -= was.front() - is.front();
    --count;
  }
  return std::clamp<std::int64_t>(gain / count, 0, mean_);
}

std::int64_t StepChain::gain_of_costs(
    const std::function<std::int64_t(NodeId, const Node&)>& cost) const {
  WhatIf w = graph_.as_recorded();
  for (NodeId n = 0; n < w.cost.size(); ++n) {
    if (chosen_[n]) w.cost[n] = cost(n, graph_.nodes()[n]);
  }
  return gain(w);
}

}  // namespace traceglass
