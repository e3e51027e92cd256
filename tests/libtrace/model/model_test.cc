// The building blocks of the model, by hand.
#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "libtrace/model/category.h"
#include "libtrace/model/intervals.h"
#include "libtrace/trace_builder.h"

namespace libtrace {
namespace {

TEST(Category, FoldsEveryDialect) {
  EXPECT_EQ(kind_of_category("Operator"), Kind::kOp);
  EXPECT_EQ(kind_of_category("cpu_op"), Kind::kOp);
  EXPECT_EQ(kind_of_category("hpu_op"), Kind::kOp);
  EXPECT_EQ(kind_of_category("Runtime"), Kind::kRuntime);
  EXPECT_EQ(kind_of_category("cuda_driver"), Kind::kRuntime);
  EXPECT_EQ(kind_of_category("privateuse1_runtime"), Kind::kRuntime);
  EXPECT_EQ(kind_of_category("mtia_ccp_events"), Kind::kKernel);
  EXPECT_EQ(kind_of_category("gpu_user_Annotation"), Kind::kDeviceAnnotation);
  EXPECT_EQ(kind_of_category("User"), Kind::kDeviceAnnotation);
  EXPECT_EQ(kind_of_category("Trace"), Kind::kSpan);
  EXPECT_EQ(kind_of_category("cuda_profiler_range"), Kind::kOther);
  EXPECT_EQ(kind_of_category(""), Kind::kOther);
}

TEST(NameTraits, KnowsStepsRangesAndCollectives) {
  EXPECT_TRUE(name_traits("ProfilerStep#12").step);
  EXPECT_FALSE(name_traits("ProfilerStep#").step);
  EXPECT_FALSE(name_traits("ProfilerStep#1x").step);
  EXPECT_TRUE(name_traits("ProfilerStep#1x").range);
  EXPECT_TRUE(name_traits("Optimizer.step#SGD.step").range);
  EXPECT_FALSE(name_traits("aten::add").range);
  EXPECT_TRUE(name_traits("enumerate(DataLoader)#x.__next__").data_loader);
  EXPECT_TRUE(name_traits("ncclDevKernel_AllReduce").device_collective);
  EXPECT_TRUE(name_traits("rcclGenericKernel").device_collective);
  EXPECT_TRUE(name_traits("void nvshmemi_transfer_rma<int>").device_collective);
  EXPECT_TRUE(name_traits("void DEEP_EP::dispatch").device_collective);
  EXPECT_FALSE(name_traits("my_nccl_like").device_collective);
  EXPECT_FALSE(name_traits("gemm").device_collective);
  EXPECT_TRUE(name_traits("gloo:all_reduce").host_collective);
}

TEST(Intervals, UnionDifferenceAndIntersection) {
  const Intervals x = {{11, 22}, {33, 44}, {55, 66}};
  const Intervals y = {{0, 1}, {10, 14}, {15, 16}, {19, 34}, {43, 46}};
  EXPECT_EQ(without(x, y), (Intervals{{14, 15}, {16, 19}, {34, 43}, {55, 66}}));
  EXPECT_EQ(common(x, y), (Intervals{{11, 14}, {15, 16}, {19, 22}, {33, 34}, {43, 44}}));
  EXPECT_EQ(united({{33, 39}, {11, 22}, {15, 23}, {35, 36}, {41, 42}, {7, 7}}),
            (Intervals{{11, 23}, {33, 39}, {41, 42}}));
  EXPECT_EQ(length(x), 33);
  const Measure m(x);
  EXPECT_EQ(m.within({0, 100}), 33);
  EXPECT_EQ(m.within({12, 34}), 11);
  EXPECT_EQ(m.within({22, 33}), 0);
  EXPECT_EQ(m.within({60, 50}), 0);
}

TEST(Report, CountsAndKeepsTheFirstPlaces) {
  Report r;
  for (int i = 0; i < 10; ++i) r.add("skipped", 1, "byte " + std::to_string(i));
  r.add("incomplete", 0);
  ASSERT_EQ(r.entries().size(), 1U);
  EXPECT_EQ(r.count("skipped"), 10);
  EXPECT_EQ(r.entries()[0].first.size(), Report::kFirst);
  EXPECT_EQ(r.entries()[0].severity, Severity::kWarning);
  EXPECT_THROW(r.add("no such code"), std::logic_error);
}

TraceBuilder::Row row(TraceBuilder& b, std::string_view name, std::string_view category,
                      std::int64_t start, std::int64_t dur, std::string_view pid = "1",
                      std::string_view tid = "1") {
  TraceBuilder::Row r;
  r.start = start;
  r.dur = dur;
  r.name = b.intern(name);
  r.category = b.intern(category);
  r.pid = b.intern(pid);
  r.tid = b.intern(tid);
  return r;
}

TEST(Builder, KeepsEveryTypeOfArgument) {
  TraceBuilder b;
  b.arg("null", Value::null());
  b.arg("bool", Value::boolean(true));
  b.arg("min", Value::integer(INT64_MIN));
  b.arg("max", Value::uinteger(UINT64_MAX));
  b.arg("real", Value::real(0.1));
  b.arg("text", Value::string("a\"b"));
  b.arg("list", Value::json("[1, [2]]"));
  b.add_slice(row(b, "x", "cpu_op", 5, 1));
  const TracePtr t = b.finish();
  const auto args = t->args(0);
  ASSERT_EQ(args.size(), 7U);
  EXPECT_EQ(args[0].second.type, Value::Type::kNull);
  EXPECT_EQ(args[1].second.i, 1);
  EXPECT_EQ(args[2].second.i, INT64_MIN);
  EXPECT_EQ(args[3].second.u, UINT64_MAX);
  EXPECT_EQ(args[4].second.d, 0.1);
  EXPECT_EQ(args[5].second.text, "a\"b");
  EXPECT_EQ(args[6].second.text, "[1, [2]]");
  EXPECT_EQ(t->arg(0, "absent"), std::nullopt);
}

TEST(Builder, WhatIsNoNumberIsNull) {
  TraceBuilder b;
  b.arg("nan", Value::real(std::numeric_limits<double>::quiet_NaN()));
  b.arg("inf", Value::real(-std::numeric_limits<double>::infinity()));
  b.arg("number", Value::real(1e308));
  b.add_slice({0, 1, b.intern("op"), b.intern("cpu_op"), b.intern("1"), b.intern("2")});
  const TracePtr trace = b.finish();
  EXPECT_EQ(trace->arg(0, "nan")->type, Value::Type::kNull);
  EXPECT_EQ(trace->arg(0, "inf")->type, Value::Type::kNull);
  EXPECT_EQ(trace->arg(0, "number")->d, 1e308);
}

TEST(Builder, SumsOfWhatIsKeptStayWithinSixtyFourBits) {
  TraceBuilder b;
  constexpr std::int64_t kHuge = std::int64_t{1} << 61;
  for (int i = 0; i < 4; ++i) {
    b.add_slice(row(b, "a", "cpu_op", i, kHuge, "1", std::to_string(i)));
    b.begin_slice(row(b, "b", "cpu_op", -kHuge, 0, "1", std::to_string(i)));
    b.end_slice(kHuge, b.intern("1"), b.intern(std::to_string(i)));
    for (const std::int64_t bytes : {kHuge, -kHuge}) {
      MemoryEvent m;
      m.bytes = bytes;
      b.add_memory(m, b.intern("1"), b.intern("0"));
    }
  }
  b.add_slice(row(b, "c", "cpu_op", 5, 1));
  const TracePtr t = b.finish();
  EXPECT_EQ(t->size(), 2U);
  EXPECT_EQ(t->memory().size(), 2U);
  EXPECT_EQ(t->report().count("skipped"), 7 + 6);
  for (EventId e = 0; e < t->size(); ++e) EXPECT_GE(t->self(e), 0);
}

TEST(Builder, KeepsMoreArgumentsThanOneByteCounts) {
  TraceBuilder b;
  for (int i = 0; i < 1000; ++i) b.arg("k" + std::to_string(i), Value::integer(i));
  b.add_slice(row(b, "x", "cpu_op", 5, 1));
  b.arg("k", Value::integer(7));
  b.add_slice(row(b, "y", "cpu_op", 9, 1));
  const TracePtr t = b.finish();
  ASSERT_EQ(t->args(0).size(), 1000U);
  EXPECT_EQ(t->int_arg(0, "k999"), 999);
  EXPECT_EQ(t->int_arg(1, "k"), 7);
}

TEST(Builder, PairsBeginsAndEndsAndMarksWhatStaysOpen) {
  TraceBuilder b;
  b.begin_slice(row(b, "outer", "cpu_op", 10, 0));
  b.begin_slice(row(b, "inner", "cpu_op", 12, 0));
  b.end_slice(15, b.intern("1"), b.intern("1"));
  b.add_slice(row(b, "x", "cpu_op", 20, 10));
  b.end_slice(40, b.intern("1"), b.intern("2"));  // nobody's
  const TracePtr t = b.finish();
  ASSERT_EQ(t->size(), 3U);
  EXPECT_EQ(t->name(0), "outer");
  EXPECT_EQ(t->end(0), 30);
  EXPECT_NE(t->flags(0) & flag::kUnfinished, 0);
  EXPECT_EQ(t->parent(1), 0U);
  EXPECT_EQ(t->report().count("unfinished"), 1);
  EXPECT_EQ(t->report().count("skipped"), 1);
}

TEST(Builder, BeginsAndEndsAreNotLessThanCompleteRows) {
  TraceBuilder b;
  b.begin_slice(row(b, "outer", "cpu_op", 10, 0));
  b.begin_slice(row(b, "inner", "cpu_op", 10, 0));  // the same times: what began first is around
  b.end_slice(30, b.intern("1"), b.intern("1"));
  b.end_slice(30, b.intern("1"), b.intern("1"));
  b.arg("correlation", Value::integer(7));
  b.begin_slice(row(b, "cudaLaunchKernel", "cuda_runtime", 40, 0));
  b.end_slice(45, b.intern("1"), b.intern("1"));
  b.arg("correlation", Value::integer(7));
  b.add_slice(row(b, "gemm", "kernel", 50, 5, "0", "7"));
  const TracePtr t = b.finish();
  ASSERT_EQ(t->size(), 4U);
  EXPECT_EQ(t->name(0), "outer");
  EXPECT_EQ(t->parent(1), 0U);
  EXPECT_EQ(t->name(3), "gemm");
  EXPECT_EQ(t->launch(3), 2U);
}

TEST(Builder, MovesFramesOfAnUnknownProcessToTheMainOne) {
  TraceBuilder b;
  b.add_slice(row(b, "aten::add", "cpu_op", 10, 5, "77", "77"));
  b.add_slice(row(b, "f.py(1): f", "python_function", 10, 9, "0", "0"));
  b.add_slice(row(b, "gemm", "kernel", 12, 5, "0", "0"));
  const TracePtr t = b.finish();
  for (const Lane& lane : t->lanes()) {
    if (lane.first == lane.last) continue;
    EXPECT_EQ(lane.pid, lane.domain == Domain::kHost ? "77" : "0");
  }
}

TEST(Builder, ARowAgainstItsDeviceKeepsBothNames) {
  TraceBuilder b;  // pid 0 is a process and GPU 0 at once
  b.set_thread_name(b.intern("0"), b.intern("7"), "thread 7 (python)");
  b.set_thread_name(b.intern("0"), b.intern("7"), "stream 7 ");
  b.add_slice(row(b, "aten::add", "cpu_op", 10, 5, "0", "7"));
  b.add_slice(row(b, "gemm", "kernel", 10, 5, "0", "7"));
  const TracePtr t = b.finish();
  for (const Lane& lane : t->lanes()) {
    EXPECT_EQ(lane.thread, lane.domain == Domain::kHost ? "thread 7 (python)" : "stream 7 ");
  }
}

TEST(Builder, CountsUnixTimesFromTheEarliestUsableSlice) {
  TraceBuilder b;
  constexpr std::int64_t kUnix = 1'700'000'000'000'000'000;
  b.add_slice(row(b, "zero", "kernel", 0, 0, "0", "7"));
  b.add_slice(row(b, "k", "kernel", kUnix + 500, 10, "0", "7"));
  const TracePtr t = b.finish();
  EXPECT_EQ(t->base_unix_ns(), kUnix + 500);
  EXPECT_EQ(t->range(), (TimeRange{0, 10}));
  EXPECT_EQ(t->report().count("zero_time"), 1);
}

TEST(Builder, HostileNestingStaysLinear) {
  // A staircase: every range crosses all before it; and a well a million deep.
  constexpr std::int64_t kMany = 200'000;
  TraceBuilder b;
  for (std::int64_t i = 0; i < kMany; ++i) b.add_slice(row(b, "s", "cpu_op", i, kMany, "1", "1"));
  for (std::int64_t i = 0; i < kMany; ++i) {
    b.add_slice(row(b, "w", "cpu_op", i, 2 * (kMany - i), "1", "2"));
  }
  const TracePtr t = b.finish();
  EXPECT_EQ(t->report().count("crossing"), kMany - 1);
  EXPECT_EQ(t->depth(static_cast<EventId>(t->size() - 1)), 65535);
}

}  // namespace
}  // namespace libtrace
