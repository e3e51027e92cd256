#include "libtrace/record/clock.h"

#include <fcntl.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <mutex>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace libtrace {

namespace detail {
constinit std::atomic<bool> use_tsc{false};
}

namespace {

constexpr int kShift = 48;  // 13 bits of whole ns per tick, an error of 1 ns in 3 days
constexpr std::int64_t kJumpNs = 1'000'000;
constexpr std::int64_t kShortNs = 1'000'000;  // two readings this close give no rate

__extension__ using Wide = __int128;

std::int64_t realtime_ns() noexcept {
  timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

}  // namespace

bool tsc_is_trustworthy() noexcept {
#if defined(__x86_64__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(0x80000007, &a, &b, &c, &d) == 0 || (d & (1U << 8)) == 0) return false;
  const int fd = open("/sys/devices/system/clocksource/clocksource0/current_clocksource",
                      O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  char text[16] = {};
  const ssize_t n = read(fd, text, sizeof text - 1);
  close(fd);
  return n > 0 && std::strcmp(text, "tsc\n") == 0;
#else
  return false;
#endif
}

void select_clock(ClockSource source) noexcept {
  detail::use_tsc.store(source == ClockSource::kTsc, std::memory_order_relaxed);
}

void select_best_clock() noexcept {
  static std::once_flag once;
  std::call_once(once, [] {
    select_clock(tsc_is_trustworthy() ? ClockSource::kTsc : ClockSource::kMonotonic);
  });
}

ClockPair read_clock_pair() noexcept {
  ClockPair best;
  std::uint64_t narrowest = UINT64_MAX;
  for (int i = 0; i < 101; ++i) {
    const std::uint64_t before = detail::ordered_ticks();
    const std::int64_t unix_ns = realtime_ns();
    const std::uint64_t after = detail::ordered_ticks();
    if (after - before >= narrowest) continue;
    narrowest = after - before;
    best = {before + narrowest / 2, unix_ns};
  }
  return best;
}

double ClockMap::process_ns_per_tick() noexcept {
  static const double rate = [] {
    if (!detail::use_tsc.load(std::memory_order_relaxed)) return 1.0;
    const std::uint64_t ns = detail::monotonic_ns(), ticks = detail::ordered_ticks();
    std::uint64_t later = ns;
    while (later - ns < kShortNs) later = detail::monotonic_ns();
    return static_cast<double>(later - ns) / static_cast<double>(detail::ordered_ticks() - ticks);
  }();
  return detail::use_tsc.load(std::memory_order_relaxed) ? rate : 1.0;
}

ClockMap::ClockMap(const ClockPair& start, const ClockPair& end, double ns_per_tick) noexcept
    : start_(start) {
  double rate = ns_per_tick;
  if (end.ticks > start.ticks) {
    const auto ticks = static_cast<double>(end.ticks - start.ticks);
    const auto elapsed = static_cast<double>(end.unix_ns - start.unix_ns);
    const double expected = ticks * ns_per_tick;
    // The process rate, read over 1 ms, is good to about 1e-4.
    const double doubt = kJumpNs + expected * 1e-3;
    if (std::abs(elapsed - expected) > doubt) {
      jump_ns_ = static_cast<std::int64_t>(elapsed - expected);
    } else if (expected > kShortNs && elapsed > 0) {
      rate = elapsed / ticks;
    }
  }
  scale_ = static_cast<std::uint64_t>(std::ldexp(rate, kShift));
}

std::int64_t ClockMap::unix_ns(std::uint64_t ticks) const noexcept {
  const auto delta = static_cast<std::int64_t>(ticks - start_.ticks);  // before the start: negative
  return start_.unix_ns + static_cast<std::int64_t>((Wide{delta} * Wide{scale_}) >> kShift);
}

}  // namespace libtrace
