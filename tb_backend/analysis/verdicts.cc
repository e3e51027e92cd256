#include "tb_backend/analysis/verdicts.h"

#include <algorithm>

#include "tb_backend/analysis/verdict_facts.h"

namespace traceglass {

std::vector<Verdict> find_verdicts(const libtrace::Trace& trace, const Selection& selection) {
  return selection.count() == 0 ? std::vector<Verdict>()
                                : find_verdicts(StepGraph(trace), selection);
}

std::vector<Verdict> find_verdicts(const StepGraph& graph, const Selection& selection) {
  if (selection.count() == 0) return {};
  const Facts facts(graph, selection);
  std::vector<Verdict> all = {check_data_loading(facts),  check_synchronization(facts),
                              check_small_kernels(facts), check_operators(facts),
                              check_memory(facts),        check_communication(facts)};
  all.push_back(check_utilization(facts, all));
  const auto rank = [](const Verdict& v) {
    return fires(v) ? 0 : v.severity == VerdictSeverity::kOk ? 1 : 2;
  };
  std::stable_sort(all.begin(), all.end(), [&](const Verdict& a, const Verdict& b) {
    if (rank(a) != rank(b)) return rank(a) < rank(b);
    return fires(a) && a.gain_ceiling_ns.value_or(0) > b.gain_ceiling_ns.value_or(0);
  });
  return all;
}

}  // namespace traceglass
