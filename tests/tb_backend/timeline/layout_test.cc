#include "tb_backend/timeline/layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "tb_backend/timeline/timeline.h"
#include "tests/tb_backend/timeline/trace_maker.h"

namespace traceglass {
namespace {

using libtrace::EventId;
using testing::TraceMaker;

std::vector<std::string> labels(const Timeline& t) {
  std::vector<std::string> out;
  for (const Group& g : t.groups()) {
    out.push_back(g.section + "|" + g.section_label + "|" + std::string(group_type_name(g.type)) +
                  "|" + g.label + "|" + g.sublabel);
  }
  return out;
}

std::map<std::string, int> rows_by_name(const Timeline& t) {
  std::map<std::string, int> out;
  for (EventId e = 0; e < t.trace().size(); ++e) {
    out[std::string(t.trace().name(e))] = t.place(e).row;
  }
  return out;
}

TEST(Layout, NestedCallsStandBelowTheirParents) {
  TraceMaker m;
  m.slice("cpu_op", "outer", 0 + 10, 100);
  m.slice("cpu_op", "inner", 20, 50);
  m.slice("cuda_runtime", "launch", 30, 10);
  m.slice("cpu_op", "after", 80, 10);
  m.slice("cpu_op", "next", 110, 10);
  const Timeline t(m.finish());
  EXPECT_EQ(rows_by_name(t),
            (std::map<std::string, int>{
                {"outer", 0}, {"inner", 1}, {"launch", 2}, {"after", 1}, {"next", 0}}));
}

TEST(Layout, CrossingCallsGetRowsOfTheirOwn) {
  TraceMaker m;
  m.slice("cpu_op", "a", 10, 50);
  m.slice("cpu_op", "b", 40, 50);      // crosses a
  m.slice("cpu_op", "child", 70, 10);  // of b alone
  const Timeline t(m.finish());
  EXPECT_EQ(rows_by_name(t), (std::map<std::string, int>{{"a", 0}, {"b", 1}, {"child", 2}}));
}

TEST(Layout, OverlappingKernelsGetSubLanes) {
  TraceMaker m;
  m.slice("kernel", "k1", 10, 50, "0", "7");
  m.slice("kernel", "k2", 40, 50, "0", "7");
  m.slice("kernel", "k3", 60, 10, "0", "7");
  const Timeline t(m.finish());
  EXPECT_EQ(rows_by_name(t), (std::map<std::string, int>{{"k1", 0}, {"k2", 1}, {"k3", 0}}));
}

TEST(Layout, GroupsSectionsAndLabelsAsUsersKnowThem) {
  TraceMaker m;
  auto& b = m.builder();
  m.slice("cpu_op", "op", 10, 10, "25738", "25738");
  m.slice("cpu_op", "op", 10, 10, "25738", "25772");
  m.slice("python_function", "main.py(1): f", 10, 10, "25738", "25738");
  m.slice("kernel", "k", 10, 10, "0", "7");
  m.slice("gpu_user_annotation", "step", 10, 10, "0", "7");
  m.slice("Trace", "PyTorch Profiler (0)", 5, 100, "Spans", "PyTorch Profiler");
  const auto id = [&](std::string_view text) { return b.intern(text); };
  b.set_process_name(id("25738"), "python");
  b.set_process_labels(id("25738"), "CPU");
  b.set_process_sort(id("25738"), 25738);
  b.set_thread_name(id("25738"), id("25738"), "thread 25738 (python)");
  b.set_thread_name(id("25738"), id("25772"), "thread 25772 (pt_autograd_0)");
  b.set_process_name(id("0"), "python");
  b.set_process_labels(id("0"), "GPU 0");
  b.set_process_sort(id("0"), 5000000);
  b.set_thread_name(id("0"), id("7"), "stream 7 ");
  b.set_process_sort(id("Spans"), 0x20000000);
  libtrace::DeviceProperties device;
  device.id = 0;
  device.name = "Tesla V100";
  b.add_device(device);
  const Timeline t(m.finish());
  EXPECT_THAT(labels(t), ::testing::ElementsAre(
                             "host:25738|python 25738|host|Main thread|25738",
                             "host:25738|python 25738|python|Main thread|Python",
                             "host:25738|python 25738|host|Autograd thread 0|25772",
                             "device:0|GPU 0 · Tesla V100|device|Stream 7|",
                             "device:0|GPU 0 · Tesla V100|device_annotation|Stream 7|annotations",
                             "host:Spans|Spans|other|PyTorch Profiler|"));
}

TEST(Layout, AnImpossibleSliceDoesNotPushOthersAside) {
  TraceMaker m;
  m.slice("kernel", "bad", 10, 900'000'000, "0", "7");
  for (int i = 0; i < 5; ++i) {
    m.slice("kernel", "k" + std::to_string(i), 20 + i * 100, 50, "0", "7");
  }
  const auto trace = m.finish();
  ASSERT_NE(trace->flags(0) & libtrace::flag::kOverrun, 0);
  const Timeline t(trace);
  const auto rows = rows_by_name(t);
  EXPECT_EQ(rows.at("k0"), 0);
  EXPECT_EQ(rows.at("k4"), 0);
  EXPECT_EQ(rows.at("bad"), 1);
}

TEST(Layout, BeyondTheLastRowSlicesShareItAndNoneIsLost) {
  TraceMaker m;
  for (int i = 0; i < 600; ++i) m.slice("kernel", "k", 10 + i, 10000, "0", "7");
  const Timeline t(m.finish());
  const Group& g = t.groups()[0];
  ASSERT_EQ(g.rows.size(), kMaxRows);
  EXPECT_EQ(g.events, 600U);
  EXPECT_EQ(g.rows.back().ids().size(), 600 - kMaxRows + 1);
  EXPECT_TRUE(g.rows.back().shared());
  EXPECT_FALSE(g.rows[0].shared());
}

TEST(Layout, EverySliceHasOnePlaceAndRowsNeverOverlap) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    const auto trace = testing::random_trace(seed, 400);
    const Timeline t(trace);
    std::vector<int> seen(trace->size());
    for (const Group& g : t.groups()) {
      for (std::size_t r = 0; r < g.rows.size(); ++r) {
        const RowSlices s = g.rows[r].slices();
        for (std::size_t i = 0; i < s.size(); ++i) {
          ++seen[s.id(i)];
          EXPECT_EQ(t.place(s.id(i)).group, g.id);
          EXPECT_EQ(t.place(s.id(i)).row, r);
          if (i > 0) {
            EXPECT_LE(s.end(i - 1), s.start(i)) << "seed " << seed;
            EXPECT_LT(s.id(i - 1), s.id(i));
          }
          const EventId parent = trace->parent(s.id(i));
          if (parent != libtrace::kNone && t.place(parent).group == g.id) {
            EXPECT_LT(t.place(parent).row, r);
          }
        }
      }
    }
    EXPECT_THAT(seen, ::testing::Each(1));
  }
}

TEST(Layout, OfNothingIsNothing) {
  TraceMaker m;
  const Timeline t(m.finish());
  EXPECT_TRUE(t.groups().empty());
}

TEST(Timeline, BesideWalksTheRow) {
  TraceMaker m;
  m.slice("cpu_op", "a", 10, 50);
  m.slice("cpu_op", "inner", 20, 5);
  m.slice("cpu_op", "b", 70, 5);
  const Timeline t(m.finish());
  EXPECT_EQ(t.beside(0, true), 2U);
  EXPECT_EQ(t.beside(2, false), 0U);
  EXPECT_EQ(t.beside(2, true), libtrace::kNone);
  EXPECT_EQ(t.beside(1, false), libtrace::kNone);
}

}  // namespace
}  // namespace traceglass
