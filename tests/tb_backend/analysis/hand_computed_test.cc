// Small traces whose every figure is worked out by hand. Several are the inputs that the removed
// plugin's own tests used, with the values this project's definitions give.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tb_backend/analysis/collectives.h"
#include "tb_backend/analysis/contents.h"
#include "tb_backend/analysis/memory.h"
#include "tb_backend/analysis/overview.h"
#include "tests/tb_backend/analysis/rows.h"

namespace traceglass {
namespace {

using libtrace::Kind;
using libtrace::Trace;
using ::testing::ElementsAre;
using testing::Rows;
using testing::Value;

// Kernel, Memcpy, Memset, Communication, Runtime, DataLoader, CPU, Other.
std::vector<std::int64_t> parts(const Breakdown& b) { return {std::begin(b.ns), std::end(b.ns)}; }

struct Analysed {
  explicit Analysed(Rows& rows)
      : trace(rows.trace()),
        all(Selection::everything(find_steps(*trace))),
        times(*trace),
        overview(find_overview(*trace, times, all)) {}

  OperatorRow row(std::string_view name) const {
    for (const OperatorRow& r : find_operators(*trace, times, all, Kind::kOp)) {
      if (r.name == name) return r;
    }
    ADD_FAILURE() << "no row " << name;
    return {};
  }
  // calls, host total, host self, device total, device self
  std::vector<std::int64_t> figures(std::string_view name) const {
    const OperatorRow r = row(name);
    return {r.calls, r.host_total_ns, r.host_self_ns, r.device_total_ns, r.device_self_ns};
  }

