// The laws of host and device time, over generated traces.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "libtrace/model/intervals.h"
#include "tests/libtrace/model/generate.h"

namespace libtrace {
namespace {

class Laws : public ::testing::TestWithParam<unsigned> {
 protected:
  TracePtr trace = testing::Generator(GetParam()).trace();
  const Trace& t = *trace;

  // Innermost node at `at` by the definition: of those active the last started, shortest, latest.
  EventId innermost(const Lane& lane, std::int64_t at) {
    EventId best = kNone;
    for (EventId e = lane.first; e < lane.last; ++e) {
      if (!is_host_tree(t.kind(e)) || t.suspect(e)) continue;
      if (t.start(e) > at || t.end(e) <= at) continue;
      const auto key = [&](EventId x) { return std::tuple(t.start(x), -t.dur(x), t.order(x)); };
      if (best == kNone || key(e) > key(best)) best = e;
    }
    return best;
  }
};

TEST_P(Laws, SelfTimeIsNeverNegativeAndSumsToTheUnion) {
  for (const Lane& lane : t.lanes()) {
    if (lane.domain != Domain::kHost) continue;
    std::int64_t self = 0;
    std::vector<TimeRange> ranges;
    for (EventId e = lane.first; e < lane.last; ++e) {
      ASSERT_GE(t.self(e), 0);
      if (!is_host_tree(t.kind(e)) || t.suspect(e)) continue;
      self += t.self(e);
      ranges.push_back({t.start(e), t.end(e)});
    }
    EXPECT_EQ(self, length(united(ranges)));
  }
}

TEST_P(Laws, SelfTimeIsTheInnermostTimeOfEachInstant) {
  for (const Lane& lane : t.lanes()) {
    if (lane.domain != Domain::kHost || lane.first == lane.last) continue;
    std::map<EventId, std::int64_t> expected;
    for (std::int64_t at = -50; at < 3000; ++at) {
      if (const EventId e = innermost(lane, at); e != kNone) ++expected[e];
    }
    for (EventId e = lane.first; e < lane.last; ++e) {
      if (!is_host_tree(t.kind(e)) || t.suspect(e) || t.end(e) > 3000) continue;
      EXPECT_EQ(t.self(e), expected[e]) << t.name(e) << " at " << t.start(e);
    }
  }
}

TEST_P(Laws, ParentsContainTheirChildrenAndComeFirst) {
  for (EventId e = 0; e < t.size(); ++e) {
    const EventId p = t.parent(e);
    if (p == kNone) {
      EXPECT_EQ(t.depth(e), 0);
      continue;
    }
    EXPECT_LT(p, e);
    EXPECT_EQ(t.lane_of(p), t.lane_of(e));
    EXPECT_LE(t.start(p), t.start(e));
    EXPECT_GE(t.end(p), t.end(e));
    EXPECT_EQ(t.depth(e), t.depth(p) + 1);
  }
}

TEST_P(Laws, AnEventWithoutAParentLiesInNoOpenRange) {
  for (EventId e = 0; e < t.size(); ++e) {
    if (!is_host_tree(t.kind(e)) || t.suspect(e) || t.parent(e) != kNone) continue;
    const Lane& lane = t.lanes()[t.lane_of(e)];
    for (EventId o = lane.first; o < e; ++o) {
      if (!is_host_tree(t.kind(o)) || t.suspect(o)) continue;
      EXPECT_FALSE(t.start(o) <= t.start(e) && t.end(o) > t.start(e) && t.end(o) >= t.end(e))
          << t.name(o) << " contains " << t.name(e);
    }
  }
}

TEST_P(Laws, OutermostMeansNoAncestorOfTheNameAndKind) {
  for (EventId e = 0; e < t.size(); ++e) {
    if (!is_host_tree(t.kind(e)) || t.suspect(e)) continue;
    bool nested = false;
    for (EventId a = t.parent(e); a != kNone; a = t.parent(a)) {
      nested = nested || (t.name_id(a) == t.name_id(e) && t.kind(a) == t.kind(e));
    }
    EXPECT_EQ((t.flags(e) & flag::kOutermost) != 0, !nested);
  }
}

TEST_P(Laws, OwnersAreTheInnermostOpsAroundTheLaunch) {
  for (EventId e = 0; e < t.size(); ++e) {
    if (t.launch(e) == kNone) continue;
    const EventId launch = t.launch(e);
    EventId op = kNone;
    const Lane& lane = t.lanes()[t.lane_of(launch)];
    const auto key = [&](EventId x) { return std::tuple(t.start(x), -t.dur(x), t.order(x)); };
    for (EventId o = lane.first; o < lane.last; ++o) {
      if (t.kind(o) != Kind::kOp || t.suspect(o)) continue;
      if (t.start(o) > t.start(launch) || t.end(o) <= t.start(launch)) continue;
      if (op == kNone || key(o) > key(op)) op = o;
    }
    EXPECT_EQ(t.owner(e), op);
  }
}

TEST_P(Laws, CrossingsAreCountedByTheDefinition) {
  std::int64_t crossings = 0;
  for (EventId e = 0; e < t.size(); ++e) {
    if (!is_host_tree(t.kind(e)) || t.suspect(e)) continue;
    const Lane& lane = t.lanes()[t.lane_of(e)];
    for (EventId o = lane.first; o < e; ++o) {
      if (!is_host_tree(t.kind(o)) || t.suspect(o)) continue;
      if (t.end(o) > t.start(e) && t.end(o) < t.end(e)) {
        ++crossings;
        break;
      }
    }
  }
  EXPECT_EQ(t.report().count("crossing"), crossings);
}

TEST_P(Laws, LanesAreSortedAndPartitionTheSlices) {
  std::size_t covered = 0;
  for (LaneId id = 0; id < t.lanes().size(); ++id) {
    const Lane& lane = t.lanes()[id];
    covered += lane.last - lane.first;
    for (EventId e = lane.first; e < lane.last; ++e) {
      EXPECT_EQ(t.lane_of(e), id);
      if (e == lane.first) continue;
      EXPECT_LE(std::tuple(t.start(e - 1), -t.dur(e - 1), t.order(e - 1)),
                std::tuple(t.start(e), -t.dur(e), t.order(e)));
    }
  }
  EXPECT_EQ(covered, t.size());
}

INSTANTIATE_TEST_SUITE_P(Seeds, Laws, ::testing::Range(0U, 40U));

}  // namespace
}  // namespace libtrace
