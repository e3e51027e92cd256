// Idle time of the device that no other check explains.
#include <algorithm>

#include "tb_backend/analysis/record_words.h"
#include "tb_backend/analysis/thresholds.h"
#include "tb_backend/analysis/verdict_facts.h"

namespace traceglass {
namespace {

bool explained(IdleCause cause, const std::vector<Verdict>& others) {
  constexpr std::pair<IdleCause, const char*> kChecks[] = {
      {IdleCause::kDataLoading, "data_loading"},
      {IdleCause::kSynchronization, "synchronization"},
      {IdleCause::kLaunch, "small_kernels"},
      {IdleCause::kMemory, "memory"},
      {IdleCause::kCommunication, "communication"}};
  for (const auto& [its, id] : kChecks) {
    if (its != cause) continue;
    const std::string_view check = id;
    return std::any_of(others.begin(), others.end(),
                       [check](const Verdict& v) { return v.id == check && fires(v); });
  }
  return false;
}

// Without the long stretches of Python; not those that follow a synchronisation where that has its
// verdict, nor what stands before the recording's first work.
std::int64_t gain_without_python(const Facts& facts, const std::vector<Verdict>& others) {
  const bool sync = explained(IdleCause::kSynchronization, others);
  const std::vector<Node>& nodes = facts.graph.nodes();
  std::int64_t first = INT64_MAX;
  for (const DeviceActivity& d : facts.devices) {
    if (!d.busy.empty()) first = std::min(first, d.busy.front().start);
  }
  WhatIf w = facts.graph.as_recorded();
  for (const GraphLane& lane : facts.graph.lanes()) {
    bool drained = false;  // a synchronisation and no launch since
    for (NodeId n = lane.first; !lane.device && n < lane.last; ++n) {
      const Node& node = nodes[n];
      if (node.cause.kind == EdgeKind::kSync) drained = true;
      if (node.activity == Activity::kRuntime) drained = false;
      if (!node.long_python || !facts.chain.chosen(n) || node.end <= first) continue;
      if (!sync || !drained) w.cost[n] = facts.chain.changed(n, 0);
    }
  }
  return facts.chain.gain(w);
}

const char* in_words(IdleCause cause) {
  constexpr const char* kWords[] = {
      "data loading",      "synchronisation",          "launches that come late",
      "memory calls",      "Python between operators", "collectives of the host",
      "no recorded reason"};
  return kWords[static_cast<std::size_t>(cause)];
}

}  // namespace

Verdict check_utilization(const Facts& facts, const std::vector<Verdict>& others) {
  const std::string id = "low_utilization";
  if (!facts.has_device) {
    return not_checkable(
        id, "The file has no device work: record " + record_words(kRecordDevice) + " as well.");
  }
  const DeviceIdle& idle = facts.idle[facts.main_device];
  std::int64_t left = 0, most = 0, in_passing = 0;
  IdleCause largest = IdleCause::kUnknown;
  for (const IdleCause c : idle.causes_by_size()) {
    if (explained(c, others)) continue;
    std::int64_t ns = idle.of(c) - idle.lead_in[static_cast<std::size_t>(c)];
    if (c == IdleCause::kLaunch) ns -= idle.queued_ns;
    // A device that idles while Python works may do so beside other idle time: the walk tells.
    ns = c == IdleCause::kPython ? std::max(facts.per_step(ns), gain_without_python(facts, others))
                                 : facts.per_step(ns);
    // Launches that are late in passing, as their own check has it, are no reason to fire.
    if (c == IdleCause::kLaunch && judged(facts, id, ns).share_pct.value_or(0) < kLateLaunchPct) {
      in_passing = ns;
      continue;
    }
    if (ns > most) largest = c;
    most = std::max(most, ns);
    left += ns;
  }
  if (fires(judged(facts, id, left))) left += in_passing;
  left = std::min(left, facts.idle_per_step());
  Verdict v = judged(facts, id, left);
  seen(facts, facts.idle_per_step(), v);
  const std::int64_t busy =
      facts.mean_step_ns - std::min(facts.mean_step_ns, facts.idle_per_step());
  v.sentence = "The device is busy for " + percent_text(busy, facts.mean_step_ns) + " of the step";
  if (!fires(v)) {
    v.sentence +=
        left == 0 ? "." : "; " + time_text(left) + " of its idle time has no other verdict.";
    // A recording that begins with a first launch, or a compilation, says nothing of other steps.
    std::int64_t lead_in = 0;
    for (const std::int64_t ns : idle.lead_in) lead_in += ns;
    if (judged(facts, id, facts.per_step(lead_in)).severity == VerdictSeverity::kHigh) {
      v.sentence += " Not judged: " + time_text(lead_in) + " before its first work.";
    }
    return v;
  }
  v.sentence += "; " + time_text(left) + " of its idle time has no other verdict, most of it in " +
                in_words(largest) + ".";
  for (const IdleCause c : idle.causes_by_size()) {
    v.evidence.push_back("Idle in " + std::string(in_words(c)) + ": " +
                         time_text(facts.idle_of(c)) + " a step.");
  }
  Worst worst;
  for (const IdleGap& gap : idle.gaps) {
    if (gap.cause == largest) {
      worst.add(gap.blame != libtrace::kNone ? gap.blame : gap.next, gap.end - gap.start);
    }
  }
  v.events = worst.take();
  if (largest == IdleCause::kPython) {
    v.suggestions.push_back(
        {"Move work of the program itself out of the loop, or to every n-th step.",
         "if step % 100 == 0: log_metrics()"});
    v.suggestions.push_back(
        {"See what it is: record Python's stacks.", record_code(kRecordStacks)});
  } else if (largest == IdleCause::kUnknown) {
    v.suggestions.push_back({"Record the host as well, with stacks, to see what it does meanwhile.",
                             record_code(kRecordStacks)});
  }
  v.suggestions.push_back(
      {"Give the device more at a time: a larger batch, or two processes.", ""});
  return v;
}

}  // namespace traceglass
