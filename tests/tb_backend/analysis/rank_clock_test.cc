#include "tb_backend/analysis/rank_clock.h"

#include <gtest/gtest.h>

#include <random>

namespace traceglass {
namespace {

TEST(RankClock, RanksOfOneCollectiveLeaveItTogether) {
  // Rank 1 is 1000 ahead but for one odd end; rank 2 is 50 behind.
  const RankClocks c = tie_clocks(3, 3,
                                  {{0, 0, 100},
                                   {0, 1, 200},
                                   {0, 2, 300},
                                   {1, 0, 1100},
                                   {1, 1, 1200},
                                   {1, 2, 1307},
                                   {2, 1, 150}});
  EXPECT_EQ(c.ahead_ns, (std::vector<std::int64_t>{0, 1000, -50}));
  EXPECT_EQ(c.residual_ns, 7);
  EXPECT_EQ(c.samples, 3U);
  EXPECT_EQ(c.tied, (std::vector<bool>{true, true, true}));
}

TEST(RankClock, ClocksHangTogetherOverAnyNumberOfRanks) {
  // A pipeline: 0–1, 1–2, 2–3, each 10 ahead of the one before. Rank 4 is alone.
  const RankClocks c = tie_clocks(
      5, 4,
      {{0, 0, 100}, {1, 0, 110}, {1, 1, 210}, {2, 1, 220}, {2, 2, 320}, {3, 2, 330}, {4, 3, 5}});
  EXPECT_EQ(c.ahead_ns, (std::vector<std::int64_t>{0, 10, 20, 30, 0}));
  EXPECT_EQ(c.residual_ns, 0);
  EXPECT_EQ(c.tied, (std::vector<bool>{true, true, true, true, false}));
}

TEST(RankClock, NothingToTie) {
  EXPECT_EQ(tie_clocks(0, 0, {}).samples, 0U);
  const RankClocks one = tie_clocks(1, 1, {{0, 0, 5}});
  EXPECT_EQ(one.ahead_ns, (std::vector<std::int64_t>{0}));
  EXPECT_EQ(one.tied, (std::vector<bool>{false}));
}

// Any offsets come back exactly, whatever the groups, as long as they hang together.
TEST(RankClock, PlantedOffsetsAreFound) {
  std::mt19937_64 random(7);
  const auto below = [&](std::int64_t n) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
  };
  for (int round = 0; round < 50; ++round) {
    const auto ranks = static_cast<std::uint32_t>(2 + below(20));
    std::vector<std::int64_t> offsets{0};
    while (offsets.size() < ranks) offsets.push_back(below(600'000'000'000) - 300'000'000'000);
    std::vector<ClockSample> samples;
    std::uint32_t collectives = 0;
    for (std::uint32_t r = 1; r < ranks; ++r, ++collectives) {
      const auto other = static_cast<std::uint32_t>(below(r));
      const std::int64_t end = below(1'000'000'000);
      samples.push_back({other, collectives, end + offsets[other]});
      samples.push_back({r, collectives, end + offsets[r]});
    }
    const RankClocks c = tie_clocks(ranks, collectives, samples);
    EXPECT_EQ(c.ahead_ns, offsets);
    EXPECT_EQ(c.residual_ns, 0);
  }
}

}  // namespace
}  // namespace traceglass
