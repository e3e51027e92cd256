#include "libtrace/record/clock.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace libtrace {
namespace {

std::int64_t realtime() {
  timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

void spin(std::int64_t ns) {
  const std::uint64_t until = detail::monotonic_ns() + static_cast<std::uint64_t>(ns);
  while (detail::monotonic_ns() < until) {
  }
}

void check_source(ClockSource source) {
  select_clock(source);
  const double rate = source == ClockSource::kTsc ? ClockMap::process_ns_per_tick() : 1.0;
  const ClockPair start = read_clock_pair();
  spin(3'000'000);
  const std::int64_t before = realtime();
  const std::uint64_t ticks = detail::ordered_ticks();
  const std::int64_t after = realtime();
  spin(3'000'000);
  const ClockMap map(start, read_clock_pair(), rate);
  // Between two readings of the wall clock, give or take what a pair is off.
  EXPECT_GE(map.unix_ns(ticks), before - 2'000);
  EXPECT_LE(map.unix_ns(ticks), after + 2'000);
  EXPECT_EQ(map.jump_ns(), 0);
}

TEST(Clock, MonotonicBecomesUnixTime) { check_source(ClockSource::kMonotonic); }

TEST(Clock, CounterBecomesUnixTime) {
  if (!tsc_is_trustworthy()) GTEST_SKIP() << "no trustworthy time stamp counter here";
  check_source(ClockSource::kTsc);
}

TEST(Clock, InterpolatesBetweenTheEnds) {
  const ClockMap map({1'000, 5'000'000'000}, {11'001'000, 5'011'000'000}, 1.0);
  EXPECT_EQ(map.unix_ns(1'000), 5'000'000'000);
  EXPECT_EQ(map.unix_ns(501'000), 5'000'500'000);
  EXPECT_EQ(map.unix_ns(0), 4'999'999'000) << "before the start";
}

TEST(Clock, AShortWindowKeepsTheRateOfTheProcess) {
  // 100 ns apart by the wall clock, 40 by the counter: readings, not a rate.
  const ClockMap map({1'000, 5'000}, {1'040, 5'100}, 0.5);
  EXPECT_EQ(map.unix_ns(1'000 + 2'000), 5'000 + 1'000);
}

TEST(Clock, AWallClockThatIsSetIsNoticedAndNotFollowed) {
  for (const std::int64_t jump : {3'600'000'000'000LL, -3'600'000'000'000LL}) {
    const ClockMap map({0, 1'000'000'000'000'000}, {10'000'000, 1'000'000'010'000'000 + jump}, 1.0);
    EXPECT_EQ(map.jump_ns(), jump);
    EXPECT_EQ(map.unix_ns(5'000'000), 1'000'000'005'000'000);
  }
}

TEST(Clock, AWholeDayStaysExactToNanoseconds) {
  const std::int64_t day = 86'400'000'000'000;
  const ClockMap map({0, 0}, {static_cast<std::uint64_t>(day) * 26 / 10, day}, 1 / 2.6);
  EXPECT_LE(std::abs(map.unix_ns(static_cast<std::uint64_t>(day) * 13 / 10) - day / 2), 2);
}

}  // namespace
}  // namespace libtrace
