#include "tb_backend/timeline/track_list.h"

#include <gmock/gmock.h>

#include "tests/tb_backend/timeline/trace_maker.h"

namespace traceglass {
namespace {

using ::testing::ElementsAre;
using testing::TraceMaker;

// Four threads with 1 to 4 calls, two streams with 1 and 2 kernels.
Timeline some_tracks() {
  TraceMaker m;
  for (int thread = 1; thread <= 4; ++thread) {
    for (int n = 0; n < thread; ++n) {
      m.slice("cpu_op", "a", 10 * n, 5, "100", std::to_string(1000 + thread));
    }
  }
  m.slice("kernel", "k", 5, 5, "0", "7");
  m.slice("kernel", "k", 5, 5, "0", "8");
  m.slice("kernel", "k", 15, 5, "0", "8");
  return Timeline(m.finish());
}

std::vector<std::size_t> events_of(const Timeline& t, const TrackPage& page) {
  std::vector<std::size_t> out;
  for (const std::uint32_t id : page.groups) out.push_back(t.groups()[id].events);
  std::sort(out.begin(), out.end());
  return out;
}

TEST(TrackList, TheBusiestComeFirstAndDevicesBesideThreads) {
  const Timeline t = some_tracks();
  ASSERT_EQ(t.groups().size(), 6U);
  const TrackPage first = find_tracks(t, "", 0, 3);
  EXPECT_EQ(first.total, 6U);
  EXPECT_THAT(events_of(t, first), ElementsAre(1, 2, 4));  // both streams, one thread
  EXPECT_TRUE(std::is_sorted(first.groups.begin(), first.groups.end()));
  EXPECT_THAT(events_of(t, find_tracks(t, "", 3, 3)), ElementsAre(1, 2, 3));
  EXPECT_TRUE(find_tracks(t, "", 6, 3).groups.empty());
}

TEST(TrackList, ATextIsLookedForInEveryLabel) {
  const Timeline t = some_tracks();
  EXPECT_EQ(find_tracks(t, "STREAM", 0, 9).total, 2U);
  EXPECT_EQ(find_tracks(t, "1003", 0, 9).total, 1U);
  EXPECT_EQ(find_tracks(t, "no such", 0, 9).total, 0U);
}

TEST(TrackList, PagesHoldEveryTrackOnce) {
  TraceMaker m;
  for (int thread = 0; thread < 1000; ++thread) {
    m.slice("cpu_op", "a", thread, 5, "100", std::to_string(1000 + thread));
  }
  const Timeline t(m.finish());
  std::vector<bool> seen(t.groups().size());
  for (std::size_t from = 0; from < t.groups().size(); from += 77) {
    for (const std::uint32_t id : find_tracks(t, "", from, 77).groups) {
      EXPECT_FALSE(seen[id]);
      seen[id] = true;
    }
  }
  EXPECT_EQ(std::count(seen.begin(), seen.end(), true), 1000);
}

}  // namespace
}  // namespace traceglass
