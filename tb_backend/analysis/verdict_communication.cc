// Collectives: how much of them nothing hides, how much is waiting, how small the messages are.
#include <algorithm>
#include <map>
#include <tuple>

#include "tb_backend/analysis/collective_args.h"
#include "tb_backend/analysis/exposed.h"
#include "tb_backend/analysis/thresholds.h"
#include "tb_backend/analysis/verdict_facts.h"

namespace traceglass {

using libtrace::EventId;
using libtrace::kNone;
using libtrace::TimeRange;
using libtrace::Trace;

namespace {

struct Messages {
  std::int64_t count = 0, sized = 0, small = 0;
  std::int64_t total_ns = 0, spread_ns = 0;  // of equal ones: what each took beyond the shortest
  std::vector<TimeRange> ranges;
  Worst worst;
};

Messages find_messages(const Facts& facts) {
  const Trace& trace = facts.trace;
  Messages m;
  std::map<std::tuple<libtrace::StringId, std::int64_t>, std::vector<std::int64_t>> equal;
  for (NodeId n = 0; n < facts.graph.nodes().size(); ++n) {
    const Node& node = facts.graph.nodes()[n];
    if (!facts.chain.chosen(n) || (node.activity != Activity::kCommunication &&
                                   node.activity != Activity::kHostCommunication)) {
      continue;
    }
    ++m.count;
    m.total_ns += node.cost();
    m.worst.add(node.event, node.cost());
    m.ranges.push_back({node.start, node.end});
    const CollectiveArgs args = read_collective_args(trace, node.event);
    if (args.bytes >= 0) {
      ++m.sized;
      m.small += args.bytes < kSmallMessageBytes;
    }
    equal[{trace.name_id(node.event), args.elements}].push_back(node.cost());
  }
  for (const auto& [key, costs] : equal) {
    const std::int64_t shortest = *std::min_element(costs.begin(), costs.end());
    for (const std::int64_t c : costs) m.spread_ns += c - shortest;
  }
  return m;
}

// What of the collectives no other kernel runs beside.
std::int64_t exposed(const Facts& facts, const Messages& m) {
  return libtrace::length(
      libtrace::common(libtrace::united(m.ranges), exposed_communication(facts.trace)));
}

}  // namespace

Verdict check_communication(const Facts& facts) {
  const std::string id = "communication";
  const Messages m = find_messages(facts);
  const int ranks = facts.trace.world_size().value_or(1);
  if (m.count == 0) {
    return fine(id, ranks > 1 ? "No collective runs in the steps."
                              : "One process: there is nothing to communicate.");
  }
  Verdict v = judged(facts, id, facts.chain.gain_of_costs([](const Node& n) {
    const bool collective =
        n.activity == Activity::kCommunication || n.activity == Activity::kHostCommunication;
    return collective ? 0 : n.cost();
  }));
  // Several at a time are one stretch of it.
  const std::int64_t covered = libtrace::length(libtrace::united(m.ranges));
  seen(facts, facts.per_step(covered), v);
  v.sentence = "Collectives take " + time_text(facts.per_step(covered)) + " a step";
  if (facts.has_device) {
    const std::int64_t open = facts.per_step(exposed(facts, m));
    v.sentence += "; " + (open == 0 ? "all of it is" : time_text(open) + " of it is not") +
                  " hidden behind other kernels";
  }
  v.sentence += ".";
  if (m.sized > 0) {
    v.evidence.push_back(std::to_string(m.small) + " of " +
                         counted(m.sized, "message is", "messages are") + " under 64 KiB.");
  }
  if (m.spread_ns > 0) {
    v.evidence.push_back("Equal ones differ: beyond the shortest of its kind they take " +
                         time_text(facts.per_step(m.spread_ns)) +
                         " a step, which is waiting for other ranks or for the network.");
  }
  if (!fires(v)) {
    v.sentence += " Without them a step would gain at most " + time_text(*v.gain_ceiling_ns) + ".";
    return v;
  }
  v.events = m.worst.take();
  if (percent(m.small, m.sized) > kMostPct) {
    v.suggestions.push_back({"Put small messages together into fewer, larger ones.",
                             "DistributedDataParallel(model, bucket_cap_mb=100,\n"
                             "                        gradient_as_bucket_view=True)"});
  }
  v.suggestions.push_back(
      {"Start them while the backward pass still runs, and reduce only every few batches.",
       "model = DistributedDataParallel(model, gradient_as_bucket_view=True)\n"
       "with model.no_sync(): loss.backward()     # all but the last of an accumulation"});
  v.suggestions.push_back({"Send less: gradients in half precision.",
                           "model.register_comm_hook(None, default_hooks.bf16_compress_hook)"});
  if (percent(m.spread_ns, m.total_ns) > kMostPct) {
    v.suggestions.push_back(
        {"Much of it is waiting: look at the rank that comes last, in the Distributed view.", ""});
  }
  return v;
}

}  // namespace traceglass
