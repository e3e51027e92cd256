#include "libtrace/schedule.h"

#include <stdexcept>

namespace libtrace {

Schedule Schedule::make(Schedule s) {
  if (s.wait < 0 || s.warmup < 0 || s.active <= 0 || s.repeat < 0 || s.skip_first < 0) {
    throw std::invalid_argument("Invalid profiler schedule arguments");
  }
  return s;
}

ProfilerAction Schedule::operator()(std::uint64_t step) const noexcept {
  if (wait < 0 || warmup < 0 || active <= 0 || repeat < 0 || skip_first < 0) {
    return ProfilerAction::kNone;
  }
  const auto u = [](int v) { return static_cast<std::uint64_t>(v); };
  if (step < u(skip_first)) return ProfilerAction::kNone;
  step -= u(skip_first);
  if (skip_first_wait) step += u(wait);
  const std::uint64_t length = u(wait) + u(warmup) + u(active);
  if (repeat > 0 && step >= u(repeat) * length) return ProfilerAction::kNone;
  const std::uint64_t at = step % length;
  if (at < u(wait)) return ProfilerAction::kNone;
  if (at < u(wait) + u(warmup)) return ProfilerAction::kWarmup;
  return at < length - 1 ? ProfilerAction::kRecord : ProfilerAction::kRecordAndSave;
}

}  // namespace libtrace
