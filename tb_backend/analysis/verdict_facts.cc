#include "tb_backend/analysis/verdict_facts.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "tb_backend/analysis/thresholds.h"

namespace traceglass {

using libtrace::EventId;

namespace {

std::string printed(const char* format, double value, const char* unit) {
  char text[64];
  const int length = std::snprintf(text, sizeof text, format, value, unit);
  return {text, static_cast<std::size_t>(std::clamp(length, 0, 63))};
}

}  // namespace

Facts::Facts(const StepGraph& g, const Selection& chosen)
    : trace(g.trace()),
      graph(g),
      selection(chosen),
      chain(g, chosen),
      devices(find_devices(g.trace())),
      idle(find_idle(g, chosen)) {
  steps = static_cast<std::int64_t>(chain.steps());
  mean_step_ns = chain.mean_step_ns();
  for (const GraphLane& l : graph.lanes()) has_host = has_host || !l.device;
  has_device = !devices.empty();
  for (std::size_t i = 1; i < idle.size(); ++i) {
    if (idle[i].idle_ns < idle[main_device].idle_ns) main_device = i;
  }
}

std::int64_t Facts::idle_of(IdleCause cause) const {
  return idle.empty() ? 0 : per_step(idle[main_device].of(cause));
}

std::int64_t Facts::idle_per_step() const {
  return idle.empty() ? 0 : per_step(idle[main_device].idle_ns);
}

Verdict judged(const Facts& facts, std::string id, std::int64_t ceiling_ns) {
  Verdict v;
  v.id = std::move(id);
  v.gain_ceiling_ns = std::clamp<std::int64_t>(ceiling_ns, 0, facts.mean_step_ns);
  const double share = percent(*v.gain_ceiling_ns, facts.mean_step_ns);
  v.share_pct = share;
  v.severity = share >= kHighPct     ? VerdictSeverity::kHigh
               : share >= kMediumPct ? VerdictSeverity::kMedium
               : share >= kLowPct    ? VerdictSeverity::kLow
                                     : VerdictSeverity::kOk;
  return v;
}

void seen(const Facts& facts, std::int64_t ns, Verdict& v) {
  v.seen_pct = percent(std::clamp<std::int64_t>(ns, 0, facts.mean_step_ns), facts.mean_step_ns);
}

bool fires(const Verdict& v) { return v.severity < VerdictSeverity::kOk; }

Verdict not_checkable(std::string id, std::string sentence) {
  Verdict v;
  v.id = std::move(id);
  v.sentence = std::move(sentence);
  return v;
}

Verdict fine(std::string id, std::string sentence) {
  Verdict v = not_checkable(std::move(id), std::move(sentence));
  v.severity = VerdictSeverity::kOk;
  v.share_pct = v.seen_pct = 0;
  v.gain_ceiling_ns = 0;
  return v;
}

void Worst::add(EventId e, std::int64_t ns) {
  if (e == libtrace::kNone) return;
  // The pieces of one slice come one after another.
  if (!all_.empty() && all_.back().second == e) {
    all_.back().first += ns;
  } else {
    all_.emplace_back(ns, e);
  }
}

std::vector<EventId> Worst::take() const {
  constexpr std::size_t kMost = 20;
  std::vector<std::pair<std::int64_t, EventId>> sorted = all_;
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  std::vector<EventId> out;
  for (const auto& [ns, e] : sorted) {
    if (out.size() == kMost) break;
    if (std::find(out.begin(), out.end(), e) == out.end()) out.push_back(e);
  }
  return out;
}

std::string percent_text(std::int64_t part, std::int64_t whole) {
  return percent_text(percent(part, whole));
}

std::string percent_text(double share) { return printed("%.1f %s", share, "%"); }

std::string counted(std::int64_t n, const char* one, const char* many) {
  return std::to_string(n) + " " + (n == 1 ? one : many);
}

std::string rate_text(std::int64_t count, std::int64_t steps) {
  const double rate =
      static_cast<double>(count) / static_cast<double>(std::max<std::int64_t>(steps, 1));
  const bool whole = rate >= 10 || rate == std::floor(rate);
  return printed(whole ? "%.0f%s" : "%.1f%s", rate, "");
}

std::string calls_text(std::int64_t count, std::int64_t steps) {
  const std::string rate = rate_text(count, steps);
  return rate + (rate == "1" ? " call" : " calls");
}

}  // namespace traceglass
