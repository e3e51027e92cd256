// The step waits for its batch: time in a DataLoader that nothing hides.
#include <string_view>

#include "tb_backend/analysis/record_words.h"
#include "tb_backend/analysis/verdict_facts.h"

namespace traceglass {

using libtrace::kNone;

Verdict check_data_loading(const Facts& facts) {
  const std::string id = "data_loading";
  if (!facts.has_host) {
    return not_checkable(
        id, "The file has no host activity: record " + record_words(kRecordHost) + " as well.");
  }
  std::int64_t host = 0;
  Worst worst;
  bool single = false;
  std::string_view name;
  for (const GraphLane& lane : facts.graph.lanes()) {
    for (NodeId n = lane.first; lane.main && n < lane.last; ++n) {
      const Node& node = facts.graph.nodes()[n];
      if (node.activity != Activity::kDataLoading || !facts.chain.chosen(n)) continue;
      host += facts.chain.own_cost(n);
      worst.add(node.context, facts.chain.own_cost(n));
      if (node.context == kNone) continue;
      name = facts.trace.name(node.context);
      single = single || name.find("_SingleProcessDataLoaderIter") != std::string_view::npos;
    }
  }
  if (host == 0) return fine(id, "No time in a DataLoader.");
  Verdict v = judged(facts, id, facts.chain.gain_of_costs([](const Node& n) {
    return n.activity == Activity::kDataLoading ? 0 : n.cost();
  }));
  const std::int64_t per_step = facts.per_step(host);
  seen(facts, per_step, v);
  v.sentence = "The main thread spends " + time_text(per_step) + " a step in the DataLoader";
  if (facts.has_device) {
    const std::int64_t idle = facts.idle_of(IdleCause::kDataLoading);
    v.sentence += fires(v) ? "; for " + time_text(idle) + " of it the device has nothing to do."
                           : ", hidden behind the device's work.";
    if (!fires(v) && *v.gain_ceiling_ns > 0) {
      v.sentence = "The main thread spends " + time_text(per_step) +
                   " a step in the DataLoader; at most " + time_text(*v.gain_ceiling_ns) +
                   " of it is not hidden.";
    }
  } else {
    v.sentence += ", " + percent_text(per_step, facts.mean_step_ns) + " of it.";
  }
  v.events = worst.take();
  if (single) {
    v.evidence.emplace_back(
        "Batches are made in the training process (_SingleProcessDataLoaderIter), one after "
        "another "
        "with the step.");
  } else if (name.find("_MultiProcessingDataLoaderIter") != std::string_view::npos) {
    v.evidence.emplace_back(
        "Worker processes make the batches (_MultiProcessingDataLoaderIter) and do not keep up.");
  }
  if (!fires(v)) return v;
  if (single) {
    v.suggestions.push_back({"Let worker processes make the batches while the device works.",
                             "DataLoader(dataset, batch_size=..., num_workers=4, pin_memory=True,\n"
                             "           persistent_workers=True)"});
  } else {
    v.suggestions.push_back(
        {"Use more workers, let them run further ahead, and keep them between epochs.",
         "DataLoader(dataset, batch_size=..., num_workers=8, prefetch_factor=4,\n"
         "           pin_memory=True, persistent_workers=True)"});
  }
  v.suggestions.push_back(
      {"Make a batch cheaper: decode or resize ahead of training, transform on the device.", ""});
  v.suggestions.push_back({"In C++ the loader has workers as well.",
                           "torch::data::DataLoaderOptions().batch_size(32).workers(4)"});
  return v;
}

}  // namespace traceglass
