#include "tb_backend/timeline/digest.h"

#include <gtest/gtest.h>

#include <cstring>
#include <set>

#include "tests/tb_backend/timeline/trace_maker.h"

namespace traceglass {
namespace {

using testing::TraceMaker;

struct Head {
  int k = 0;
  std::int64_t i = 0;
  std::uint32_t size = 0;
};

std::vector<Head> heads(const std::string& tiles) {
  std::vector<Head> out;
  for (std::size_t at = 0; at < tiles.size();) {
    const auto read = [&](std::size_t offset, auto value) {
      std::memcpy(&value, tiles.data() + at + offset, sizeof value);
      return value;
    };
    out.push_back({read(6, std::uint16_t{}), read(8, std::int64_t{}), read(20, std::uint32_t{})});
    at += read(28, std::uint32_t{});
  }
  return out;
}

// 900 kernels of 600 ns, one each 1.1 µs.
Timeline spread_out() {
  TraceMaker m;
  for (int n = 0; n < 900; ++n) m.slice("kernel", "k", 1100 * n, 600, "0", "7");
  return Timeline(m.finish());
}

TEST(Digest, WholeTraceCoarselyThenTheFocusUntilNothingIsFolded) {
  const Timeline timeline = spread_out();
  Digest digest(timeline, {500'000, 510'000});
  std::vector<std::vector<Head>> levels;
  while (const auto level = digest.next(SIZE_MAX)) levels.push_back(heads(*level));
  ASSERT_FALSE(levels.empty());
  // 989,500 ns are within tile 0 of k = 10 (1,048,576 ns); one coarser is there too.
  EXPECT_EQ(levels[0][0].k, 11);
  EXPECT_EQ(levels[1][0].k, 10);
  EXPECT_EQ(levels[1].size(), 1U);
  EXPECT_EQ(levels[1][0].size, 900U);  // 600 ns in buckets of 1024: each alone in its own
  EXPECT_EQ(levels.size(), 2U);        // nothing is folded: no finer level says more
  EXPECT_TRUE(digest.exact());
  EXPECT_EQ(digest.level(), 10);
}

TEST(Digest, FinerLevelsHoldTheFocusAlone) {
  TraceMaker m;
  for (int n = 0; n < 20'000; ++n) m.slice("kernel", "k", 100 * n, 30, "0", "7");
  const Timeline timeline(m.finish());
  Digest digest(timeline, {1'000'000, 1'010'000});
  std::set<int> levels;
  int finest_tiles = 0;
  while (const auto level = digest.next(SIZE_MAX)) {
    levels.insert(digest.level());
    finest_tiles = static_cast<int>(heads(*level).size());
    if (digest.level() <= 6) {  // 31 tiles hold the whole: only those of the focus are there
      for (const Head& head : heads(*level)) {
        const std::int64_t width = std::int64_t{1024} << head.k;
        EXPECT_GT((head.i + 1) * width, 1'000'000);
        EXPECT_LT(head.i * width, 1'010'000);
      }
    }
  }
  EXPECT_TRUE(digest.exact());
  EXPECT_EQ(*levels.begin(), 6);  // 30 ns in buckets of 64: at most one starts in each
  EXPECT_EQ(finest_tiles, 1);
}

TEST(Digest, StopsWhereALevelDoesNotFit) {
  const Timeline timeline = spread_out();
  Digest digest(timeline, {500'000, 510'000});
  EXPECT_FALSE(digest.next(100));
}

TEST(Digest, AnEmptyFocusAndOneOutsideOfTheTraceAreNoTrouble) {
  const Timeline timeline = spread_out();
  for (const libtrace::TimeRange focus :
       {libtrace::TimeRange{-5, -5}, {INT64_MIN, INT64_MIN + 1}, {INT64_MAX - 1, INT64_MAX}}) {
    Digest digest(timeline, focus);
    int levels = 0;
    while (digest.next(SIZE_MAX)) ++levels;
    EXPECT_EQ(levels, 2);
  }
}

TEST(LongestSlices, TheLongestThatStartInTheRange) {
  TraceMaker m;
  m.slice("kernel", "before", 0, 900, "0", "7");
  m.slice("kernel", "short", 1000, 10, "0", "7");
  m.slice("kernel", "long", 1100, 300, "0", "7");
  m.slice("kernel", "longer", 1500, 400, "0", "7");
  const libtrace::TracePtr trace = m.finish();
  const auto found = longest_slices(*trace, {1000, 2000}, 2);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(trace->name(found[0]), "longer");
  EXPECT_EQ(trace->name(found[1]), "long");
}

}  // namespace
}  // namespace traceglass
