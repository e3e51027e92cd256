// Threads that wait for each other, found by what they did; however many there are.
#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>

#include "tb_backend/analysis/step_graph_handover.h"
#include "tests/tb_backend/analysis/rows.h"

namespace traceglass {
namespace {

using testing::Rows;

// The main thread calls backward() `count` times; each time another thread works for it.
libtrace::TracePtr many_threads(int count) {
  Rows rows;
  for (int i = 0; i < count; ++i) {
    const std::int64_t at = 100'000LL * i;
    rows.op("backward", 1, at, 90'000);
    rows.runtime(1, at + 91'000, 2'000, i + 1);
    rows.op("aten::mm", 2 + i, at + 5'000, 80'000);
  }
  rows.step(1, 1, 0, 100'000LL * count);
  return rows.trace();
}

TEST(HandOver, EachWaitIsForTheThreadThatWorkedInIt) {
  constexpr int kCount = 50;
  const auto trace = many_threads(kCount);
  const HostTiles tiles = find_host_tiles(*trace);
  const HandOvers found = find_hand_overs(*trace, tiles);
  ASSERT_EQ(found.waits.size(), static_cast<std::size_t>(kCount));
  for (const HandOvers::Wait& w : found.waits) {
    const HostTile &waits = tiles.lanes[w.lane].tiles[w.tile],
                   &works = tiles.lanes[w.from_lane].tiles[w.from_tile];
    EXPECT_EQ(works.start, waits.start + 5'000);
    EXPECT_EQ(trace->name(works.event), "aten::mm");
  }
}

TEST(HandOver, TheLastToStopOfSeveralIsWaitedFor) {
  Rows rows;
  rows.step(1, 1, 0, 200'000);
  rows.op("backward", 1, 0, 90'000).runtime(1, 95'000, 2'000, 1);
  rows.op("a", 2, 5'000, 70'000).op("b", 3, 6'000, 80'000).op("c", 4, 7'000, 60'000);
  const auto trace = rows.trace();
  const HostTiles tiles = find_host_tiles(*trace);
  const HandOvers found = find_hand_overs(*trace, tiles);
  ASSERT_EQ(found.waits.size(), 1U);
  const HandOvers::Wait& w = found.waits[0];
  EXPECT_EQ(trace->name(tiles.lanes[w.from_lane].tiles[w.from_tile].event), "b");
}

TEST(HandOver, TwiceTheThreadsTakeTwiceTheTime) {
  const auto seconds = [](int count) {
    const auto trace = many_threads(count);
    const HostTiles tiles = find_host_tiles(*trace);
    double best = 1e9;
    for (int i = 0; i < 3; ++i) {
      const std::clock_t begin = std::clock();
      EXPECT_EQ(find_hand_overs(*trace, tiles).waits.size(), static_cast<std::size_t>(count));
      best = std::min(best, static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
    }
    return best;
  };
  seconds(1'000);
  const double one = seconds(20'000), four = seconds(80'000);
  EXPECT_LT(four, 10 * one + 0.05);  // each thread with each other one: 16 times
}

}  // namespace
}  // namespace traceglass