  libtrace::TracePtr trace;
  Selection all;
  DeviceTimes times;
  Overview overview;
};

TEST(HandComputed, EveryCategoryOfAStep) {
  Rows r;
  r.step(1, 123, 50, 400)
      .op("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 123, 100, 180)
      .op("aten::to", 123, 200, 60)
      .op("aten::nll_loss_backward", 456, 340, 70)
      .runtime(456, 360, 20, 334)
      .runtime(456, 390, 10, 40344)
      .runtime(456, 405, 5, 40348)
      .device("gpu_memcpy", "Memcpy HtoD", 405, 10, 334)
      .device("gpu_memset", "Memset (Device)", 420, 5, 40344)
      .kernel("void cunn_ClassNLLCriterion_updateGradInput_kernel", 430, 15, 40348);
  const Analysed a(r);
  ASSERT_EQ(a.overview.steps.size(), 1U);
  EXPECT_THAT(parts(a.overview.steps[0].breakdown), ElementsAre(15, 10, 5, 0, 30, 180, 35, 125));
  EXPECT_THAT(a.figures("aten::to"), ElementsAre(1, 60, 60, 0, 0));
  EXPECT_THAT(a.figures("aten::nll_loss_backward"), ElementsAre(1, 70, 35, 30, 30));
  const auto kernels = find_kernels(*a.trace, a.all, KernelGroup::kLaunch);
  ASSERT_EQ(kernels.size(), 1U);
  EXPECT_EQ(kernels[0].op, "aten::nll_loss_backward");
  EXPECT_EQ(kernels[0].mean_ns(), 15);
}

TEST(HandComputed, WithoutStepsOneOverTheWholeRange) {
  Rows r;
  r.op("aten::to", 123, 100, 60)
      .op("aten::nll_loss_backward", 456, 300, 70)
      .runtime(456, 310, 20, 40348)
      .kernel("k", 320, 100, 40348);
  const Analysed a(r);
  ASSERT_EQ(a.overview.steps.size(), 1U);
  EXPECT_TRUE(a.overview.steps[0].step.synthetic);
  EXPECT_THAT(parts(a.overview.steps[0].breakdown), ElementsAre(100, 0, 0, 0, 10, 0, 70, 140));
  EXPECT_THAT(a.figures("aten::nll_loss_backward"), ElementsAre(1, 70, 50, 100, 100));
}

TEST(HandComputed, StepsReachToTheDeviceWorkTheyLaunched) {
  Rows r;
  r.step(1, 123, 100, 200)
      .op("aten::to", 123, 200, 60)
      .runtime(123, 250, 5, 2)
      .step(2, 123, 350, 150)
      .op("aten::mm", 123, 360, 50)
      .runtime(123, 400, 5, 4)
      .device("gpu_memcpy", "Memcpy HtoD", 280, 40, 2)
      .kernel("k", 410, 200, 4);
  const Analysed a(r);
  ASSERT_EQ(a.overview.steps.size(), 2U);
  EXPECT_EQ(a.overview.steps[0].step.extended, (libtrace::TimeRange{100, 320}));
  EXPECT_EQ(a.overview.steps[1].step.extended, (libtrace::TimeRange{350, 610}));
  EXPECT_THAT(parts(a.overview.steps[0].breakdown), ElementsAre(0, 40, 0, 0, 5, 0, 55, 120));
  EXPECT_THAT(parts(a.overview.steps[1].breakdown), ElementsAre(200, 0, 0, 0, 5, 0, 45, 10));
  EXPECT_EQ(a.overview.mean_step_ns, 240);
  EXPECT_EQ(a.overview.stddev_step_ns, 28);  // of 220 and 260
  EXPECT_THAT(a.figures("aten::to"), ElementsAre(1, 60, 55, 40, 40));
  EXPECT_THAT(a.figures("aten::mm"), ElementsAre(1, 50, 45, 200, 200));
}

TEST(HandComputed, ALateStepBeginsWhereTheDeviceLetsGo) {
  Rows r;
  r.step(1, 1, 0 + 10, 100).runtime(1, 20, 5, 1).step(2, 1, 120, 100).kernel("k", 30, 150, 1);
  const Analysed a(r);
  EXPECT_EQ(a.overview.steps[0].step.extended, (libtrace::TimeRange{10, 180}));
  EXPECT_EQ(a.overview.steps[1].step.extended, (libtrace::TimeRange{180, 220}));
}

TEST(HandComputed, SelfTimeLeavesOutChildrenAndLaunches) {
  Rows r;
  r.op("mat_mul", 456, 100, 100)
      .op("mm", 456, 120, 40)
      .runtime(456, 150, 10, 334)
      .runtime(456, 170, 25, 335)
      .kernel("a", 155, 20, 334)
      .kernel("b", 210, 16, 335);
  const Analysed a(r);
  EXPECT_THAT(a.figures("mat_mul"), ElementsAre(1, 100, 35, 36, 16));
  EXPECT_THAT(a.figures("mm"), ElementsAre(1, 40, 30, 20, 20));
}

TEST(HandComputed, RecursionCountsOnceInTotalsAndAlwaysInCalls) {
  Rows r;
  r.op("mm", 456, 100, 100)
      .op("mm", 456, 110, 80)
      .op("mm", 456, 120, 60)
      .runtime(456, 130, 20, 335)
      .kernel("k", 220, 8, 335);
  const Analysed a(r);
  EXPECT_THAT(a.figures("mm"), ElementsAre(3, 100, 80, 8, 8));
}

TEST(HandComputed, DeviceWorkThatNoOpOwnsHasRowsOfItsOwn) {
  Rows r;
  r.step(1, 456, 100, 300)
      .op("mm", 123, 100, 100)
      .runtime(456, 130, 20, 335)
      .kernel("k", 220, 8, 335)
      .kernel("stray", 230, 5);
  const Analysed a(r);
  EXPECT_THAT(a.figures("mm"), ElementsAre(1, 100, 100, 0, 0));
  EXPECT_THAT(a.figures("(no operator)"), ElementsAre(1, 0, 0, 8, 8));
  EXPECT_THAT(a.figures("(no launch)"), ElementsAre(1, 0, 0, 5, 5));
  const auto annotations = find_operators(*a.trace, a.times, a.all, Kind::kAnnotation);
  ASSERT_EQ(annotations.size(), 1U);
  EXPECT_EQ(annotations[0].device_self_ns, 8);  // launched in the step and in no op
}

TEST(HandComputed, AnAnnotationInAnOpTakesNothingFromIt) {
  Rows r;
  r.op("outer", 1, 10, 100)
      .annotation("range", 1, 20, 50)
      .runtime(1, 30, 5, 1)
      .kernel("k", 200, 7, 1);
  const Analysed a(r);
  EXPECT_THAT(a.figures("outer"), ElementsAre(1, 100, 50, 7, 7));
  const auto annotations = find_operators(*a.trace, a.times, a.all, Kind::kAnnotation);
  EXPECT_EQ(annotations[0].device_self_ns, 0);
  EXPECT_EQ(annotations[0].device_total_ns, 7);
}

TEST(HandComputed, OneGraphLaunchOwnsManyKernels) {
  Rows r;
  r.op("c10d::broadcast_", 456, 100, 300)
      .runtime(456, 130, 20, 335)
      .kernel("ncclKernel_Broadcast", 160, 120318, 335)
      .kernel("ncclKernel_Broadcast", 170, 132800, 335);
  const Analysed a(r);
  EXPECT_EQ(a.row("c10d::broadcast_").device_total_ns, 253118);
  EXPECT_EQ(a.overview.communication.total_ns, 132810);
  EXPECT_EQ(a.overview.communication.exposed_ns, 132810);
}

TEST(HandComputed, UtilizationIsAUnionAndEstimatesAreWeighted) {
  Rows r;
  r.op("mat_mul", 1, 100, 100).op("mm", 1, 120, 70);
  r.runtime(1, 120, 0, 1).runtime(1, 120, 0, 2).runtime(1, 125, 3, 3).runtime(1, 195, 1, 4);
  const auto kernel = [&](const char* name, std::int64_t ts, std::int64_t dur, double blocks,
                          double occupancy, std::int64_t c) {
    r.arg("blocks per SM", Value::real(blocks));
    r.arg("est. achieved occupancy %", Value::real(occupancy));
    r.kernel(name, ts, dur, c);
  };
  kernel("A", 130, 10, 0.5, 60, 1);
  kernel("B", 135, 15, 0.6, 10, 2);
  kernel("B", 150, 0, 0.3, 20, 2);
  kernel("A", 145, 25, 0.3, 100, 3);
  kernel("A", 200, 20, 10.5, 30, 4);
  const Analysed a(r);
  ASSERT_EQ(a.overview.devices.size(), 1U);
  const DeviceCard& d = a.overview.devices[0];
  EXPECT_EQ(d.busy_ns, 60);
  EXPECT_DOUBLE_EQ(d.utilization_pct, 50.0);
  EXPECT_NEAR(*d.sm_efficiency_pct,
              100 * (0.5 * 5 + 1.0 * 5 + 0.6 * 5 + 0.9 * 5 + 0.3 * 20 + 1.0 * 20) / 120, 1e-9);
  EXPECT_NEAR(*d.occupancy_pct, 100 * (6 + 1.5 + 25 + 6) / 70, 1e-9);
  const auto kernels = find_kernels(*a.trace, a.all);
  ASSERT_EQ(kernels.size(), 2U);
  EXPECT_NEAR(*kernels[0].blocks_per_sm, (0.5 * 10 + 0.3 * 25 + 10.5 * 20) / 55, 1e-9);
  EXPECT_EQ(kernels[1].min_ns, 0);
}

TEST(HandComputed, KernelsSplitByLaunchConfiguration) {
  Rows r;
  const auto kernel = [&](int block, std::int64_t ts, std::int64_t dur, bool complete) {
    r.arg("grid", Value::json("[16, 1, 1]"));
    r.arg("block", Value::json("[16, 16, " + std::to_string(block) + "]"));
    if (complete) r.arg("registers per thread", Value::integer(18));
    r.kernel("k", ts, dur);
  };
  kernel(16, 10, 15, true);
  kernel(16, 30, 10, true);
  kernel(64, 50, 13, true);
  kernel(64, 70, 17, false);
  const Analysed a(r);
  const auto rows = find_kernels(*a.trace, a.all, KernelGroup::kLaunch);
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0].total_ns, 25);
  EXPECT_EQ(rows[0].mean_ns(), 12);
  EXPECT_EQ(rows[0].block, "[16,16,16]");
  EXPECT_EQ(rows[1].registers_per_thread, std::nullopt);
  EXPECT_EQ(rows[2].registers_per_thread, 18);
}

TEST(HandComputed, HostOnlyTracesCountGlooAsCommunication) {
  Rows r;
  r.step(1, 1, 10, 100).op("gloo:all_reduce", 2, 20, 30).op("aten::mul", 1, 40, 30);
  const Analysed a(r);
  EXPECT_THAT(parts(a.overview.steps[0].breakdown), ElementsAre(0, 0, 0, 30, 0, 0, 20, 50));
  EXPECT_TRUE(a.overview.devices.empty());
}

TEST(HandComputed, SelectedStepsFilterTables) {
  Rows r;
  r.step(1, 1, 10, 100).op("a", 1, 20, 10).step(2, 1, 110, 100).op("b", 1, 120, 30);
  const libtrace::TracePtr t = r.trace();
  const Selection second = Selection::of(find_steps(*t), 1, 1);
  const auto rows = find_operators(*t, DeviceTimes(*t), second, Kind::kOp);
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].name, "b");
  EXPECT_EQ(second.count(), 1U);
}

