#include "libtrace/record/options.h"

#include <stdexcept>
#include <utility>

namespace libtrace::detail {

Options checked_options(Options options, bool has_devices) {
  if (options.activities.has(Activities::cuda()) && !has_devices) {
    if (options.log) {
      options.log("CUDA activities cannot be recorded here; recording goes on without");
    }
    options.activities = options.activities - Activities::cuda();
  }
  if (options.activities.empty()) {
    throw std::invalid_argument("No valid profiler activities found");
  }
  if (options.schedule && !*options.schedule) {
    throw std::invalid_argument("Empty schedule function");
  }
  if (options.schedule) {
    const auto* const schedule = options.schedule->target<Schedule>();
    if (schedule != nullptr && Schedule::make(*schedule).warmup == 0 && options.log) {
      options.log("Profiler won't be using warmup, this can skew profiler results");
    }
  }
  const auto& d = options.distributed;
  if (d && (d->rank < 0 || d->world_size < 1 || d->rank >= d->world_size)) {
    throw std::invalid_argument("Rank outside of the world");
  }
  for (const ProcessGroup& group : d ? d->groups : std::vector<ProcessGroup>()) {
    for (const int rank : group.ranks) {
      if (rank < 0 || rank >= d->world_size) {
        throw std::invalid_argument("Process group with a rank outside of the world");
      }
    }
  }
  if (options.with_flops) options.record_shapes = true;  // as torch: FLOPs follow from shapes
  return options;
}

ScheduleFn schedule_of(const Options& options) {
  if (options.schedule) return *options.schedule;
  return [](std::uint64_t) { return ProfilerAction::kRecord; };
}

}  // namespace libtrace::detail
