#include "tb_backend/timeline/busy_lanes.h"

#include <gmock/gmock.h>

#include <numeric>

#include "tests/tb_backend/timeline/trace_maker.h"

namespace traceglass {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using testing::TraceMaker;

TEST(BusyLanes, ShareOfEachPartAndWhatFillsIt) {
  TraceMaker m;
  m.slice("kernel", "k", 0, 100, "0", "7");
  m.slice("gpu_memcpy", "c", 150, 50, "0", "7");
  m.slice("kernel", "k", 300, 100, "0", "7");
  m.slice("kernel", "k", 350, 50, "0", "8");
  const BusyLanes lanes = busy_lanes(Timeline(m.finish()), 4);
  EXPECT_FALSE(lanes.host);
  ASSERT_TRUE(lanes.device);
  EXPECT_THAT(lanes.device->share, ElementsAre(DoubleNear(1, 0.01), DoubleNear(0.5, 0.01),
                                               DoubleNear(0, 0.01), DoubleNear(1.5, 0.01)));
  EXPECT_THAT(lanes.device->kind, ElementsAre(3, 4, 0, 3));
  EXPECT_THAT(lanes.kinds, ElementsAre(3, 4));
}

TEST(BusyLanes, OfAStepWhatIsInsideItCounts) {
  TraceMaker m;
  m.slice("user_annotation", "ProfilerStep#1", 0, 200);
  m.slice("cpu_op", "a", 0, 50);
  m.slice("cpu_op", "b", 300, 100);  // outside of a step: itself
  const Timeline t(m.finish());
  EXPECT_EQ(t.groups()[0].step_rows, 0U);  // the first row has more than steps
  const BusyLanes lanes = busy_lanes(t, 4);
  ASSERT_TRUE(lanes.host);
  EXPECT_THAT(lanes.host->share, ElementsAre(DoubleNear(0.5, 0.01), DoubleNear(0, 0.01),
                                             DoubleNear(0, 0.01), DoubleNear(1, 0.01)));
}

TEST(BusyLanes, RowsOfStepsAreCounted) {
  TraceMaker m;
  m.slice("user_annotation", "ProfilerStep#1", 0, 200);
  m.slice("user_annotation", "ProfilerStep#2", 200, 200);
  m.slice("cpu_op", "a", 10, 50);
  EXPECT_EQ(Timeline(m.finish()).groups()[0].step_rows, 1U);
}

// The law: over all columns, covered time is that of the rows, however they fold.
TEST(BusyLanes, ConserveTime) {
  for (unsigned seed = 0; seed < 8; ++seed) {
    const auto trace = testing::random_trace(seed, 3000);
    const Timeline t(trace);
    double expected = 0;
    const auto range = trace->range();
    for (const Group& g : t.groups()) {
      if (g.type != GroupType::kDevice) continue;
      for (const Row& row : g.rows) {
        std::vector<std::pair<std::int64_t, std::int64_t>> ranges;
        for (const libtrace::EventId e : row.ids()) {
          const std::int64_t start = std::max(range.start, trace->start(e));
          ranges.emplace_back(start, std::max(start, std::min(range.end, trace->end(e))));
        }
        expected += static_cast<double>(testing::union_length(ranges));
      }
    }
    const BusyLanes lanes = busy_lanes(t, 100);
    ASSERT_TRUE(lanes.device);
    const double sum = std::accumulate(lanes.device->share.begin(), lanes.device->share.end(), 0.0);
    const double length = static_cast<double>(range.length());
    EXPECT_NEAR(sum / 100 * length, expected, 0.005 * expected + 1) << "seed " << seed;
  }
}

TEST(BusyLanes, NothingAndOneInstant) {
  TraceMaker none;
  EXPECT_FALSE(busy_lanes(Timeline(none.finish()), 10).host);
  TraceMaker one;
  one.slice("cpu_op", "a", 5, 0);
  const BusyLanes lanes = busy_lanes(Timeline(one.finish()), 10);
  ASSERT_TRUE(lanes.host);
  EXPECT_EQ(lanes.host->share.size(), 10U);
}

}  // namespace
}  // namespace traceglass
