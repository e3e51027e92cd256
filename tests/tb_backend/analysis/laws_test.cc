// The laws of metrics over generated traces: what must hold whatever the input.
#include <gtest/gtest.h>

#include <numeric>

#include "tb_backend/analysis/memory.h"
#include "tb_backend/analysis/overview.h"
#include "tests/libtrace/model/generate.h"

namespace traceglass {
namespace {

using libtrace::EventId;
using libtrace::Kind;

class AnalysisLaws : public ::testing::TestWithParam<unsigned> {
 protected:
  libtrace::TracePtr trace = libtrace::testing::Generator(GetParam()).trace();
  const libtrace::Trace& t = *trace;
  Selection all = Selection::everything(find_steps(t));
  DeviceTimes times{t};
  Overview overview = find_overview(t, times, all);
};

TEST_P(AnalysisLaws, BreakdownPartsAreNotNegativeAndSumToTheStep) {
  for (const StepRow& row : overview.steps) {
    for (const std::int64_t ns : row.breakdown.ns) EXPECT_GE(ns, 0);
    EXPECT_EQ(row.breakdown.total(), row.step.extended.length());
  }
}

TEST_P(AnalysisLaws, StepsStandInOrderAndDoNotOverlap) {
  for (std::size_t i = 1; i < overview.steps.size(); ++i) {
    EXPECT_LE(overview.steps[i - 1].step.extended.end, overview.steps[i].step.extended.start);
  }
}

TEST_P(AnalysisLaws, DeviceSelfSumsToAllDeviceWork) {
  std::int64_t work = 0;
  for (EventId e = 0; e < t.size(); ++e) {
    if (libtrace::is_device_work(t.kind(e)) && !t.suspect(e)) work += t.dur(e);
  }
  std::int64_t sum = 0;
  for (const OperatorRow& r : find_operators(t, times, all, Kind::kOp)) sum += r.device_self_ns;
  EXPECT_EQ(sum, work);
}

TEST_P(AnalysisLaws, SelfIsAtMostTotal) {
  for (const OperatorRow& r : find_operators(t, times, all, Kind::kOp)) {
    EXPECT_LE(r.host_self_ns, r.host_total_ns) << r.name;
    EXPECT_GE(r.host_self_ns, 0) << r.name;
  }
}

TEST_P(AnalysisLaws, FinerGroupsSumToTheCoarserOnes) {
  for (const auto group : {OperatorGroup::kShape, OperatorGroup::kStack}) {
    const auto coarse = find_operators(t, times, all, Kind::kOp);
    const auto fine = find_operators(t, times, all, Kind::kOp, group);
    const auto self = [](const auto& rows) {
      return std::accumulate(rows.begin(), rows.end(), std::int64_t{0},
                             [](std::int64_t s, const OperatorRow& r) {
                               return s + r.host_self_ns + r.device_self_ns + r.calls;
                             });
    };
    EXPECT_EQ(self(coarse), self(fine));
  }
  const auto names = find_kernels(t, all, KernelGroup::kName);
  EXPECT_EQ(total_of(names), total_of(find_kernels(t, all, KernelGroup::kLaunch)));
}

TEST_P(AnalysisLaws, UtilizationStaysWithinTheRange) {
  const libtrace::TimeRange range = all.range(t);
  for (const DeviceCard& d : overview.devices) {
    EXPECT_LE(d.busy_ns, range.length());
    EXPECT_GE(d.utilization_pct, 0);
    EXPECT_LE(d.utilization_pct, 100.0);
  }
  EXPECT_LE(overview.communication.exposed_ns, overview.communication.total_ns);
  EXPECT_GE(overview.communication.exposed_ns, 0);
}

TEST_P(AnalysisLaws, StepsOneByOneAreTheWholeSelection) {
  if (overview.steps.size() < 2 || overview.steps[0].step.synthetic) return;
  std::int64_t one_by_one = 0, inside = 0;
  for (std::size_t i = 0; i < overview.steps.size(); ++i) {
    const Selection one = Selection::of(find_steps(t), i, i);
    one_by_one += total_of(find_kernels(t, one));
  }
  for (EventId e = 0; e < t.size(); ++e) {
    if (t.kind(e) != Kind::kKernel || t.suspect(e)) continue;
    for (const StepRow& row : overview.steps) {
      const libtrace::TimeRange r = row.step.extended;
      if (t.start(e) >= r.start && t.start(e) < r.end) inside += t.dur(e);
    }
  }
  EXPECT_EQ(one_by_one, inside);
}

TEST_P(AnalysisLaws, MemoryFiguresAgreeWithEachOther) {
  std::int64_t allocations = 0;
  for (const MemoryDevice& d : find_memory(t)) {
    allocations += d.allocations;
    std::int64_t blocks = 0;
    for (const MemoryBlock& b : d.blocks) {
      blocks += b.allocated_at.has_value();
      EXPECT_TRUE(b.allocated_at || b.freed_at);
    }
    EXPECT_EQ(blocks, d.allocations);
    const auto thin = thinned(d.curve, 8);
    EXPECT_LE(thin.size(), std::max<std::size_t>(8, 4));
  }
  std::int64_t by_operator = 0;
  for (const MemoryOperatorRow& r : memory_operators(t, all)) by_operator += r.allocations;
  EXPECT_EQ(by_operator, allocations);
}

INSTANTIATE_TEST_SUITE_P(Seeds, AnalysisLaws, ::testing::Range(100U, 140U));

}  // namespace
}  // namespace traceglass
