// The host waits for the device, which then has nothing to do until it is fed again.
#include <algorithm>
#include <map>

#include "tb_backend/analysis/record_words.h"
#include "tb_backend/analysis/stacks.h"
#include "tb_backend/analysis/step_graph_calls.h"
#include "tb_backend/analysis/thresholds.h"
#include "tb_backend/analysis/verdict_facts.h"

namespace traceglass {

using libtrace::EventId;
using libtrace::Kind;
using libtrace::kNone;
using libtrace::TimeRange;

namespace {

struct Waits {
  std::int64_t calls = 0;
  std::vector<TimeRange> ranges;  // of any thread: what two wait for together is waited once
  [[nodiscard]] std::int64_t ns() const { return libtrace::length(libtrace::united(ranges)); }
};

// One file and line of the user's own around `e`, "" if none is known.
std::string user_frame(const libtrace::Trace& trace, EventId e) {
  Stacks stacks(trace);
  for (const std::string& frame : stacks.frames(stacks.id_of(e))) {
    const bool python = frame.find(".py(") != std::string::npos;
    const bool library = frame.find("torch/") != std::string::npos ||
                         frame.find("site-packages/") != std::string::npos ||
                         frame.starts_with("<");
    if (python && !library) return frame;
  }
  return "";
}

}  // namespace

Verdict check_synchronization(const Facts& facts) {
  const std::string id = "synchronization";
  if (!facts.has_device) {
    return not_checkable(id, "The file has no device work to wait for: record " +
                                 record_words(kRecordDevice) + " as well.");
  }
  if (!facts.has_host) {
    return not_checkable(
        id, "The file has no host activity: record " + record_words(kRecordHost) + " as well.");
  }
  const libtrace::Trace& trace = facts.trace;
  std::map<std::string_view, Waits> by_name;
  Waits all;
  bool reads = false, pageable = false;
  Worst worst;
  EventId last = kNone;
  WhatIf w = facts.graph.as_recorded();
  w.unbound.assign(w.cost.size(), false);
  const std::vector<Node>& nodes = facts.graph.nodes();
  for (NodeId n = 0; n < nodes.size(); ++n) {
    const Node& node = nodes[n];
    if (node.activity != Activity::kSync || !facts.chain.chosen(n)) continue;
    w.cost[n] = facts.chain.changed(n, 0);
    w.unbound[n] = node.cause.kind == EdgeKind::kSync;
    const EventId e = node.context != kNone ? node.context : node.event;
    if (e == kNone) continue;
    reads = reads || node.reads;
    const TimeRange spent{facts.graph.free_since(n), node.end};
    for (Waits* waits : {&by_name[trace.name(e)], &all}) {
      waits->ranges.push_back(spent);
      waits->calls += e != last;
    }
    last = e;
    worst.add(e, spent.length());
  }
  for (NodeId n = 0; n < nodes.size(); ++n) {
    const Node& node = nodes[n];
    if (node.activity != Activity::kMemcpy || !facts.chain.chosen(n)) continue;
    const bool waited = node.cause.from != kNoNode &&
                        (nodes[node.cause.from].reads ||
                         (node.cause.from + 1 < nodes.size() && nodes[node.cause.from + 1].reads));
    if (waited) {
      w.cost[n] = 0;  // what is not read need not be copied
      w.unbound[n] = true;
    } else if (trace.name(node.event).find("Pageable") != std::string_view::npos) {
      pageable = true;
      w.cost[n] /= kPinnedSpeedUp;
    }
  }
  if (all.calls == 0) return fine(id, "The host waits for the device nowhere in the steps.");
  Verdict v = judged(facts, id, facts.chain.gain(w));
  seen(facts, facts.per_step(all.ns()), v);
  v.events = worst.take();
  struct Name {
    std::string_view name;
    std::int64_t calls, ns;
  };
  std::vector<Name> names;
  for (const auto& [name, waits] : by_name) names.push_back({name, waits.calls, waits.ns()});
  std::stable_sort(names.begin(), names.end(),
                   [](const Name& a, const Name& b) { return a.ns > b.ns; });
  v.sentence = "The host waits for the device in " + calls_text(all.calls, facts.steps) +
               " a step, " + time_text(facts.per_step(all.ns())) + " altogether";
  if (fires(v)) {
    v.sentence += ", most of it in " + short_name(names[0].name) +
                  "; the device then runs dry for " +
                  time_text(facts.idle_of(IdleCause::kSynchronization)) + ".";
  } else {
    v.sentence += ", at a cost of at most " + time_text(*v.gain_ceiling_ns) + ".";
  }
  for (std::size_t i = 0; i < std::min<std::size_t>(names.size(), 3); ++i) {
    v.evidence.push_back(short_name(names[i].name) + ": " + rate_text(names[i].calls, facts.steps) +
                         " a step, " + time_text(facts.per_step(names[i].ns)) + ".");
  }
  if (!fires(v)) return v;
  if (!v.events.empty()) {
    if (const std::string frame = user_frame(trace, v.events.front()); !frame.empty()) {
      v.evidence.push_back("The longest is called from " + frame + ".");
    }
  }
  if (reads) {
    v.suggestions.push_back(
        {"Keep values on the device; read them every few steps, or one step late.",
         "total_loss += loss.detach()          # no .item() in the loop\n"
         "if step % 100 == 0: print(total_loss.item())"});
  }
  if (pageable) {
    v.suggestions.push_back({"Copy from pinned memory without waiting.",
                             "DataLoader(..., pin_memory=True)\n"
                             "batch = batch.to(device, non_blocking=True)"});
  }
  if (facts.on_cuda()) {
    v.suggestions.push_back(
        {"Find the others: let PyTorch report each operation that synchronises.",
         "torch.cuda.set_sync_debug_mode(\"warn\")"});
  } else {
    v.suggestions.push_back({"Find the others by their call stacks.", record_code(kRecordStacks)});
  }
  return v;
}

}  // namespace traceglass
