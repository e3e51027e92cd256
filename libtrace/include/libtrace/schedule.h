// Which steps of a training loop are recorded: torch.profiler's schedule.
#pragma once

#include <cstdint>
#include <functional>

namespace libtrace {

enum class ProfilerAction : std::uint8_t { kNone, kWarmup, kRecord, kRecordAndSave };

// Any function of the step number may stand in for a Schedule.
using ScheduleFn = std::function<ProfilerAction(std::uint64_t step)>;

// Skips `skip_first` steps, then repeats cycles of `wait` idle, `warmup` prepared and `active`
// recorded steps, the last of which saves. `repeat` 0 repeats for ever. `skip_first_wait` leaves
// out the first cycle's wait.
struct Schedule {
  int wait = 0;
  int warmup = 0;
  int active = 0;
  int repeat = 0;
  int skip_first = 0;
  bool skip_first_wait = false;

  // Checks the numbers (active > 0, the others >= 0); throws std::invalid_argument.
  static Schedule make(Schedule schedule);

  // Pure. A schedule that `make` would refuse answers kNone.
  ProfilerAction operator()(std::uint64_t step) const noexcept;
};

// torch.profiler.schedule; throws std::invalid_argument.
inline Schedule schedule(int wait, int warmup, int active, int repeat = 0, int skip_first = 0,
                         bool skip_first_wait = false) {
  Schedule s;
  s.wait = wait;
  s.warmup = warmup;
  s.active = active;
  s.repeat = repeat;
  s.skip_first = skip_first;
  s.skip_first_wait = skip_first_wait;
  return Schedule::make(s);
}

}  // namespace libtrace
