#include "tb_backend/analysis/what_if.h"

#include <algorithm>
#include <cmath>

namespace traceglass {

using libtrace::EventId;
using libtrace::kNone;
using libtrace::TimeRange;
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

using Cursor = std::vector<StepGraph::Launched>::const_iterator;

// Calls `with` for the work that a step launched and none before it did: that ended by the end of
// an earlier step. Steps by start, so that all of them together look at each piece once.
template <class With>
void launched_in(const StepGraph& graph, const Step& step, Cursor& at, const With& with) {
  at = std::lower_bound(at, graph.launched().end(), step.host.start,
                        [](const StepGraph::Launched& l, std::int64_t t) { return l.at < t; });
  for (; at != graph.launched().end() && at->at < step.host.end; ++at) {
    if (graph.trace().launch(graph.nodes()[at->node].event) != kNone) with(at->node);
  }
}

}  // namespace

StepChain::StepChain(const StepGraph& graph, const Selection& selection)
    : graph_(graph),
      chosen_(graph.nodes().size()),
      own_(graph.nodes().size()),
      step_lane_(lane_of_steps(graph)) {
  std::uint64_t sum = 0;  // the steps do not overlap
  for (std::size_t i = 0; i < selection.steps().size(); ++i) {
    if (!selection.selected(i)) continue;
    steps_.push_back(selection.steps()[i]);
    sum += static_cast<std::uint64_t>(steps_.back().extended.length());
  }
  if (steps_.empty()) return;
  const std::uint64_t count = steps_.size();
  mean_ = static_cast<std::int64_t>(sum / count + (2 * (sum % count) >= count));
  for (const Step& s : steps_) host_ends_.push_back(host_end(s));
  walked_.reserve(graph.nodes().size());
  for (const Node& n : graph.nodes()) walked_.push_back({n.start, n.end});
  recorded_ends_ = ends(walked_);
  last_nodes_ = find_last_nodes();
  if (steps_.front().synthetic) {
    chosen_.assign(chosen_.size(), true);
    for (NodeId n = 0; n < own_.size(); ++n) own_[n] = graph.nodes()[n].cost();
    return;
  }
  std::vector<TimeRange> hosts, extended;
  for (const Step& s : steps_) {
    hosts.push_back(s.host);
    extended.push_back(s.extended);
  }
  hosts = libtrace::united(std::move(hosts));
  choose_host(hosts);
  choose_device(hosts, libtrace::united(std::move(extended)));
}

void StepChain::choose_host(const std::vector<TimeRange>& steps) {
  for (const GraphLane& lane : graph_.lanes()) {
    if (lane.device) continue;
    std::size_t first = 0;  // step that has not ended when the lane is done with what came before
    for (NodeId n = lane.first; n < lane.last; ++n) {
      const Node& node = graph_.nodes()[n];
      const std::int64_t since = graph_.free_since(n);
      while (first < steps.size() && steps[first].end <= since) ++first;
      for (std::size_t i = first; i < steps.size() && steps[i].start < node.end; ++i) {
        const std::int64_t start = std::max(steps[i].start, node.start);
        own_[n] += std::max<std::int64_t>(0, std::min(steps[i].end, node.end) - start);
      }
      // A stretch that waited into the steps is of them.
      const bool waits =
          first < steps.size() && steps[first].start <= since && node.end > steps[first].start;
      chosen_[n] = own_[n] > 0 || waits;
    }
  }
}

void StepChain::choose_device(const std::vector<TimeRange>& steps,
                              const std::vector<TimeRange>& extended) {
  std::size_t step = 0, longer = 0;
  for (const StepGraph::Launched& l : graph_.launched()) {
    const Node& node = graph_.nodes()[l.node];
    // Work that nothing launched belongs where it runs.
    const bool launched = graph_.trace().launch(node.event) != kNone;
    while (step < steps.size() && steps[step].end <= l.at) ++step;
    while (longer < extended.size() && extended[longer].end <= l.at) ++longer;
    chosen_[l.node] = launched ? step < steps.size() && steps[step].start <= l.at
                               : longer < extended.size() && extended[longer].start <= l.at;
    if (chosen_[l.node]) own_[l.node] = node.cost();
  }
}

