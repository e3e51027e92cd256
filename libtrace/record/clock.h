// The recorder's clock: the time stamp counter where the kernel itself trusts it, else
// clock_gettime; and how its ticks become Unix nanoseconds.
#pragma once

#include <atomic>
#include <cstdint>
#include <ctime>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace libtrace {

enum class ClockSource : std::uint8_t { kMonotonic, kTsc };

namespace detail {
// Set once before the first window; scopes only read it.
extern constinit std::atomic<bool> use_tsc;

inline std::uint64_t monotonic_ns() noexcept {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000U +
         static_cast<std::uint64_t>(t.tv_nsec);
}

// Never 0. 9.6 ns with the counter, 23 ns without (two cores of an EPYC under KVM).
inline std::uint64_t ticks() noexcept {
#if defined(__x86_64__)
  if (use_tsc.load(std::memory_order_relaxed)) [[likely]]
    return __rdtsc();
#endif
  return monotonic_ns();
}

// The same, not reordered with what stands before and after it: for the edges of a window.
inline std::uint64_t ordered_ticks() noexcept {
#if defined(__x86_64__)
  if (use_tsc.load(std::memory_order_relaxed)) {
    _mm_lfence();
    const std::uint64_t t = __rdtsc();
    _mm_lfence();
    return t;
  }
#endif
  return monotonic_ns();
}
}  // namespace detail

// The counter's invariant bit, and the kernel's own choice of it as clock source.
bool tsc_is_trustworthy() noexcept;
// Chooses for the process; kMonotonic always works. Not while a window is open.
void select_clock(ClockSource source) noexcept;
// The best one, chosen at the first call.
void select_best_clock() noexcept;

// The same instant on both clocks, and how far apart the readings may be.
struct ClockPair {
  std::uint64_t ticks = 0;
  std::int64_t unix_ns = 0;
};
// The closest of many readings: a few ns of error for about 10 us.
ClockPair read_clock_pair() noexcept;

// Ticks of one window to Unix ns, by its two ends. When the wall clock was set meanwhile, or the
// window is too short for two readings to give a rate, the rate of the process holds instead.
class ClockMap {
 public:
  // Anchors the process rate; about 1 ms at the first call.
  static double process_ns_per_tick() noexcept;

  ClockMap(const ClockPair& start, const ClockPair& end, double ns_per_tick) noexcept;

  [[nodiscard]] std::int64_t unix_ns(std::uint64_t ticks) const noexcept;
  // What the wall clock jumped by during the window; 0 below 1 ms.
  [[nodiscard]] std::int64_t jump_ns() const noexcept { return jump_ns_; }

 private:
  ClockPair start_;
  std::uint64_t scale_ = 0;  // ns per tick, times 2^kShift
  std::int64_t jump_ns_ = 0;
};

}  // namespace libtrace
