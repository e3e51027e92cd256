// The adapter for libtorch: link libtrace_torch, call this once, and every Profiler records the
// operators that the program runs, on all its threads.
//
//   libtrace::observe_torch();
//   libtrace::Options options;
//   options.record_shapes = options.profile_memory = true;
//   libtrace::Profiler profiler(options);
#pragma once

#include "libtrace/status.h"

namespace libtrace {

// From the next window on: operators with their autograd links, ranges that torch's own
// RECORD_USER_SCOPE names; with Options::record_shapes their inputs, with profile_memory
// allocations. Costs nothing while nothing records. May be called again.
//
// Torch's own profiler and this one do not run together: a window that opens on a thread where
// torch's is on records no operators, and says so in the trace (`torch_adapter`).
Status observe_torch();

}  // namespace libtrace
