#include "libtrace/cupti/device_clock.h"

#include <cmath>
#include <mutex>

#include "libtrace/record/clock.h"

namespace libtrace::cupti {
namespace {

constexpr int kShift = 40;  // 2^-40 of a ns per tick: 1 ns in 5 minutes, the same both ways

__extension__ using Wide = __int128;

struct Anchor {
  std::uint64_t ticks = 0, ns = 0;
  std::uint64_t scale = std::uint64_t{1} << kShift;  // ns per tick, times 2^kShift
};
Anchor anchor;  // written once, before CUPTI hears of the callback

}  // namespace

void start_device_clock() noexcept {
  static std::once_flag once;
  std::call_once(once, [] {
    const double rate = ClockMap::process_ns_per_tick();
    const ClockPair now = read_clock_pair();
    // Near Unix time, so that a reader of raw records knows where it is.
    anchor = {now.ticks, static_cast<std::uint64_t>(now.unix_ns),
              static_cast<std::uint64_t>(std::ldexp(rate, kShift))};
  });
}

std::uint64_t device_now() noexcept {
  const auto delta = static_cast<std::int64_t>(detail::ticks() - anchor.ticks);
  const auto ns = static_cast<std::int64_t>((Wide{delta} * Wide{anchor.scale}) >> kShift);
  return anchor.ns + static_cast<std::uint64_t>(ns);
}

std::uint64_t ticks_of_device_time(std::uint64_t ns) noexcept {
  const auto delta = static_cast<std::int64_t>(ns - anchor.ns);
  const Wide ticks = (Wide{delta} * (Wide{1} << kShift)) / Wide{anchor.scale};
  return anchor.ticks + static_cast<std::uint64_t>(static_cast<std::int64_t>(ticks));
}

}  // namespace libtrace::cupti
