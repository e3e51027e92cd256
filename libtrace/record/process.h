// What the recorder keeps once a process: which Profiler runs, and what a fork does to it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <mutex>
#include <string>

namespace libtrace::detail {

// Registers the fork handlers, once.
void install_fork_handlers();

// Makes `profiler` the one that runs; false when another one does.
bool claim_recorder(const void* profiler) noexcept;
void release_recorder(const void* profiler) noexcept;

// Grows by one in the child of every fork. A session of an earlier number is the parent's.
std::uint64_t fork_count() noexcept;

// A lock that another thread of the parent may hold as it forks, and the child needs. Held for
// moments only, and nothing forks meanwhile.
void hold_at_fork(std::mutex& mutex);
void no_longer_hold_at_fork(std::mutex& mutex) noexcept;

// What a thread of this process is called now; "" when it is gone.
std::string thread_name(pid_t tid);

}  // namespace libtrace::detail