TEST(HandComputed, GroupsByShapeAndStack) {
  Rows r;
  r.add("python_function", "main.py(1): main", "13721", "1", 5, 200);
  r.add("python_function", "a.py(2): f", "13721", "1", 10, 50);
  r.arg("Input Dims", Value::json("[[2,3]]")).op("aten::mm", 1, 20, 10);
  r.add("python_function", "a.py(2): f", "13721", "1", 70, 50);
  r.arg("Input Dims", Value::json("[[4,5]]")).op("aten::mm", 1, 80, 20);
  r.arg("Input Dims", Value::json("[[4,5]]")).op("aten::mm", 1, 150, 5);
  const libtrace::TracePtr t = r.trace();
  const Selection all = Selection::everything(find_steps(*t));
  const DeviceTimes times(*t);
  const auto shapes = find_operators(*t, times, all, Kind::kOp, OperatorGroup::kShape);
  ASSERT_EQ(shapes.size(), 2U);
  EXPECT_EQ(shapes[0].input_shapes, "[[4,5]]");
  EXPECT_EQ(shapes[0].calls, 2);
  const auto stacks = find_operators(*t, times, all, Kind::kOp, OperatorGroup::kStack);
  ASSERT_EQ(stacks.size(), 2U);
  EXPECT_THAT(stacks[0].stack, ElementsAre("a.py(2): f", "main.py(1): main"));
  EXPECT_EQ(stacks[0].calls, 2);
  EXPECT_THAT(stacks[1].stack, ElementsAre("main.py(1): main"));
}

