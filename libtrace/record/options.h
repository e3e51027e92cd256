// Options as a Profiler runs by them: torch's complaints, at set-up.
#pragma once

#include "libtrace/profile.h"

namespace libtrace::detail {

// Throws std::invalid_argument; what can be mended is, with a word to the log. `has_devices`: this
// build can record some.
Options checked_options(Options options, bool has_devices);
ScheduleFn schedule_of(const Options& options);

}  // namespace libtrace::detail
