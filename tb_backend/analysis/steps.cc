#include "tb_backend/analysis/steps.h"

#include <algorithm>
#include <charconv>

namespace traceglass {

using libtrace::EventId;
using libtrace::TimeRange;
using libtrace::Trace;

namespace {

std::int64_t number_of(std::string_view name) {
  std::int64_t n = 0;
  const auto hash = name.find('#');
  std::from_chars(name.data() + hash + 1, name.data() + name.size(), n);
  return n;
}

// Grows each step to the last end of the device work launched in it, one after another.
void extend(const Trace& trace, std::vector<Step>& steps) {
  struct Work {
    std::int64_t launch, end;
  };
  std::vector<Work> work;
  for (EventId e = 0; e < trace.size(); ++e) {
    if (!libtrace::is_device_work(trace.kind(e)) || trace.suspect(e)) continue;
    if (const EventId launch = trace.launch(e); launch != libtrace::kNone) {
      work.push_back({trace.start(launch), trace.end(e)});
    }
  }
  std::sort(work.begin(), work.end(),
            [](const Work& a, const Work& b) { return a.launch < b.launch; });
  std::int64_t previous_end = INT64_MIN;
  // What an earlier step has launched ended before the end of that: nested ones need not look
  // again.
  auto w = work.begin();
  for (Step& step : steps) {
    step.extended.start = std::max(step.host.start, previous_end);
    step.extended.end = std::max(step.extended.start, step.host.end);
    w = std::lower_bound(w, work.end(), step.host.start,
                         [](const Work& x, std::int64_t t) { return x.launch < t; });
    for (; w != work.end() && w->launch < step.host.end; ++w) {
      step.extended.end = std::max(step.extended.end, w->end);
    }
    previous_end = step.extended.end;
  }
}

}  // namespace

std::vector<Step> find_steps(const Trace& trace) {
  std::vector<Step> steps;
  for (EventId e = 0; e < trace.size(); ++e) {
    if ((trace.flags(e) & libtrace::flag::kStep) == 0 || trace.suspect(e)) continue;
    Step step;
    step.name = trace.name(e);
    step.index = number_of(step.name);
    step.incomplete = (trace.flags(e) & libtrace::flag::kUnfinished) != 0;
    step.host = {trace.start(e), trace.end(e)};
    steps.push_back(std::move(step));
  }
  std::stable_sort(steps.begin(), steps.end(),
                   [](const Step& a, const Step& b) { return a.host.start < b.host.start; });
  if (steps.empty()) {
    const bool any = std::any_of(trace.lanes().begin(), trace.lanes().end(),
                                 [](const libtrace::Lane& l) { return l.first < l.last; });
    if (!any || trace.range() == TimeRange{}) return steps;
    Step whole;
    whole.synthetic = true;
    whole.host = whole.extended = trace.range();
    steps.push_back(std::move(whole));
    return steps;
  }
  extend(trace, steps);
  if (trace.report().count("incomplete") > 0) steps.back().incomplete = true;
  return steps;
}

Selection Selection::everything(std::vector<Step> steps) {
  Selection s;
  s.last_ = steps.size();
  s.steps_ = std::move(steps);
  return s;
}

Selection Selection::of(std::vector<Step> steps, std::size_t first, std::size_t last) {
  Selection s = everything(std::move(steps));
  if (s.steps_.empty()) return s;
  s.last_ = std::min(last, s.steps_.size() - 1) + 1;
  s.first_ = std::min(first, s.last_ - 1);
  s.all_ = s.first_ == 0 && s.last_ == s.steps_.size();
  return s;
}

bool Selection::contains(std::int64_t at) const {
  if (all_) return true;
  const auto begin = steps_.begin() + static_cast<std::ptrdiff_t>(first_);
  const auto end = steps_.begin() + static_cast<std::ptrdiff_t>(last_);
  // Extended steps do not overlap and stand in order.
  const auto behind = std::upper_bound(
      begin, end, at, [](std::int64_t t, const Step& s) { return t < s.extended.start; });
  return behind != begin && at < std::prev(behind)->extended.end;
}

TimeRange Selection::range(const Trace& trace) const {
  if (steps_.empty()) return trace.range();
  return {steps_[first_].extended.start, steps_[last_ - 1].extended.end};
}

}  // namespace traceglass