std::int64_t StepChain::own_part(NodeId n, std::int64_t ns) const {
  const std::int64_t cost = graph_.nodes()[n].cost();
  if (own_[n] == cost || cost == 0) return ns;
  const double share = static_cast<double>(own_[n]) / static_cast<double>(cost);
  return std::clamp<std::int64_t>(std::llround(static_cast<double>(ns) * share), 0, ns);
}

std::int64_t StepChain::changed(NodeId n, std::int64_t cost) const {
  const std::int64_t whole = graph_.nodes()[n].cost();
  return whole - own_part(n, whole - cost);
}

StepChain::HostEnd StepChain::host_end(const Step& step) const {
  if (step_lane_ == graph_.lanes().size() || step.synthetic) return {};
  const NodeId n = graph_.at(step_lane_, step.host.end - 1);
  return n == kNoNode ? HostEnd{} : HostEnd{n, step.host.end};
}

std::vector<std::int64_t> StepChain::ends(const Times& times) const {
  std::vector<std::int64_t> out;
  std::int64_t previous = steps_.empty() ? 0 : steps_.front().extended.start;
  Cursor at = graph_.launched().begin();
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const Step& s = steps_[i];
    std::int64_t end = previous;
    if (s.synthetic) {
      end = times.empty() ? s.extended.end : INT64_MIN;
      for (const TimeRange& t : times) end = std::max(end, t.end);
      out.push_back(end);
      continue;
    }
    const HostEnd& host = host_ends_[i];
    if (host.node == kNoNode) {
      end = std::max(end, s.host.end);
    } else {
      const Node& n = graph_.nodes()[host.node];
      if (host.at >= n.end) {
        end = std::max(end, times[host.node].end + (host.at - n.end));
      } else if (host.at >= n.start) {
        end = std::max(
            end, std::min(times[host.node].start + (host.at - n.start), times[host.node].end));
      } else {  // in the middle of a wait: no later than that is over
        const NodeId before = n.order.from;
        end = std::max(end,
                       before == kNoNode
                           ? host.at
                           : std::min(times[host.node].start,
                                      times[before].end + (host.at - graph_.nodes()[before].end)));
      }
    }
    launched_in(graph_, s, at, [&](NodeId n) { end = std::max(end, times[n].end); });
    out.push_back(end);
    previous = end;
  }
  return out;
}

std::vector<NodeId> StepChain::find_last_nodes() const {
  const std::vector<Node>& nodes = graph_.nodes();
  std::vector<NodeId> out;
  Cursor at = graph_.launched().begin();
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    NodeId best = kNoNode;
    const auto look = [&](NodeId n) {
      if (best == kNoNode || nodes[n].end > nodes[best].end) best = n;
    };
    const Step& s = steps_[i];
    if (s.synthetic) {
      for (NodeId n = 0; n < nodes.size(); ++n) look(n);
    } else {
      launched_in(graph_, s, at, look);
      if (best == kNoNode || nodes[best].end < s.extended.end) best = host_ends_[i].node;
      // It ends with the one before it.
      if (i > 0 && s.extended.end == steps_[i - 1].extended.end) best = out.back();
    }
    out.push_back(best);
  }
  return out;
}

std::int64_t StepChain::gain(const WhatIf& what_if) const {
  if (steps_.empty()) return 0;
  const std::vector<std::int64_t>& was = recorded_ends_;
  graph_.walk(what_if, walked_);
  const std::vector<std::int64_t> is = ends(walked_);
  std::int64_t gain = was.back() - is.back();
  if (long_run()) gain -= was.front() - is.front();
  return std::clamp<std::int64_t>(gain / steps_of_gain(), 0, mean_);
}

}  // namespace traceglass
