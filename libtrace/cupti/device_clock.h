// The recorder's clock as CUPTI wants it: nanoseconds, one line for the whole process, and back.
// CUPTI places device times on the clock of its timestamp callback; with this one they need no
// translation beside the host's scopes.
#pragma once

#include <cstdint>

namespace libtrace::cupti {

// Fixes rate and zero at the first call; about 1 ms then.
void start_device_clock() noexcept;
// CUPTI's callback; also what the tests' fake asks.
std::uint64_t device_now() noexcept;
// Inverse, to the tick.
std::uint64_t ticks_of_device_time(std::uint64_t ns) noexcept;

}  // namespace libtrace::cupti
