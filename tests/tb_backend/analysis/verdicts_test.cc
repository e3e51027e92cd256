// Verdicts, idle time and critical path: small traces by hand, laws over generated ones.
#include "tb_backend/analysis/verdicts.h"

#include <gtest/gtest.h>

#include <numeric>

#include "tb_backend/analysis/critical_path.h"
#include "tb_backend/analysis/idle.h"
#include "tests/libtrace/model/generate.h"
#include "tests/tb_backend/analysis/rows.h"

namespace traceglass {
namespace {

using testing::Rows;

Selection everything(const libtrace::Trace& trace) {
  return Selection::everything(find_steps(trace));
}

const Verdict& verdict(const std::vector<Verdict>& all, const std::string& id) {
  return *std::find_if(all.begin(), all.end(), [&](const Verdict& v) { return v.id == id; });
}

class VerdictLaws : public ::testing::TestWithParam<unsigned> {
 protected:
  libtrace::TracePtr trace = libtrace::testing::Generator(GetParam()).trace();
};

TEST_P(VerdictLaws, SevenVerdictsWithCeilingsWithinTheStep) {
  const Selection all = everything(*trace);
  const std::vector<Verdict> verdicts = find_verdicts(*trace, all);
  if (all.count() == 0) return;
  ASSERT_EQ(verdicts.size(), 7U);
  const StepGraph graph(*trace);
  const std::int64_t mean = StepChain(graph, all).mean_step_ns();
  for (const Verdict& v : verdicts) {
    EXPECT_FALSE(v.sentence.empty()) << v.id;
    EXPECT_LE(v.events.size(), 20U);
    EXPECT_EQ(v.severity == VerdictSeverity::kUnknown, !v.gain_ceiling_ns.has_value()) << v.id;
    if (!v.gain_ceiling_ns) continue;
    EXPECT_GE(*v.gain_ceiling_ns, 0) << v.id;
    EXPECT_LE(*v.gain_ceiling_ns, mean) << v.id;
    EXPECT_LE(*v.share_pct, 100.0) << v.id;
  }
}

TEST_P(VerdictLaws, CausesOfIdleTimeSumToIt) {
  const StepGraph graph(*trace);
  for (const DeviceIdle& d : find_idle(graph, everything(*trace))) {
    EXPECT_EQ(std::accumulate(d.by_cause.begin(), d.by_cause.end(), std::int64_t{0}), d.idle_ns);
    std::int64_t gaps = 0;
    for (const IdleGap& g : d.gaps) gaps += g.end - g.start;
    EXPECT_EQ(gaps, d.idle_ns);
  }
}

TEST_P(VerdictLaws, PathsTileTheirSteps) {
  const StepGraph graph(*trace);
  const StepChain chain(graph, everything(*trace));
  for (std::size_t i = 0; i < chain.steps(); ++i) {
    std::int64_t at = chain.step(i).extended.start;
    for (const PathSegment& s : critical_path(chain, i)) {
      ASSERT_EQ(s.start, at);
      ASSERT_LT(s.start, s.end);
      at = s.end;
    }
    EXPECT_EQ(at, chain.step(i).extended.end);
  }
  const CriticalPath found = find_critical_path(chain);
  EXPECT_EQ(std::accumulate(found.parts.begin(), found.parts.end(), std::int64_t{0}),
            found.mean_step_ns);
  for (const WhatIfRow& row : found.what_if) EXPECT_LE(row.gain_ns, found.mean_step_ns);
}

INSTANTIATE_TEST_SUITE_P(Seeds, VerdictLaws, ::testing::Range(0U, 60U));

// The device works for 40 of 100 us; 50 of the rest are the DataLoader's, 10 a launch's.
Rows loading_step() {
  Rows rows;
  rows.step(1, 1, 0, 100'000);
  rows.annotation("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 1, 0, 50'000);
  rows.op("aten::mm", 1, 50'000, 20'000).runtime(1, 52'000, 6'000, 11);
  rows.kernel("gemm", 60'000, 40'000, 11);
  return rows;
}

TEST(Verdicts, DataLoadingIsFirstWhereTheDeviceWaitsForIt) {
  const auto trace = loading_step().trace();
  const std::vector<Verdict> all = find_verdicts(*trace, everything(*trace));
  EXPECT_EQ(all[0].id, "data_loading");
  EXPECT_EQ(all[0].severity, VerdictSeverity::kHigh);
  EXPECT_EQ(all[0].gain_ceiling_ns, 50'000);
  EXPECT_EQ(all[0].share_pct, 50.0);
  EXPECT_EQ(trace->name(all[0].events.at(0)),
            "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__");
  EXPECT_NE(all[0].evidence.at(0).find("_SingleProcessDataLoaderIter"), std::string::npos);
}

TEST(Idle, AGapIsSplitByWhatTheLaunchingThreadDid) {
  const auto trace = loading_step().trace();
  const auto idle = find_idle(StepGraph(*trace), everything(*trace));
  ASSERT_EQ(idle.size(), 1U);
  EXPECT_EQ(idle[0].idle_ns, 60'000);
  EXPECT_EQ(idle[0].of(IdleCause::kDataLoading), 50'000);
  EXPECT_EQ(idle[0].of(IdleCause::kLaunch), 10'000);
  ASSERT_EQ(idle[0].gaps.size(), 2U);
  EXPECT_EQ(trace->name(idle[0].gaps[1].blame), "aten::mm");
  EXPECT_EQ(trace->name(idle[0].gaps[1].next), "gemm");
}

TEST(CriticalPath, GoesFromTheKernelOverItsLaunchToTheDataLoader) {
  const auto trace = loading_step().trace();
  const StepGraph graph(*trace);
  const StepChain chain(graph, everything(*trace));
  std::string path;
  for (const PathSegment& s : critical_path(chain, 0)) {
    path +=
        std::string(path_category_name(s.category)) + " " + std::to_string(s.end - s.start) + "; ";
  }
  EXPECT_EQ(path, "data_loading 50000; op 2000; runtime 6000; launch_delay 2000; kernel 40000; ");
}

TEST(Verdicts, AReadInTheMiddleDrainsTheDevice) {
  Rows rows;
  rows.step(1, 1, 0, 200'000);
  rows.op("aten::mm", 1, 0, 20'000).runtime(1, 2'000, 6'000, 11);
  rows.op("aten::item", 1, 20'000, 60'000);
  rows.b.arg("correlation", libtrace::Value::integer(12));
  rows.add("cuda_runtime", "cudaStreamSynchronize", "13721", "1", 22'000, 56'000);
  rows.op("aten::addmm", 1, 80'000, 60'000).runtime(1, 130'000, 6'000, 13);
  rows.kernel("gemm", 10'000, 60'000, 11).kernel("gemm", 140'000, 60'000, 13);
  const auto trace = rows.trace();
  const std::vector<Verdict> all = find_verdicts(*trace, everything(*trace));
  const Verdict& v = verdict(all, "synchronization");
  EXPECT_EQ(v.severity, VerdictSeverity::kHigh);
  // Without it the second launch comes 60'000 sooner, at 70'000 … and its kernel at 80'000.
  EXPECT_EQ(v.gain_ceiling_ns, 60'000);
  EXPECT_NE(v.sentence.find("aten::item"), std::string::npos);
  const auto idle = find_idle(StepGraph(*trace), everything(*trace));
  EXPECT_EQ(idle[0].of(IdleCause::kSynchronization), 66'000);
}

TEST(Verdicts, WithoutDeviceOrHostTheySayWhatToRecord) {
  Rows host;
  host.step(1, 1, 0, 100).op("aten::mm", 1, 0, 100);
  const auto only_host = host.trace();
  EXPECT_EQ(verdict(find_verdicts(*only_host, everything(*only_host)), "synchronization").severity,
            VerdictSeverity::kUnknown);
  Rows device;
  device.kernel("gemm", 0, 100);
  const auto only_device = device.trace();
  EXPECT_EQ(verdict(find_verdicts(*only_device, everything(*only_device)), "data_loading").severity,
            VerdictSeverity::kUnknown);
}

}  // namespace
}  // namespace traceglass
