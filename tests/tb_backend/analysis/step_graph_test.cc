// The graph of a step and its walk: laws over generated and real traces, small cases by hand.
#include "tb_backend/analysis/step_graph.h"

#include <gtest/gtest.h>

#include "tb_backend/analysis/what_if.h"
#include "tests/libtrace/model/generate.h"
#include "tests/tb_backend/analysis/rows.h"
#include "tests/tb_backend/analysis/shared_traces.h"

namespace traceglass {
namespace {

using testing::Rows;

// What must hold of any graph.
void expect_laws(const libtrace::Trace& trace) {
  const StepGraph graph(trace);
  const std::vector<Node>& nodes = graph.nodes();
  Times times, sooner;
  graph.walk(graph.as_recorded(), times);
  for (NodeId n = 0; n < nodes.size(); ++n) {
    ASSERT_EQ(times[n].start, nodes[n].start) << n;
    ASSERT_EQ(times[n].end, nodes[n].end) << n;
    ASSERT_GE(nodes[n].cost(), 0) << n;
    ASSERT_GE(nodes[n].delay, 0) << n;
  }
  const StepChain chain(graph, Selection::everything(find_steps(trace)));
  if (chain.steps() > 0 && !chain.step(0).synthetic) {
    const std::vector<std::int64_t> ends = chain.ends(times);
    for (std::size_t i = 0; i < ends.size(); ++i) EXPECT_EQ(ends[i], chain.step(i).extended.end);
  }
  const std::int64_t none = chain.gain_of_costs([](const Node& n) { return n.cost(); });
  const std::int64_t half = chain.gain_of_costs([](const Node& n) { return n.cost() / 2; });
  const std::int64_t all = chain.gain_of_costs([](const Node&) { return std::int64_t{0}; });
  EXPECT_EQ(none, 0);
  for (const std::int64_t gain : {half, all}) {
    EXPECT_GE(gain, 0);
    EXPECT_LE(gain, chain.mean_step_ns());
  }
  // Smaller costs never make anything later.
  WhatIf halved = graph.as_recorded();
  for (std::int64_t& cost : halved.cost) cost /= 2;
  graph.walk(halved, sooner);
  for (NodeId n = 0; n < nodes.size(); ++n) ASSERT_LE(sooner[n].end, times[n].end) << n;
}

class StepGraphLaws : public ::testing::TestWithParam<unsigned> {};

TEST_P(StepGraphLaws, HoldForGeneratedTraces) {
  expect_laws(*libtrace::testing::Generator(GetParam()).trace());
}

INSTANTIATE_TEST_SUITE_P(Seeds, StepGraphLaws, ::testing::Range(0U, 60U));

TEST(StepGraph, LawsHoldForRealTraces) {
  testing::for_each_shared_trace([](const std::string& name, const libtrace::Trace& trace) {
    SCOPED_TRACE(name);
    expect_laws(trace);
  });
}

// Host: DataLoader 60, op 20 with a launch at its start, op 20 with a launch. Device: 30, 10.
Rows loading_step() {
  Rows rows;
  rows.step(1, 1, 0, 100'000);
  rows.annotation("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 1, 0, 60'000);
  rows.op("aten::mm", 1, 60'000, 20'000).runtime(1, 62'000, 4'000, 11);
  rows.op("aten::add", 1, 80'000, 20'000).runtime(1, 82'000, 4'000, 12);
  rows.kernel("gemm", 70'000, 30'000, 11).kernel("add", 101'000, 10'000, 12);
  return rows;
}

TEST(StepGraph, WithoutTheDataLoaderTheStepIsAsMuchShorter) {
  const auto trace = loading_step().trace();
  const StepGraph graph(*trace);
  const StepChain chain(graph, Selection::everything(find_steps(*trace)));
  EXPECT_EQ(chain.mean_step_ns(), 111'000);
  const std::int64_t gain = chain.gain_of_costs(
      [](const Node& n) { return n.activity == Activity::kDataLoading ? 0 : n.cost(); });
  EXPECT_EQ(gain, 60'000);
}

TEST(StepGraph, AHalvedKernelMovesWhatStandsBehindItInTheStream) {
  const auto trace = loading_step().trace();
  const StepGraph graph(*trace);
  const StepChain chain(graph, Selection::everything(find_steps(*trace)));
  const std::int64_t gain = chain.gain_of_costs([&](const Node& n) {
    return n.activity == Activity::kKernel && trace->name(n.event) == "gemm" ? n.cost() / 2
                                                                             : n.cost();
  });
  // "add" was launched by 86'000 and is due 5'000 later; it may begin at 91'000 instead of 101'000.
  EXPECT_EQ(gain, 10'000);
}

TEST(StepGraph, AHostThatWaitsForTheDeviceWaitsLessForAFasterOne) {
  Rows rows;
  rows.step(1, 1, 0, 100'000);
  rows.op("aten::mm", 1, 0, 10'000).runtime(1, 2'000, 4'000, 11);
  rows.b.arg("correlation", libtrace::Value::integer(12));
  rows.add("cuda_runtime", "cudaStreamSynchronize", "13721", "1", 10'000, 85'000);
  rows.kernel("gemm", 12'000, 80'000, 11);
  const auto trace = rows.trace();
  const StepGraph graph(*trace);
  const StepChain chain(graph, Selection::everything(find_steps(*trace)));
  const auto kernels = [](std::int64_t cost) {
    return [cost](const Node& n) { return n.activity == Activity::kKernel ? cost : n.cost(); };
  };
  EXPECT_EQ(chain.gain_of_costs(kernels(30'000)), 50'000);
  // Gone altogether, the call still costs what it took when the device was done.
  EXPECT_EQ(chain.gain_of_costs(kernels(0)), 80'000);
}

TEST(StepGraph, TheCallerOfBackwardWaitsForTheAutogradThread) {
  Rows rows;
  rows.step(1, 1, 0, 400'000);
  rows.op("aten::mm", 1, 0, 50'000);
  rows.op("MmBackward", 2, 60'000, 280'000);  // another thread, while the first stands
  rows.op("aten::add_", 1, 350'000, 50'000);
  const auto trace = rows.trace();
  const StepGraph graph(*trace);
  const StepChain chain(graph, Selection::everything(find_steps(*trace)));
  const std::int64_t gain = chain.gain_of_costs([&](const Node& n) {
    return n.event != libtrace::kNone && trace->name(n.event) == "MmBackward" ? 0 : n.cost();
  });
  EXPECT_EQ(gain, 280'000);
  const std::int64_t forward = chain.gain_of_costs([&](const Node& n) {
    return n.event != libtrace::kNone && trace->name(n.event) == "aten::mm" ? 0 : n.cost();
  });
  EXPECT_EQ(forward, 50'000);
}

}  // namespace
}  // namespace traceglass
