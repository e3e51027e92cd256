// Rows of key_averages() by hand: torch's tree, sums and groups.
#include "libtrace/key_averages.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/libtrace/averages/builder.h"

namespace libtrace {
namespace {

using testing::Rows;

const KeyAverage& row(const KeyAverages& averages, std::string_view key,
                      std::string_view device = "cpu") {
  static const KeyAverage kAbsent{};
  const auto it = std::find_if(averages.begin(), averages.end(), [&](const KeyAverage& r) {
    return r.key == key && r.device_type == device;
  });
  EXPECT_NE(it, averages.end()) << key;
  return it == averages.end() ? kAbsent : *it;
}

std::vector<std::string> keys(const KeyAverages& averages) {
  std::vector<std::string> out;
  for (const KeyAverage& r : averages) out.push_back(r.key);
  return out;
}

TEST(KeyAverages, TotalsAddUpAndSelfIsWithoutChildren) {
  // outer 0–100 holds mm 10–40 (holds empty 15–20) and mm 50–60.
  const KeyAverages a = key_averages(*Rows()
                                          .range("outer", 0, 100)
                                          .op("aten::mm", 10, 30)
                                          .op("aten::empty", 15, 5)
                                          .op("aten::mm", 50, 10)
                                          .finish());
  EXPECT_EQ(keys(a), (std::vector<std::string>{"outer", "aten::mm", "aten::empty"}));
  EXPECT_EQ(row(a, "outer").cpu_time_total_ns, 100'000);
  EXPECT_EQ(row(a, "outer").self_cpu_time_total_ns, 60'000);
  EXPECT_TRUE(row(a, "outer").is_user_annotation);
  EXPECT_TRUE(row(a, "outer").is_top_level);
  EXPECT_EQ(row(a, "aten::mm").count, 2);
  EXPECT_EQ(row(a, "aten::mm").cpu_time_total_ns, 40'000);
  EXPECT_EQ(row(a, "aten::mm").self_cpu_time_total_ns, 35'000);
  EXPECT_EQ(row(a, "aten::mm").cpu_time_us(), 20);
  EXPECT_FALSE(row(a, "aten::mm").is_top_level);
  EXPECT_EQ(a.self_cpu_time_total_ns(), 100'000);

  const KeyAverage total = a.total_average();
  EXPECT_EQ(total.key, "Total");
  EXPECT_EQ(total.count, 4);
  EXPECT_EQ(total.cpu_time_total_ns, 145'000);
  EXPECT_EQ(total.self_cpu_time_total_ns, 100'000);
  EXPECT_NE(KeyAverages({total}, {}).table().find("145.000us"), std::string::npos);
}

TEST(KeyAverages, PythonFramesTakePartInTheTreeAndAreNotListed) {
  // The frame takes its 70 us out of the range, and the range, which sticks out of `f`, closes it:
  // `late` lies in the range alone.
  const KeyAverages a = key_averages(*Rows()
                                          .python("main", 0, 100)
                                          .range("range", 0, 90)
                                          .python("f", 10, 70)
                                          .op("aten::mm", 20, 10)
                                          .finish());
  EXPECT_EQ(keys(a), (std::vector<std::string>{"range", "aten::mm"}));
  EXPECT_EQ(row(a, "range").self_cpu_time_total_ns, 20'000);
  EXPECT_FALSE(row(a, "range").is_top_level);

  const KeyAverages b =
      key_averages(*Rows().python("f", 0, 50).range("across", 10, 60).op("late", 45, 10).finish());
  EXPECT_TRUE(row(b, "across").is_top_level);
  EXPECT_EQ(row(b, "across").self_cpu_time_total_ns, 50'000);
}

TEST(KeyAverages, ASoleChildOfItsParentsNameIsMerged) {
  const KeyAverages a = key_averages(*Rows()
                                          .op("aten::to", 0, 100)
                                          .op("aten::to", 10, 80)
                                          .op("aten::to", 20, 50)
                                          .op("aten::copy_", 30, 20)
                                          .finish());
  EXPECT_EQ(row(a, "aten::to").count, 1);
  EXPECT_EQ(row(a, "aten::to").cpu_time_total_ns, 100'000);
  EXPECT_EQ(row(a, "aten::to").self_cpu_time_total_ns, 80'000);
  // With a sibling it stands, and totals of one name add up.
  const KeyAverages b = key_averages(
      *Rows().op("aten::to", 0, 100).op("aten::to", 10, 20).op("aten::x", 40, 5).finish());
  EXPECT_EQ(row(b, "aten::to").count, 2);
  EXPECT_EQ(row(b, "aten::to").cpu_time_total_ns, 120'000);
  EXPECT_EQ(row(b, "aten::to").self_cpu_time_total_ns, 95'000);
}

TEST(KeyAverages, StepsCountAsOneAndUtilityRowsNotAtAll) {
  const KeyAverages a = key_averages(*Rows()
                                          .range("ProfilerStep#1", 0, 10)
                                          .range("ProfilerStep#2", 10, 20)
                                          .op("aten::is_leaf", 11, 1)
                                          .op("profiler::_record_function_exit", 13, 1)
                                          .finish());
  EXPECT_EQ(keys(a), std::vector<std::string>{"ProfilerStep*"});
  EXPECT_EQ(row(a, "ProfilerStep*").count, 2);
  EXPECT_EQ(row(a, "ProfilerStep*").self_cpu_time_total_ns, 30'000);
}

TEST(KeyAverages, AsynchronousRowsHaveNeitherSelfNorChildren) {
  const KeyAverages a = key_averages(
      *Rows().range("gloo:all_reduce", 0, 50).op("aten::add", 10, 10).memory(12, 64).finish());
  EXPECT_TRUE(row(a, "gloo:all_reduce").is_async);
  EXPECT_EQ(row(a, "gloo:all_reduce").cpu_time_total_ns, 50'000);
  EXPECT_EQ(row(a, "gloo:all_reduce").self_cpu_time_total_ns, 0);
  EXPECT_EQ(row(a, "gloo:all_reduce").cpu_memory_usage, 64);
  EXPECT_EQ(row(a, "gloo:all_reduce").self_cpu_memory_usage, 0);
  EXPECT_TRUE(row(a, "aten::add").is_top_level);
}

// As the recorder writes ranges that may end on another thread.
TEST(KeyAverages, TheRecordersAsynchronousRangesAreKnown) {
  Rows r;
  r.b.arg("async", Value::boolean(true));
  r.range("send", 0, 50, "1000000000").range("other", 60, 10, "1000000000");
  r.b.set_thread_name(r.b.intern("1"), r.b.intern("1000000000"), "async ranges 1");
  r.b.arg("async", Value::boolean(true));
  const KeyAverages a = key_averages(*r.range("mine", 0, 50).finish());
  EXPECT_TRUE(row(a, "send").is_async);
  EXPECT_EQ(row(a, "send").self_cpu_time_total_ns, 0);
  EXPECT_FALSE(row(a, "other").is_async);
  EXPECT_FALSE(row(a, "mine").is_async);  // an argument of the user's
}

TEST(KeyAverages, MemoryGoesByTimeWhateverTheThread) {
  const KeyAverages a = key_averages(*Rows()
                                          .op("aten::outer", 0, 100)
                                          .op("aten::inner", 10, 10)
                                          .memory(10, 1000)
                                          .memory(20, -300)          // both ends belong
                                          .memory(50, 7, "2")        // of another thread
                                          .memory(60, 4096, "1", 1)  // of a device
                                          .memory(200, 11)           // of nobody
                                          .memory(300, 12)
                                          .finish());
  EXPECT_EQ(row(a, "aten::outer").cpu_memory_usage, 707);
  EXPECT_EQ(row(a, "aten::outer").self_cpu_memory_usage, 7);
  EXPECT_EQ(row(a, "aten::outer").device_memory_usage, 4096);
  EXPECT_EQ(row(a, "aten::outer").self_device_memory_usage, 4096);
  EXPECT_EQ(row(a, "aten::inner").self_cpu_memory_usage, 700);
  EXPECT_EQ(row(a, "[memory]").count, 2);
  EXPECT_EQ(row(a, "[memory]").self_cpu_memory_usage, 23);
  EXPECT_TRUE(a.columns().memory);
}

TEST(KeyAverages, MemoryOfItsOwnThreadWhereAskedFor) {
  const TracePtr trace = Rows()
                             .op("aten::a", 0, 100, "1")
                             .op("aten::b", 0, 100, "2")
                             .memory(20, 7, "2")
                             .memory(10, 1000, "1")
                             .memory(30, 30, "3")  // a thread that does nothing else
                             .finish();
  EXPECT_EQ(row(key_averages(*trace), "aten::a").cpu_memory_usage, 1037);
  EXPECT_EQ(row(key_averages(*trace), "aten::b").cpu_memory_usage, 1037);
  KeyAveragesOptions options;
  options.memory_by_thread = true;
  const KeyAverages a = key_averages(*trace, options);
  EXPECT_EQ(row(a, "aten::a").cpu_memory_usage, 1000);
  EXPECT_EQ(row(a, "aten::b").cpu_memory_usage, 7);
  EXPECT_EQ(row(a, "[memory]").cpu_memory_usage, 30);
}

TEST(KeyAverages, DeviceTimesGoToTheOpThatLaunched) {
  const KeyAverages a = key_averages(*Rows()
                                          .range("step", 0, 100)
                                          .op("aten::linear", 10, 50)
                                          .op("aten::mm", 20, 20)
                                          .launch("gemm", 25, 40, 500)
                                          .launch("bias", 50, 600, 30)
                                          .launch("mine", 80, 700, 8)
                                          .device("gpu_user_annotation", "step", 40, 668)
                                          .finish());
  EXPECT_EQ(a.columns().device, "cuda");
  EXPECT_EQ(row(a, "aten::mm").device_time_total_ns, 500'000);
  EXPECT_EQ(row(a, "aten::mm").self_device_time_total_ns, 500'000);
  EXPECT_EQ(row(a, "aten::linear").device_time_total_ns, 530'000);
  EXPECT_EQ(row(a, "aten::linear").self_device_time_total_ns, 30'000);
  EXPECT_EQ(row(a, "step").device_time_total_ns, 538'000);
  EXPECT_EQ(row(a, "step").self_device_time_total_ns, 8'000);  // launched in no op
  EXPECT_EQ(row(a, "gemm", "cuda").self_device_time_total_ns, 500'000);
  EXPECT_EQ(row(a, "gemm", "cuda").cpu_time_total_ns, 0);
  EXPECT_EQ(row(a, "step", "cuda").device_time_total_ns, 668'000);
  EXPECT_TRUE(row(a, "step", "cuda").is_user_annotation);
  EXPECT_EQ(row(a, "cudaLaunchKernel").count, 3);
}

// As torch 2.15 has them: time of the profiler on a host thread.
TEST(KeyAverages, OverheadIsAHostRow) {
  const KeyAverages a =
      key_averages(*Rows().host("overhead", "Activity Buffer Request", 0, 40, "9").finish());
  EXPECT_EQ(row(a, "Activity Buffer Request").self_cpu_time_total_ns, 40'000);
}

TEST(KeyAverages, GroupsByShape) {
  KeyAveragesOptions by_shape;
  by_shape.group_by_input_shape = true;
  Rows r;
  r.json("Input Dims", "[[2,3],[3,4]]").op("aten::mm", 0, 10);
  r.json("Input Dims", "[[2,3], [3,4]]").op("aten::mm", 20, 10);
  r.json("Input Dims", "[[9,3],[3,4]]").op("aten::mm", 40, 10);
  r.json("Input Dims", "[[[2,3],[4]],[]]").op("aten::cat", 60, 10);
  r.op("aten::none", 80, 10);
  const TracePtr trace = r.finish();
  const KeyAverages a = key_averages(*trace, by_shape);
  std::vector<std::string> shapes;
  for (const KeyAverage& k : a) shapes.push_back(k.key + k.input_shapes);
  EXPECT_EQ(shapes,
            (std::vector<std::string>{"aten::mm[[2, 3], [3, 4]]", "aten::mm[[9, 3], [3, 4]]",
                                      "aten::cat[[], []]", "aten::none[]"}));
  EXPECT_EQ(a.rows()[0].count, 2);
  EXPECT_EQ(row(key_averages(*trace), "aten::mm").input_shapes, "");
}

TEST(KeyAverages, GroupsByStackAndByOverload) {
  Rows r;
  r.text("Call stack", "b.py(2): g;a.py(1): f;").op("aten::add.Tensor", 0, 10);
  r.text("Call stack", "b.py(2): g;x.py(9): h;").op("aten::add.out", 20, 10);
  r.text("Call stack", "torch/autograd/__init__.py(1): backward;b.py(2): g;")
      .op("aten::add", 40, 5);
  const TracePtr trace = r.finish();
  EXPECT_EQ(row(key_averages(*trace), "aten::add").count, 3);
  KeyAveragesOptions options;
  options.group_by_stack_n = 1;
  EXPECT_EQ(key_averages(*trace, options).size(), 1U);
  EXPECT_EQ(key_averages(*trace, options).rows()[0].stack, std::vector<std::string>{"b.py(2): g"});
  options.group_by_stack_n = 5;
  EXPECT_EQ(key_averages(*trace, options).size(), 3U);
  options.group_by_stack_n = 0;
  options.group_by_overload_name = true;
  std::vector<std::string> overloads;
  for (const KeyAverage& k : key_averages(*trace, options)) overloads.push_back(k.overload_name);
  EXPECT_EQ(overloads, (std::vector<std::string>{"Tensor", "out", ""}));
  options.group_by_stack_n = -1;
  EXPECT_THROW(key_averages(*trace, options), std::invalid_argument);
}

TEST(KeyAverages, ADotIsAnOverloadOnlyWhereTheProfilerWroteSome) {
  const KeyAverages a = key_averages(*Rows()
                                          .op("aten::add.Tensor", 0, 1)
                                          .op("lib::op.default", 10, 1)
                                          .op("f(a::b.c)", 20, 1)
                                          .op("aten::odd.", 30, 1)
                                          .range("mine::step.one", 40, 1)
                                          .finish());
  EXPECT_EQ(keys(a), (std::vector<std::string>{"aten::add", "lib::op", "f(a::b.c)", "aten::odd.",
                                               "mine::step.one"}));
  EXPECT_EQ(keys(key_averages(*Rows().op("engine::mat.mul", 0, 1).finish())),
            std::vector<std::string>{"engine::mat.mul"});
}

TEST(KeyAverages, BackwardOpsHaveTheStackOfTheForwardOne) {
  Rows r;
  r.number("Sequence number", 5)
      .text("Call stack", "model.py(3): forward;")
      .op("aten::addmm", 0, 9);
  r.number("Sequence number", 5).text("Call stack", "deeper;").op("aten::t", 2, 1);
  const std::string node = "AddmmBackward0", engine = "autograd::engine::evaluate_function: ";
  r.text("Call stack", "loop.py(1): run;").number("Sequence number", 5);
  r.op(engine + node, 20, 10, "2");
  r.number("Sequence number", 5).number("Fwd thread id", 1).op(node, 21, 8, "2");
  r.op("aten::mm", 22, 4, "2");
  r.op(engine + "torch::autograd::AccumulateGrad", 40, 9, "2");
  r.text("Call stack", "loop.py(1): run;").op("torch::autograd::AccumulateGrad", 41, 7, "2");
  KeyAveragesOptions options;
  options.group_by_stack_n = 3;
  const KeyAverages a = key_averages(*r.finish(), options);
  using Frames = std::vector<std::string>;
  EXPECT_EQ(row(a, node).stack, Frames{"model.py(3): forward"});
  EXPECT_EQ(row(a, "aten::mm").stack, Frames{"model.py(3): forward"});
  EXPECT_EQ(row(a, engine + node).stack, Frames{"loop.py(1): run"});
  EXPECT_EQ(row(a, "torch::autograd::AccumulateGrad").stack, Frames{});
}

TEST(KeyAverages, FlopsOfTheTrace) {
  Rows r;
  for (int i = 0; i < 3; ++i) {
    r.json("Input Dims", "[[4,8],[8,2]]").op("aten::mm", 10 * i, 5);
    r.json("Input Dims", "[[3],[]]").op("aten::add", 100 + 10 * i, 5);
  }
  const TracePtr without = Rows().json("Input Dims", "[[4,8],[8,2]]").op("aten::mm", 0, 5).finish();
  const TracePtr trace = r.flag("with_flops").finish();
  EXPECT_EQ(row(key_averages(*trace), "aten::mm").flops, 384);
  EXPECT_EQ(row(key_averages(*trace), "aten::add").flops, 9);
  EXPECT_EQ(row(key_averages(*without), "aten::mm").flops, 0);
}

TEST(KeyAverages, SeveralCyclesAddUp) {
  const TracePtr one = Rows().op("a", 0, 10).op("b", 20, 10).finish();
  const TracePtr two = Rows().op("c", 0, 10).op("a", 20, 10).finish();
  const KeyAverages a = key_averages(std::vector<TracePtr>{one, nullptr, two});
  EXPECT_EQ(keys(a), (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(row(a, "a").cpu_time_total_ns, 20'000);
}

TEST(KeyAverages, NothingIsNothing) {
  const KeyAverages a = key_averages(*TraceBuilder().finish());
  EXPECT_TRUE(a.empty());
  EXPECT_EQ(a.table(), "");
  EXPECT_EQ(a.total_average().key, "Total");
}

}  // namespace
}  // namespace libtrace
