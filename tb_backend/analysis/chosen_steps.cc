#include "tb_backend/analysis/chosen_steps.h"

#include <algorithm>

namespace traceglass {

ChosenSteps::ChosenSteps(const Selection& selection)
    : steps_(selection.steps()), first_(0), last_(selection.steps().size()), hint_(0) {
  while (first_ < last_ && !selection.selected(first_)) ++first_;
  while (first_ < last_ && !selection.selected(last_ - 1)) --last_;
  hint_ = first_;
  whole_ = first_ < last_ && steps_[first_].synthetic;
}

std::size_t ChosenSteps::of(const libtrace::Trace& trace, libtrace::EventId e) {
  if (first_ == last_) return kOutside;
  if (whole_) return first_;
  if (!libtrace::is_device_work(trace.kind(e))) return find(&Step::host, trace.start(e));
  const libtrace::EventId launch = trace.launch(e);
  if (launch == libtrace::kNone) return find(&Step::extended, trace.start(e));
  return find(&Step::host, trace.start(launch));
}

std::size_t ChosenSteps::find(libtrace::TimeRange Step::* range, std::int64_t at) {
  const auto holds = [&](std::size_t i) {
    return (steps_[i].*range).start <= at && at < (steps_[i].*range).end;
  };
  if (holds(hint_)) return hint_;
  const auto begin = steps_.begin() + static_cast<std::ptrdiff_t>(first_);
  const auto end = steps_.begin() + static_cast<std::ptrdiff_t>(last_);
  const auto behind = std::upper_bound(
      begin, end, at, [&](std::int64_t t, const Step& s) { return t < (s.*range).start; });
  if (behind == begin) return kOutside;
  const auto found = static_cast<std::size_t>(std::prev(behind) - steps_.begin());
  if (!holds(found)) return kOutside;
  return hint_ = found;
}

}  // namespace traceglass
