// What can be asked of a Profiler on this machine.
#pragma once

#include "libtrace/profile.h"

namespace libtrace {

// CUDA's activities where its driver is installed. Looks for the library only and starts nothing,
// so that processes forked later can still use the GPU; whether recording works, the first trace
// says.
Activities supported_activities() noexcept;

}  // namespace libtrace
