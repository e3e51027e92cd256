// Links, search, area and counters: small traces with answers by hand, and scans that agree.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "tb_backend/timeline/area.h"
#include "tb_backend/timeline/search.h"
#include "tb_backend/timeline/timeline.h"
#include "tests/tb_backend/timeline/trace_maker.h"

namespace traceglass {
namespace {

using libtrace::EventId;
using libtrace::kNone;
using ::testing::ElementsAre;
using testing::TraceMaker;

EventId named(const libtrace::Trace& trace, std::string_view name) {
  for (EventId e = 0; e < trace.size(); ++e) {
    if (trace.name(e) == name) return e;
  }
  return kNone;
}

TEST(Links, FlowsBindToTheSliceThatStartsThere) {
  TraceMaker m;
  m.slice("cpu_op", "outer", 10, 100);
  m.slice("cpu_op", "forward", 20, 10);
  m.slice("python_function", "frame", 20, 5);
  m.slice("cpu_op", "backward", 200, 10, "100", "101");
  m.flow("fwdbwd", 1, 20, true);
  m.flow("fwdbwd", 1, 200, false, "100", "101");
  m.flow("fwdbwd", 2, 20, true);  // nobody at the other end
  m.flow("ac2g", 3, 20, true);    // launches come from correlation
  m.flow("ac2g", 3, 200, false, "100", "101");
  m.flow("other", 4, 50, true);  // within outer, at no start
  m.flow("other", 4, 205, false, "100", "101");
  const auto trace = m.finish();
  const Timeline t(trace);
  const auto out = t.links().flows_from(named(*trace, "forward"));
  ASSERT_EQ(out.size(), 1U);
  EXPECT_EQ(trace->name(out[0].to), "backward");
  EXPECT_EQ(trace->text(out[0].type), "fwdbwd");
  EXPECT_EQ(t.links().flows_to(named(*trace, "backward")).size(), 2U);
  EXPECT_EQ(t.links().flows_from(named(*trace, "outer")).size(), 1U);
  EXPECT_TRUE(t.links().linked()[named(*trace, "forward")]);
  EXPECT_FALSE(t.links().linked()[named(*trace, "frame")]);
}

TEST(Links, LaunchesOfASubtree) {
  TraceMaker m;
  m.slice("cpu_op", "op", 10, 100);
  m.kernel("k1", 20, 50, 10);
  m.kernel("k2", 60, 90, 10);
  m.kernel("k3", 150, 170, 10);
  const auto trace = m.finish();
  const Timeline t(trace);
  const EventId op = named(*trace, "op");
  const auto launches = t.links().launches(op, op + 3);
  ASSERT_EQ(launches.size(), 2U);
  EXPECT_EQ(trace->name(launches[0].to), "k1");
  EXPECT_EQ(trace->name(launches[1].to), "k2");
}

TEST(Search, FindsByTextInTimeOrder) {
  TraceMaker m;
  m.slice("cpu_op", "aten::Conv2d", 1000, 10, "100", "101");
  m.slice("cpu_op", "aten::conv2d", 10, 10);
  m.slice("kernel", "xCONVx", 500, 10, "0", "7");
  m.slice("cpu_op", "aten::add", 700, 310);
  const auto trace = m.finish();
  const auto first = search(*trace, NamePattern("conv"), std::nullopt, true);
  EXPECT_EQ(first.total, 3);
  EXPECT_EQ(first.position, 1);
  EXPECT_EQ(trace->start(first.hit), 10);
  EXPECT_EQ(std::accumulate(first.bins.begin(), first.bins.end(), std::int64_t{0}), 3);
  EXPECT_EQ(first.bins[0], 1);
  const auto second = search(*trace, NamePattern("conv"), first.hit, true);
  EXPECT_EQ(trace->start(second.hit), 500);
  EXPECT_EQ(second.position, 2);
  const auto third = search(*trace, NamePattern("conv"), second.hit, true);
  EXPECT_EQ(trace->start(third.hit), 1000);
  EXPECT_EQ(search(*trace, NamePattern("conv"), third.hit, true).hit, kNone);
  EXPECT_EQ(search(*trace, NamePattern("conv"), third.hit, false).hit, second.hit);
  EXPECT_EQ(search(*trace, NamePattern("CONV"), std::nullopt, false).hit, third.hit);
  // From a slice that is no hit.
  EXPECT_EQ(search(*trace, NamePattern("conv"), named(*trace, "aten::add"), true).hit, third.hit);
  EXPECT_EQ(search(*trace, NamePattern("nothing"), std::nullopt, true).total, 0);
}

TEST(Search, ARegularExpressionStandsBetweenSlashes) {
  const auto matches = [](std::string_view pattern, std::string_view name) {
    return NamePattern(pattern).matches(name);
  };
  EXPECT_TRUE(matches("/^aten::(mm|bmm)$/", "aten::bmm"));
  EXPECT_FALSE(matches("/^aten::(mm|bmm)$/", "aten::addmm"));
  EXPECT_FALSE(matches("/MM/", "aten::mm"));
  EXPECT_TRUE(matches("/MM/i", "aten::mm"));
  EXPECT_TRUE(matches("/a/b/", "xa/by"));  // what stands between the outer ones
  EXPECT_TRUE(matches("a/b", "xA/By"));    // no expression: a text
  EXPECT_FALSE(matches("/mm", "aten::mm"));
  EXPECT_TRUE(matches("//", "a//b"));
  EXPECT_FALSE(matches("/(/", "("));
  EXPECT_NE(NamePattern("/(/").error(), "");
  // What takes other engines for ever.
  EXPECT_FALSE(matches("/^(a+)+$/", std::string(100'000, 'a') + '!'));
}

TEST(Search, TheSameNameIsStepped) {
  TraceMaker m;
  m.slice("cpu_op", "a", 10, 1);
  m.slice("cpu_op", "b", 20, 1);
  m.slice("cpu_op", "a", 30, 1, "100", "200");
  m.slice("cpu_op", "a", 30, 1, "100", "300");
  const auto trace = m.finish();
  std::vector<std::int64_t> starts;
  EventId at = named(*trace, "a");
  std::size_t steps = 0;
  for (; at != kNone && steps < 9; at = same_name(*trace, at, true), ++steps) {
    starts.push_back(trace->start(at));
  }
  EXPECT_EQ(starts, (std::vector<std::int64_t>{10, 30, 30}));
  EXPECT_EQ(same_name(*trace, named(*trace, "b"), true), kNone);
  EXPECT_EQ(same_name(*trace, named(*trace, "b"), false), kNone);
}

TEST(Area, AddsWhatLiesWithin) {
  TraceMaker m;
  m.slice("cpu_op", "a", 10, 100);
  m.slice("cpu_op", "b", 20, 10);
  m.slice("cpu_op", "b", 100, 5);
  m.slice("cpu_op", "instant", 50, 0);
  m.slice("cpu_op", "b", 300, 5);
  m.slice("cpu_op", "neg", 50, -3);
  m.slice("kernel", "k", 40, 1000, "0", "7");
  const Timeline t(m.finish());
  const std::vector<std::uint32_t> both = {0, 1};
  const Area area = aggregate(t, 25, 105, both, AreaBy::kName);
  EXPECT_EQ(area.slices, 5);
  ASSERT_EQ(area.rows.size(), 4U);
  EXPECT_EQ(area.rows[0].key, "a");
  EXPECT_EQ(area.rows[0].total, 80);
  EXPECT_EQ(area.rows[0].track, "Main thread");
  EXPECT_EQ(area.rows[1].key, "k");
  EXPECT_EQ(area.rows[1].total, 65);
  EXPECT_EQ(area.rows[1].kind, "kernel");
  EXPECT_EQ(area.rows[2].key, "b");
  EXPECT_EQ(area.rows[2].count, 2);
  EXPECT_EQ(area.rows[2].total, 10);
  EXPECT_EQ(area.rows[2].longest, 5);
  EXPECT_EQ(area.rows[3].key, "instant");
  EXPECT_EQ(area.rows[3].total, 0);
  const Area kinds = aggregate(t, 25, 105, both, AreaBy::kKind);
  ASSERT_EQ(kinds.rows.size(), 2U);
  EXPECT_EQ(kinds.rows[0].key, "op");
  EXPECT_EQ(kinds.rows[0].total, 90);
  const Area tracks = aggregate(t, 25, 105, both, AreaBy::kTrack);
  ASSERT_EQ(tracks.rows.size(), 2U);
  EXPECT_EQ(tracks.rows[1].key, "Stream 7");
  // An end before the start is no range, also where a slice spans both.
  EXPECT_TRUE(aggregate(t, 105, 25, both, AreaBy::kName).rows.empty());
}

TEST(Area, AgreesWithAScanOfAllSlices) {
  for (unsigned seed = 0; seed < 10; ++seed) {
    const auto trace = testing::random_trace(seed, 400);
    const Timeline t(trace);
    std::vector<std::uint32_t> all(t.groups().size());
    std::iota(all.begin(), all.end(), 0U);
    const auto range = trace->range();
    const std::int64_t t0 = range.start + range.length() / 3;
    const std::int64_t t1 = range.start + range.length() / 2 + 1;
    std::int64_t slices = 0;
    std::int64_t total = 0;
    for (EventId e = 0; e < trace->size(); ++e) {
      if (trace->suspect(e)) continue;
      const bool touches = trace->start(e) < t1 && (trace->end(e) > t0 || trace->start(e) >= t0);
      if (!touches) continue;
      ++slices;
      total += std::min(trace->end(e), t1) - std::max(trace->start(e), t0);
    }
    for (const AreaBy by : {AreaBy::kName, AreaBy::kKind, AreaBy::kTrack}) {
      const Area area = aggregate(t, t0, t1, all, by);
      EXPECT_EQ(area.slices, slices);
      std::int64_t sum = 0;
      for (const AreaRow& row : area.rows) sum += row.total;
      EXPECT_EQ(sum, total);
    }
  }
}

TEST(Counters, QueueCountsFromLaunchToEnd) {
  TraceMaker m;
  m.kernel("k1", 100, 200, 50);
  m.kernel("k2", 150, 250, 50);
  m.kernel("k3", 400, 450, 10);
  const Timeline t(m.finish());
  ASSERT_EQ(t.counters().size(), 1U);
  const CounterTrack& queue = t.counters()[0];
  EXPECT_EQ(queue.id, "queue:0");
  EXPECT_EQ(queue.section, "device:0");
  EXPECT_THAT(queue.at, ElementsAre(100, 150, 250, 300, 400, 460));
  EXPECT_THAT(queue.value, ElementsAre(1, 2, 1, 0, 1, 0));
}

TEST(Counters, MemoryTotalsOrSumFromZero) {
  TraceMaker m;
  m.slice("cpu_op", "op", 10, 100);
  const auto memory = [&](std::int64_t at, std::int64_t bytes, std::int32_t type, std::int32_t id,
                          std::optional<std::int64_t> total) {
    libtrace::MemoryEvent event;
    event.at = at;
    event.bytes = bytes;
    event.device_type = type;
    event.device_id = id;
    event.total_allocated = total;
    auto& b = m.builder();
    b.add_memory(event, b.intern("100"), b.intern("100"));
  };
  memory(20, 64, 0, -1, std::nullopt);
  memory(30, -16, 0, -1, std::nullopt);
  memory(20, 512, 1, 0, 5000);
  memory(40, 512, 1, 0, 5512);
  const Timeline t(m.finish());
  ASSERT_EQ(t.counters().size(), 2U);
  EXPECT_EQ(t.counters()[0].id, "allocated:cpu:-1");
  EXPECT_EQ(t.counters()[0].section, "host:100");
  EXPECT_EQ(t.counters()[0].label, "Allocated, change");
  EXPECT_THAT(t.counters()[0].value, ElementsAre(64, 48));
  EXPECT_EQ(t.counters()[1].id, "allocated:cuda:0");
  EXPECT_EQ(t.counters()[1].section, "device:0");
  EXPECT_THAT(t.counters()[1].value, ElementsAre(5000, 5512));
}

TEST(Counters, RowsOfTheFile) {
  TraceMaker m;
  m.slice("cpu_op", "op", 10, 100);
  auto& b = m.builder();
  libtrace::TraceBuilder::Row row;
  row.name = b.intern("power");
  row.pid = b.intern("100");
  row.tid = b.intern("100");
  row.start = 20;
  b.arg("watts", libtrace::Value::real(1.5));
  b.arg("note", libtrace::Value::string("x"));
  b.add_instant(row, 'C');
  row.start = 30;
  b.arg("watts", libtrace::Value::integer(3));
  b.add_instant(row, 'C');
  const Timeline t(m.finish());
  ASSERT_EQ(t.counters().size(), 1U);
  EXPECT_EQ(t.counters()[0].id, "power · watts");
  EXPECT_THAT(t.counters()[0].value, ElementsAre(1.5, 3));
}

TEST(Counters, BucketsKeepExtremesAndTheValueInForce) {
  CounterTrack track;
  track.at = {0, 10, 20, 21, 22, 90};
  track.value = {1, 5, 9, 2, 3, 7};
  const CounterBuckets b = fold_counter(track, 15, 115, 10);
  EXPECT_THAT(b.at, ElementsAre(15, 85));
  EXPECT_THAT(b.min, ElementsAre(2, 3));
  EXPECT_THAT(b.max, ElementsAre(9, 7));
  EXPECT_THAT(b.last, ElementsAre(3, 7));
  const CounterBuckets quiet = fold_counter(track, 30, 60, 10);
  EXPECT_THAT(quiet.at, ElementsAre(30));
  EXPECT_THAT(quiet.last, ElementsAre(3));
  EXPECT_TRUE(fold_counter(track, -20, -10, 10).at.empty());
  EXPECT_TRUE(fold_counter(track, 10, 10, 10).at.empty());
  EXPECT_EQ(fold_counter(track, INT64_MIN, INT64_MAX, 4096).last.back(), 7);
}

}  // namespace
}  // namespace traceglass