TEST(HandComputed, MemoryBelongsToTheInnermostOpOfItsThread) {
  Rows r;
  r.op("aten::to", 123, 10, 10)
      .op("aten::to", 123, 200, 60)
      .op("aten::nll_loss_backward", 123, 340, 70)
      .op("aten::to", 123, 510, 150)
      .op("aten::copy_", 123, 520, 100)
      .op("aten::liner", 123, 700, 100)
      .op("aten::t", 123, 705, 40)
      .op("aten::transpose", 123, 710, 30)
      .op("aten::addmm", 123, 750, 40);
  const auto gpu = [&](std::int64_t at, std::int64_t bytes, std::uint64_t addr) {
    r.memory(123, at, bytes, 1, addr);
  };
  r.memory(123, 200, 4, 0, 200);
  gpu(210, 4, 210);
  gpu(265, 4, 265);
  gpu(350, 10, 350);
  gpu(360, -10, 350);
  gpu(515, 100, 515);
  gpu(520, 100, 520);
  gpu(600, -100, 520);
  gpu(701, 100, 701);
  gpu(708, 100, 708);
  gpu(715, 50, 715);
  gpu(735, -50, 715);
  gpu(742, -100, 708);
  gpu(747, 20, 747);
  gpu(760, 30, 760);
  gpu(780, -30, 760);
  gpu(796, -100, 515);
  gpu(799, -7, 99);  // allocated before the recording
  const libtrace::TracePtr t = r.trace();
  const auto rows = memory_operators(*t, Selection::everything(find_steps(*t)));
  const auto figures = [&](std::string_view type, std::string_view name) {
    for (const MemoryOperatorRow& m : rows) {
      if (m.type == type && m.name == name) {
        return std::vector<std::int64_t>{m.self_increase, m.self_allocated, m.allocations};
      }
    }
    return std::vector<std::int64_t>{};
  };
  EXPECT_THAT(figures("cuda", "aten::to"), ElementsAre(104, 104, 2));
  EXPECT_THAT(figures("cpu", "aten::to"), ElementsAre(4, 4, 1));
  EXPECT_THAT(figures("cuda", "aten::nll_loss_backward"), ElementsAre(0, 10, 1));
  EXPECT_THAT(figures("cuda", "aten::copy_"), ElementsAre(0, 100, 1));
  EXPECT_THAT(figures("cuda", "aten::t"), ElementsAre(0, 100, 1));
  EXPECT_THAT(figures("cuda", "aten::transpose"), ElementsAre(0, 50, 1));
  EXPECT_THAT(figures("cuda", "aten::addmm"), ElementsAre(0, 30, 1));
  EXPECT_THAT(figures("cuda", "aten::liner"), ElementsAre(100 + 20 - 100 - 7, 120, 2));
  EXPECT_THAT(figures("cuda", "(no operator)"), ElementsAre(4, 4, 1));

  const auto devices = find_memory(*t);
  ASSERT_EQ(devices.size(), 2U);
  const MemoryDevice& cuda = devices[1];
  EXPECT_TRUE(cuda.relative);  // no totals in these rows
  EXPECT_EQ(cuda.peak_allocated, std::nullopt);
  EXPECT_EQ(cuda.freed_from_before, 1);
  EXPECT_EQ(cuda.curve.back().allocated, 4 + 4 + 100 + 20 - 7);
}

