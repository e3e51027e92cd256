// The chosen steps as one chain over the step graph: how long they take, and how much shorter
// they would be with some costs changed.
#pragma once

#include <cstdint>
#include <vector>

#include "tb_backend/analysis/step_graph.h"

namespace traceglass {

class StepChain {
 public:
  StepChain(const StepGraph& graph, const Selection& selection);

  [[nodiscard]] const StepGraph& graph() const { return graph_; }
  [[nodiscard]] std::size_t steps() const { return steps_.size(); }
  // Rounded, of the chosen extended steps.
  [[nodiscard]] std::int64_t mean_step_ns() const { return mean_; }
  // The chosen steps' nodes: host stretches that run or wait in one, device work launched in one.
  [[nodiscard]] bool chosen(NodeId n) const { return chosen_[n]; }
  // What of a chosen node's cost is the steps' own: what a thread does between two is not.
  [[nodiscard]] std::int64_t own_cost(NodeId n) const { return own_[n]; }
  // Of `ns` of a chosen node's cost: the steps' own, in proportion.
  [[nodiscard]] std::int64_t own_part(NodeId n, std::int64_t ns) const;
  // Cost of a chosen node of which the steps' own becomes what all of it would.
  [[nodiscard]] std::int64_t changed(NodeId n, std::int64_t cost) const;
  // Extended ends of the chosen steps in a walk; as recorded they are the steps' own.
  [[nodiscard]] std::vector<std::int64_t> ends(const Times& times) const;
  // The node that the step's extended end is the end of; kNoNode: of none.
  [[nodiscard]] NodeId last_node(std::size_t step) const { return last_nodes_[step]; }
  [[nodiscard]] const Step& step(std::size_t i) const { return steps_[i]; }

  // The recording opens with an empty queue and ends with a full one: with enough steps what is
  // gained is that of a long run, from the first one's end to the last one's.
  [[nodiscard]] bool long_run() const { return steps_.size() >= 3; }
  [[nodiscard]] std::int64_t steps_of_gain() const {
    return static_cast<std::int64_t>(steps_.size()) - (long_run() ? 1 : 0);
  }
  // Gain a step of a long run under a change; 0 <= gain <= mean step.
  [[nodiscard]] std::int64_t gain(const WhatIf& what_if) const;
  // The same with each chosen node's cost as `cost(node)` gives it.
  template <class Cost>
  [[nodiscard]] std::int64_t gain_of_costs(const Cost& cost) const {
    WhatIf w = graph_.as_recorded();
    for (NodeId n = 0; n < w.cost.size(); ++n) {
      if (chosen_[n]) w.cost[n] = changed(n, cost(graph_.nodes()[n]));
    }
    return gain(w);
  }

 private:
  struct HostEnd {
    NodeId node = kNoNode;
    std::int64_t at = 0;
  };
  [[nodiscard]] HostEnd host_end(const Step& step) const;
  [[nodiscard]] std::vector<NodeId> find_last_nodes() const;
  void choose_host(const std::vector<libtrace::TimeRange>& steps);
  void choose_device(const std::vector<libtrace::TimeRange>& steps,
                     const std::vector<libtrace::TimeRange>& extended);

  const StepGraph& graph_;
  std::vector<Step> steps_;
  std::vector<HostEnd> host_ends_;
  std::vector<NodeId> last_nodes_;  // by step
  std::vector<std::int64_t> recorded_ends_;
  std::vector<bool> chosen_;
  std::vector<std::int64_t> own_;
  std::int64_t mean_ = 0;
  mutable Times walked_;       // the last walk's: so a chain is for one thread
  std::size_t step_lane_ = 0;  // graph lane that the steps stand on; lanes().size(): none
};

}  // namespace traceglass
