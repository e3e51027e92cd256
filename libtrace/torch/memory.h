// Allocations of torch's own allocators.
#pragma once

namespace libtrace::torch_adapter {

// Lets this thread's allocations come to the recorder, and those of what inherits its state
// (backward, tasks). False: torch's own profiler holds the place.
bool watch_memory_here();
// Gives the place back, where that can be done.
void leave_memory_here() noexcept;

// Whether torch's own profiler runs on this thread.
bool torch_profiles_here();

}  // namespace libtrace::torch_adapter