TEST(HandComputed, ThePeakIsOwned) {
  Rows r;
  r.op("a", 1, 5, 50).op("b", 1, 60, 50);
  const auto event = [&](std::int64_t at, std::int64_t bytes, std::uint64_t addr,
                         std::int64_t total) {
    libtrace::MemoryEvent m;
    m.at = at;
    m.bytes = bytes;
    m.addr = addr;
    m.total_allocated = total;
    m.device_type = 1;
    m.device_id = 0;
    r.b.add_memory(m, r.b.intern("13721"), r.b.intern("1"));
  };
  event(10, 100, 16, 1100);
  event(20, 100, 32, 1200);
  event(30, -100, 16, 1100);
  event(70, 300, 16, 1400);  // the peak
  event(80, -300, 16, 1100);
  const libtrace::TracePtr t = r.trace();
  const MemoryDevice d = find_memory(*t)[0];
  EXPECT_EQ(d.peak_allocated, 1400);
  EXPECT_EQ(d.peak_at, 70);
  const auto alive = alive_at_peak(*t, d);
  ASSERT_EQ(alive.size(), 3U);
  EXPECT_EQ(alive[0].op, "(before the recording)");
  EXPECT_EQ(alive[0].bytes, 1000);
  EXPECT_EQ(alive[1].op, "b");
  EXPECT_EQ(alive[1].last_freed, 80);
  EXPECT_EQ(alive[2].op, "a");
  EXPECT_EQ(alive[2].last_freed, std::nullopt);
}

TEST(HandComputed, CollectivesMatchBySequenceElseByOrder) {
  const auto k = [](std::optional<std::int64_t> seq, std::int64_t start, std::int64_t dur) {
    return CollectiveKernel{"pg", "allreduce", seq, -1, -1, start, dur};
  };
  // Rank 1's clock is 1000 ahead; every collective ends at once.
  auto found = match_collectives({{0, {k(7, 100, 60), k(8, 200, 20), k(std::nullopt, 300, 10)}},
                                  {1, {k(7, 1140, 20), k(8, 1190, 30), k(std::nullopt, 1305, 5)}},
                                  {2, {k(9, 100, 60)}}});
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].seq, 7);
  EXPECT_EQ(found[0].transfer_ns, 20);
  EXPECT_EQ(found[0].last_rank, 1);
  EXPECT_EQ(found[0].ranks[0].wait_ns, 40);
  EXPECT_EQ(found[1].last_rank, 0);
  EXPECT_EQ(found[2].seq, std::nullopt);
  EXPECT_EQ(found[2].transfer_ns, 5);
  // At equal starts the lowest rank is last; a sequence number twice goes by order.
  // A send and its receive are one by both ranks: their numbers count on each rank by itself.
  const auto pair = [&](std::int64_t seq, std::int64_t ts, int from, int to) {
    CollectiveKernel kernel = k(seq, ts, 10);
    kernel.from = from;
    kernel.to = to;
    return kernel;
  };
  EXPECT_EQ(match_collectives({{0, {pair(1, 10, 0, 1)}}, {2, {pair(1, 10, 2, 3)}}}).size(), 0U);
  EXPECT_EQ(match_collectives({{0, {pair(1, 10, 0, 1)}}, {1, {pair(4, 10, 0, 1)}}}).size(), 1U);
  found = match_collectives({{3, {k(1, 10, 5), k(1, 20, 5)}}, {2, {k(1, 10, 5), k(1, 20, 9)}}});
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].last_rank, 2);
  EXPECT_EQ(found[1].ranks[0].wait_ns, 4);
}

TEST(HandComputed, TrustFollowsTheReport) {
  libtrace::Report r;
  EXPECT_EQ(judge(r).grade, 'A');
  r.add("no_launch", 3);
  EXPECT_EQ(judge(r).grade, 'A');
  r.add("overlap");
  EXPECT_EQ(judge(r).grade, 'B');
  r.add("repaired");
  EXPECT_EQ(judge(r).grade, 'C');
  r.add("incomplete");
  EXPECT_EQ(judge(r).grade, 'D');
}

TEST(HandComputed, AMeanOfAbsurdValuesIsAbsent) {
  WeightedMean mean;
  mean.add(1e308, 1000);
  EXPECT_EQ(mean.mean(), std::nullopt);
}

TEST(HandComputed, NothingToSeeIsNoError) {
  Rows r;
  const Analysed a(r);
  EXPECT_TRUE(a.overview.steps.empty());
  EXPECT_EQ(a.overview.mean_step_ns, 0);
  EXPECT_TRUE(find_kernels(*a.trace, a.all).empty());
}

}  // namespace
}  // namespace traceglass
