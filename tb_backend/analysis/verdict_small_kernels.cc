// Launch bound: the device is done before the host gets to the next launch.
#include <algorithm>
#include <unordered_map>

#include "tb_backend/analysis/record_words.h"
#include "tb_backend/analysis/thresholds.h"
#include "tb_backend/analysis/verdict_facts.h"

namespace traceglass {

using libtrace::EventId;
using libtrace::kNone;

namespace {

struct Kernels {
  std::int64_t count = 0, small = 0, ns = 0, by_graph = 0, collectives = 0;
  std::int64_t starts_ns = 0;  // what starting the small ones took of the device
};

bool is_graph_launch(std::string_view name) {
  return name.find("GraphLaunch") != std::string_view::npos ||
         name.find("graphLaunch") != std::string_view::npos;
}

// What a small kernel has of its own for being one: its start, and the gap before it in the queue.
std::int64_t start_of(const Node& n) {
  const std::int64_t gap = n.order.from == kNoNode ? 0 : n.order.lag;
  return std::min(n.cost(), kKernelStartNs) + std::clamp<std::int64_t>(gap, 0, kKernelStartNs);
}

Kernels count_kernels(const Facts& facts, Worst& worst) {
  Kernels k;
  std::unordered_map<libtrace::StringId, bool> graph;
  for (NodeId n = 0; n < facts.graph.nodes().size(); ++n) {
    const Node& node = facts.graph.nodes()[n];
    if (!facts.chain.chosen(n)) continue;
    k.collectives += node.activity == Activity::kCommunication;
    if (node.activity != Activity::kKernel) continue;
    ++k.count;
    k.ns += node.cost();
    if (node.cost() < kSmallKernelNs) {
      ++k.small;
      k.starts_ns += start_of(node);
    }
    const EventId launch = facts.trace.launch(node.event);
    if (launch == kNone) continue;
    const auto [it, fresh] = graph.try_emplace(facts.trace.name_id(launch), false);
    if (fresh) it->second = is_graph_launch(facts.trace.name(launch));
    k.by_graph += it->second;
  }
  for (const IdleGap& gap : facts.idle[facts.main_device].gaps) {
    if (gap.cause == IdleCause::kLaunch) worst.add(gap.blame, gap.end - gap.start);
  }
  return k;
}

std::string share(const Kernels& k) {
  return std::to_string(k.small) + " of " + counted(k.count, "kernel lasts", "kernels last") +
         " under 10 µs";
}

bool has_optimizer(const libtrace::Trace& trace) {
  for (libtrace::EventId e = 0; e < trace.size(); ++e) {
    if (trace.kind(e) <= libtrace::Kind::kAnnotation && trace.name(e).starts_with("Optimizer.")) {
      return true;
    }
  }
  return false;
}

}  // namespace

Verdict check_small_kernels(const Facts& facts) {
  const std::string id = "small_kernels";
  if (!facts.has_device) {
    return not_checkable(
        id, "The file has no device work: record " + record_words(kRecordDevice) + " as well.");
  }
  Worst worst;
  const Kernels k = count_kernels(facts, worst);
  if (k.count == 0) {
    return fine(id, k.collectives == 0 ? "No kernel runs in the steps."
                                       : "No kernel but those of collectives runs in the steps.");
  }
  const auto count = static_cast<double>(k.count);
  if (!facts.has_host) {
    return not_checkable(id, share(k) +
                                 "; whether their launches come late needs the host's side: "
                                 "record " +
                                 record_words(kRecordHost) + " as well.");
  }
  if (percent(k.by_graph, k.count) >= kMostPct) {
    return fine(id, std::to_string(k.by_graph) + " of " + counted(k.count, "kernel", "kernels") +
                        " come from graph launches, one call for many.");
  }
  const std::int64_t waits = facts.idle_of(IdleCause::kLaunch);
  const std::int64_t gain = facts.chain.gain_of_costs([&](const Node& n) {
    switch (n.activity) {
      case Activity::kOp:
      case Activity::kRuntime:
        return std::int64_t{0};
      case Activity::kPython:
      case Activity::kAnnotation:
        return n.long_python ? n.cost() : 0;
      case Activity::kKernel:
        return n.cost() < kSmallKernelNs ? n.cost() - start_of(n) : n.cost();
      default:
        return n.cost();
    }
  });
  // Of the waiting, what the device itself takes between two queued kernels is no late launch.
  const DeviceIdle& idle = facts.idle[facts.main_device];
  const std::int64_t late_ns =
      facts.per_step(idle.of(IdleCause::kLaunch) - idle.queued_ns -
                     idle.lead_in[static_cast<std::size_t>(IdleCause::kLaunch)]);
  // A host that is done sooner also hides other things, a DataLoader say; that is their verdict.
  Verdict v = judged(facts, id, std::min(gain, waits + facts.per_step(k.starts_ns)));
  if (fires(v) && judged(facts, id, late_ns).share_pct.value_or(0) < kLateLaunchPct) {
    return fine(id, share(k) + "; at most " + time_text(std::max<std::int64_t>(late_ns, 0)) +
                        " a step are spent waiting for a launch.");
  }
  const bool small = 100.0 * static_cast<double>(k.small) >= kSmallKernelSharePct * count;
  const bool short_mean = k.ns / k.count < kShortMeanKernelNs;
  if (fires(v) && !small && !short_mean) {
    Verdict ok =
        fine(id, share(k) + ", " + time_text(k.ns / k.count) + " on average: they are not small.");
    return ok;
  }
  seen(facts, waits, v);
  v.sentence = share(k) + "; the device waits " + time_text(waits) + " a step for launches.";
  if (!fires(v)) return v;
  v.events = worst.take();
  v.evidence.push_back("A kernel lasts " + time_text(k.ns / k.count) + " on average; " +
                       rate_text(k.count, facts.steps) + " are launched a step.");
  const auto& late = idle.late;
  if (!late.empty()) {
    v.evidence.push_back("For " + time_text(facts.per_step(late[0].second)) + " of the waiting " +
                         short_name(facts.trace.text(late[0].first)) + " is what the host is in.");
  }
  v.suggestions.push_back({"Let the compiler fuse operators, and replay the launches as one graph.",
                           "model = torch.compile(model, mode=\"reduce-overhead\")"});
  if (has_optimizer(facts.trace))
    v.suggestions.push_back(
        {"Update all parameters in a few kernels.",
         "torch.optim.SGD(params, lr, foreach=True)   # AdamW(..., fused=True)\n"
         "optimizer.zero_grad(set_to_none=True)"});
  if (facts.on_cuda())
    v.suggestions.push_back({"Capture the step once and replay it: shapes must not change.",
                             "g = torch.cuda.CUDAGraph()\n"
                             "with torch.cuda.graph(g): loss = step(static_batch)\n"
                             "g.replay()"});
  v.suggestions.push_back({"A larger batch makes each kernel longer at the same host cost.", ""});
  return v;
}

}  // namespace traceglass
