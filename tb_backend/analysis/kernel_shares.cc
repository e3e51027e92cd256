#include "tb_backend/analysis/kernel_shares.h"

#include <algorithm>
#include <unordered_map>

#include "tb_backend/analysis/kernels.h"
#include "tb_backend/analysis/thresholds.h"

namespace traceglass {

using libtrace::EventId;
using libtrace::kNone;

namespace {

constexpr std::size_t kNamed = 3;  // modules in a sentence

using Share = std::pair<std::int64_t, std::uint32_t>;

// Largest first.
std::vector<Share> by_size(const std::map<std::uint32_t, std::int64_t>& modules) {
  std::vector<Share> out;
  for (const auto& [module, ns] : modules) out.emplace_back(ns, module);
  std::stable_sort(out.begin(), out.end(),
                   [](const Share& a, const Share& b) { return a.first > b.first; });
  return out;
}

}  // namespace

KernelShares::KernelShares(const Facts& facts) : facts_(facts) {
  if (find_module_source(facts.trace) != ModuleSource::kNone) {
    modules_ = std::make_unique<const WorkModules>(facts.trace);
  }
  for (NodeId n = 0; n < facts.graph.nodes().size(); ++n) {
    const Node& node = facts.graph.nodes()[n];
    if (node.activity != Activity::kKernel || !facts.chain.chosen(n)) continue;
    all_ns_ += node.cost();
    add(n, by_module_);
  }
}

void KernelShares::add(NodeId kernel, ByModule& to) const {
  if (!modules_) return;
  const Node& node = facts_.graph.nodes()[kernel];
  const std::uint32_t scope = modules_->place_of_work(node.event).scope;
  if (scope != kNone) to[modules_->scopes.scopes[scope].module] += node.cost();
}

std::vector<std::string> KernelShares::sentences() const {
  struct Operator {
    std::int64_t ns = 0;
    WeightedMean occupancy;
  };
  std::unordered_map<libtrace::StringId, Operator> by_op;
  for (NodeId n = 0; n < facts_.graph.nodes().size(); ++n) {
    const Node& node = facts_.graph.nodes()[n];
    if (node.activity != Activity::kKernel || !facts_.chain.chosen(n)) continue;
    const EventId op = facts_.trace.owner(node.event);
    if (op == kNone) continue;
    Operator& share = by_op[facts_.trace.name_id(op)];
    share.ns += node.cost();
    if (const auto o = facts_.trace.number_arg(node.event, "est. achieved occupancy %")) {
      share.occupancy.add(*o, node.cost());
    }
  }
  std::vector<std::string> out;
  const auto top = std::max_element(by_op.begin(), by_op.end(), [](const auto& a, const auto& b) {
    return a.second.ns != b.second.ns ? a.second.ns < b.second.ns : a.first > b.first;
  });
  if (top != by_op.end()) {
    std::string text = short_name(facts_.trace.text(top->first)) + " takes " +
                       percent_text(top->second.ns, all_ns_) + " of the kernel time";
    const auto occupancy = top->second.occupancy.mean();
    if (occupancy && *occupancy < kLowOccupancyPct) {
      text += ", at an estimated occupancy of " + percent_text(*occupancy);
    }
    out.push_back(text + ".");
  }
  std::string modules;
  const std::vector<Share> shares = by_size(by_module_);
  for (std::size_t i = 0; i < std::min(shares.size(), kNamed); ++i) {
    const auto [ns, module] = shares[i];
    if (percent(ns, all_ns_) < kNamedModulePct) break;
    modules += (i == 0 ? "" : ", ") + modules_->words(module) + " " + percent_text(ns, all_ns_);
  }
  if (!modules.empty()) {
    out.push_back((modules_->scopes.source == ModuleSource::kAnnotations
                       ? "By annotation, backward pass included: "
                       : "By module, backward pass included: ") +
                  modules + ".");
  }
  return out;
}

std::string KernelShares::most_of(const std::vector<NodeId>& kernels) const {
  ByModule modules;
  for (const NodeId n : kernels) add(n, modules);
  const std::vector<Share> shares = by_size(modules);
  if (shares.empty()) return "";
  return modules_->words(shares[0].second) + ", " + time_text(facts_.per_step(shares[0].first)) +
         " a step";
}

}  // namespace traceglass
