// Idle time of the device that no other check explains.
#include <algorithm>

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
    return std::any_of(others.begin(), others.end(),
                       [&](const Verdict& v) { return v.id == id && fires(v); });
  }
  return false;
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
    return not_checkable(id, "The file has no device work: record ProfilerActivity.CUDA as well.");
  }
  const DeviceIdle& idle = facts.idle[facts.main_device];
  std::int64_t left = 0;
  IdleCause largest = IdleCause::kUnknown;
  for (const IdleCause c : idle.causes_by_size()) {
    if (explained(c, others)) continue;
    if (left == 0) largest = c;
    left += facts.idle_of(c);
  }
  Verdict v = judged(facts, id, left);
  const std::int64_t busy =
      facts.mean_step_ns - std::min(facts.mean_step_ns, facts.idle_per_step());
  v.sentence = "The device is busy for " +
               percent_text(static_cast<double>(busy), static_cast<double>(facts.mean_step_ns)) +
               " of the step";
  if (!fires(v)) {
    v.sentence +=
        left == 0 ? "." : "; " + time_text(left) + " of its idle time has no other verdict.";
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
    v.suggestions.push_back({"See what it is: record Python's stacks.",
                             "profile(activities=[CPU, CUDA], with_stack=True)"});
  } else if (largest == IdleCause::kUnknown) {
    v.suggestions.push_back({"Record the host as well, with stacks, to see what it does meanwhile.",
                             "profile(activities=[CPU, CUDA], with_stack=True)"});
  }
  v.suggestions.push_back(
      {"Give the device more at a time: a larger batch, or two processes.", ""});
  return v;
}

}  // namespace traceglass
