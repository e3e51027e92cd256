#include "libtrace/schedule.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

namespace libtrace {
namespace {

// The rules said differently: the actions of every step in turn, as a person would lay them out.
std::vector<ProfilerAction> laid_out(const Schedule& s, std::size_t steps) {
  using A = ProfilerAction;
  std::vector<A> out(static_cast<std::size_t>(s.skip_first), A::kNone);
  bool first = true;
  for (int cycle = 0; (s.repeat == 0 || cycle < s.repeat) && out.size() < steps; ++cycle) {
    if (!(first && s.skip_first_wait)) out.insert(out.end(), std::size_t(s.wait), A::kNone);
    first = false;
    out.insert(out.end(), std::size_t(s.warmup), A::kWarmup);
    out.insert(out.end(), std::size_t(s.active - 1), A::kRecord);
    out.push_back(A::kRecordAndSave);
  }
  out.resize(steps, A::kNone);
  return out;
}

TEST(Schedule, MatchesTheModelOnASmallGrid) {
  constexpr std::size_t kSteps = 40;
  for (int wait = 0; wait <= 3; ++wait) {
    for (int warmup = 0; warmup <= 3; ++warmup) {
      for (int active = 1; active <= 3; ++active) {
        for (int repeat = 0; repeat <= 3; ++repeat) {
          for (int skip = 0; skip <= 3; ++skip) {
            for (const bool skip_wait : {false, true}) {
              const Schedule s = Schedule::make({wait, warmup, active, repeat, skip, skip_wait});
              const auto expected = laid_out(s, kSteps);
              for (std::size_t step = 0; step < kSteps; ++step) {
                ASSERT_EQ(s(step), expected[step])
                    << "wait " << wait << " warmup " << warmup << " active " << active << " repeat "
                    << repeat << " skip " << skip << (skip_wait ? " skip_wait" : "") << " step "
                    << step;
              }
            }
          }
        }
      }
    }
  }
}

TEST(Schedule, RefusesWhatTorchRefuses) {
  EXPECT_THROW(Schedule::make({.wait = -1, .warmup = 0, .active = 1}), std::invalid_argument);
  EXPECT_THROW(Schedule::make({.wait = 0, .warmup = -1, .active = 1}), std::invalid_argument);
  EXPECT_THROW(Schedule::make({.wait = 1, .warmup = 1, .active = 0}), std::invalid_argument);
  EXPECT_THROW(Schedule::make({.active = 1, .repeat = -1}), std::invalid_argument);
  EXPECT_THROW(Schedule::make({.active = 1, .skip_first = -1}), std::invalid_argument);
  EXPECT_NO_THROW(Schedule::make({.active = 1}));
}

TEST(Schedule, UncheckedNonsenseRecordsNothing) {
  const Schedule none{.wait = 1, .warmup = 1, .active = 0};
  for (std::uint64_t step = 0; step < 5; ++step) EXPECT_EQ(none(step), ProfilerAction::kNone);
}

TEST(Schedule, HoldsForVeryLargeSteps) {
  const Schedule s = Schedule::make({.wait = 1, .warmup = 1, .active = 2});
  EXPECT_EQ(s((std::uint64_t{1} << 62) + 3), ProfilerAction::kRecordAndSave);
}

}  // namespace
}  // namespace libtrace
