// Verdicts, idle time and critical path: small traces by hand, laws over generated ones.
#include "tb_backend/analysis/verdicts.h"

#include <gmock/gmock.h>
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
    EXPECT_GE(v.seen_pct.value_or(0), 0) << v.id;
    EXPECT_LE(v.seen_pct.value_or(0), 100.0) << v.id;
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
  for (const WhatIfRow& row : found.what_if) {
    EXPECT_LE(row.ns_on_path, found.mean_step_ns);
    // Half of what is on the chain; of a long run also what the first step hides of its own part.
    const std::int64_t first = chain.long_run() ? chain.step(0).extended.length() : 0;
    EXPECT_LE(row.gain_ns, row.ns_on_path / 2 + first / (2 * chain.steps_of_gain()) + 1);
  }
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

// A loader of 30 us beside a kernel of 80: it is seen, and costs nothing that a fix could gain.
TEST(Verdicts, WhatIsHiddenIsSeenAndGainsNothing) {
  Rows rows;
  rows.step(1, 1, 0, 100'000);
  rows.op("aten::mm", 1, 0, 20'000).runtime(1, 2'000, 6'000, 11);
  rows.annotation("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 1, 30'000, 30'000);
  rows.kernel("gemm", 20'000, 80'000, 11);
  const auto trace = rows.trace();
  const Verdict v = verdict(find_verdicts(*trace, everything(*trace)), "data_loading");
  EXPECT_EQ(v.severity, VerdictSeverity::kOk);
  EXPECT_EQ(v.seen_pct, 30.0);
}

TEST(Verdicts, DataLoadingIsFirstWhereTheDeviceWaitsForIt) {
  const auto trace = loading_step().trace();
  const std::vector<Verdict> all = find_verdicts(*trace, everything(*trace));
  EXPECT_EQ(all[0].id, "data_loading");
  EXPECT_EQ(all[0].severity, VerdictSeverity::kHigh);
  EXPECT_EQ(all[0].gain_ceiling_ns, 50'000);
  EXPECT_EQ(all[0].share_pct, 50.0);
  EXPECT_EQ(all[0].seen_pct, 50.0);
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

// The host gives products to a device until its queue of 300 is full; from then on each launch
// stands until one more is done. The device is the limit: halved, the step is as much shorter.
TEST(Verdicts, AFullQueueIsTheDevicesLimit) {
  constexpr std::int64_t kCount = 600, kDepth = 300, kLength = 100'000, kCall = 5'000;
  Rows rows;
  rows.b.add_device({0, "Tesla V100-SXM2-16GB", 16LL << 30, 80, 2048, 7, 0});
  std::int64_t at = 0, done = 0;
  std::size_t stood = 0;
  std::vector<std::int64_t> ends;
  for (std::int64_t i = 0; i < kCount; ++i) {
    const std::int64_t room = i < kDepth ? 0 : ends[static_cast<std::size_t>(i - kDepth)];
    const std::int64_t back = std::max(at + kCall, room);
    stood += back - at - 500 > 30'000;  // what a launch takes is no wait
    rows.op("aten::mm", 1, at, back - at + 1'000).runtime(1, at + 500, back - at - 500, i + 1);
    const std::int64_t start = std::max(back + 1'000, done + 1'000);
    rows.kernel("volta_sgemm_128x64_nn", start, kLength, i + 1);
    done = start + kLength;
    ends.push_back(done);
    at = back + 1'000;
  }
  rows.step(1, 1, 0, at);
  const auto trace = rows.trace();
  const std::vector<Verdict> all = find_verdicts(*trace, everything(*trace));
  EXPECT_EQ(all[0].id, "inefficient_operators");
  const auto half = static_cast<double>(kCount * kLength / 2);
  EXPECT_NEAR(static_cast<double>(all[0].gain_ceiling_ns.value_or(0)), half, half / 50);
  EXPECT_EQ(verdict(all, "small_kernels").severity, VerdictSeverity::kOk);
  EXPECT_EQ(verdict(all, "synchronization").severity, VerdictSeverity::kOk);
  // The walk over what was recorded gives what was recorded.
  const StepGraph graph(*trace);
  Times times;
  graph.walk(graph.as_recorded(), times);
  std::size_t queued = 0;
  for (NodeId n = 0; n < graph.nodes().size(); ++n) {
    EXPECT_EQ(times[n].start, graph.nodes()[n].start);
    queued += graph.nodes()[n].cause.kind == EdgeKind::kQueue;
  }
  EXPECT_GT(stood, 250U);
  EXPECT_EQ(queued, stood);
}

// The second product waits for the all-reduce, and begins 18 us after it as on an MI300X: without
// the collective, of 300 us, the step is 300 us shorter.
TEST(Verdicts, WorkThatWaitedForACollectiveOfAnotherStream) {
  Rows rows;
  rows.step(1, 1, 0, 50'000);
  rows.op("aten::mm", 1, 0, 9'000).runtime(1, 2'000, 6'000, 11);
  rows.op("nccl:all_reduce", 1, 10'000, 9'000).runtime(1, 12'000, 6'000, 12);
  rows.op("aten::mm", 1, 20'000, 9'000).runtime(1, 22'000, 6'000, 13);
  rows.kernel("gemm", 60'000, 100'000, 11).kernel("gemm", 478'000, 100'000, 13);
  rows.arg("device", libtrace::Value::integer(0));
  rows.arg("correlation", libtrace::Value::integer(12));
  rows.add("kernel", "ncclDevKernel_Generic", "0", "20", 160'000, 300'000);
  const auto trace = rows.trace();
  const std::vector<Verdict> all = find_verdicts(*trace, everything(*trace));
  EXPECT_EQ(all[0].id, "communication");
  EXPECT_EQ(all[0].gain_ceiling_ns, 300'000);
}

TEST(Verdicts, CollectivesAreKernelsToo) {
  Rows rows;
  rows.op("nccl:all_reduce", 1, 0, 9'000).runtime(1, 2'000, 6'000, 12);
  rows.kernel("ncclDevKernel_Generic", 20'000, 50'000, 12);
  const auto trace = rows.trace();
  const std::vector<Verdict> all = find_verdicts(*trace, everything(*trace));
  EXPECT_EQ(verdict(all, "small_kernels").sentence,
            "No kernel but those of collectives runs in the steps.");
}

// 60 us of the kernel time in Linear_0, of both passes; 30 in Linear_1; 10 in no module.
TEST(Verdicts, SlowProductsAreNamedByOperatorAndModule) {
  Rows rows;
  rows.b.add_device({0, "Tesla V100-SXM2-16GB", 16LL << 30, 80, 2048, 7, 0});
  const auto frame = [&](std::string_view name, std::int64_t ts, std::int64_t dur) {
    rows.add("python_function", name, "13721", "1", ts, dur);
  };
  const auto product = [&](std::int64_t launch, std::int64_t ts, std::int64_t dur, int sequence) {
    rows.arg("Sequence number", libtrace::Value::integer(sequence));
    rows.op("aten::mm", 1, launch, 900).runtime(1, launch + 200, 500, launch);
    rows.kernel("volta_sgemm_128x64_nn", ts, dur, launch);
  };
  rows.step(1, 1, 0, 20'000);
  frame("nn.Module: Net_0", 1'000, 6'000);
  frame("nn.Module: Linear_0", 1'500, 2'000);
  product(2'000, 10'000, 20'000, 1);
  frame("nn.Module: Linear_1", 4'000, 2'000);
  product(4'500, 30'000, 30'000, 2);
  // The backward pass of Linear_0.
  rows.arg("Sequence number", libtrace::Value::integer(1));
  rows.arg("Fwd thread id", libtrace::Value::integer(1));
  rows.op("autograd::engine::evaluate_function: MmBackward0", 1, 9'000, 3'000);
  product(9'500, 60'000, 40'000, 1);
  rows.op("aten::sum", 1, 14'000, 1'000).runtime(1, 14'200, 500, 14'000);
  rows.kernel("reduce_kernel", 100'000, 10'000, 14'000);
  const auto trace = rows.trace();
  const std::vector<Verdict> all = find_verdicts(*trace, everything(*trace));
  const Verdict& v = verdict(all, "inefficient_operators");
  EXPECT_EQ(v.severity, VerdictSeverity::kHigh);
  EXPECT_THAT(v.evidence,
              ::testing::ElementsAre(
                  "aten::mm takes 90.0 % of the kernel time.",
                  "By module, backward pass included: Linear_0 in Net_0 60.0 %, Linear_1 in Net_0 "
                  "30.0 %.",
                  "Most of it: aten::mm, 90.0 µs a step; by module: Linear_0 in Net_0, 60.0 µs a "
                  "step."));
}

// 1000³ in half precision, 2 GFLOP: on a V100 16 µs at best. A call of 32 µs is at half its roof,
// one of 64 at a quarter; together 4 GFLOP in 96 µs, 32 of them needed.
TEST(Verdicts, TheGreatestOperatorIsHeldAgainstItsRoof) {
  for (const bool shapes : {true, false}) {
    Rows rows;
    rows.b.add_device({0, "Tesla V100-SXM2-16GB", 16LL << 30, 80, 2048, 7, 0});
    rows.step(1, 1, 0, 100'000);
    for (int i = 0; i < 2; ++i) {
      if (shapes) {
        rows.arg("Input Dims", testing::Value::json("[[1000,1000],[1000,1000]]"));
        rows.arg("Input type", testing::Value::json(R"(["c10::Half","c10::Half"])"));
      }
      const std::int64_t at = i * 40'000;
      rows.op("aten::mm", 1, at, 9'000).runtime(1, at + 2'000, 6'000, 11 + i);
      rows.kernel("volta_h884gemm", at + 10'000, 32'000 * (i + 1), 11 + i);
    }
    const auto trace = rows.trace();
    const std::vector<Verdict> all = find_verdicts(*trace, everything(*trace));
    const std::vector<std::string> evidence = verdict(all, "inefficient_operators").evidence;
    const auto roof = ::testing::Contains("aten::mm runs at 41.7 TFLOP/s, 33.3 % of its roof.");
    if (shapes) {
      EXPECT_THAT(evidence, roof);
    } else {
      EXPECT_THAT(evidence, ::testing::ElementsAre("aten::mm takes 100.0 % of the kernel time."));
    }
  }
}

std::size_t times(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

std::size_t of_torch(const std::string& text) {
  return times(text, "ProfilerActivity.") + times(text, "=True");
}

// Every option of torch's has ours beside it; the number of those that were named.
std::size_t named_options(const std::vector<Verdict>& all) {
  std::size_t named = 0;
  for (const Verdict& v : all) {
    EXPECT_EQ(of_torch(v.sentence), times(v.sentence, "(C++: ")) << v.sentence;
    named += of_torch(v.sentence);
    for (const Suggestion& s : v.suggestions) {
      if (times(s.code, "profile(") == 0) continue;
      EXPECT_EQ(times(s.code, "libtrace::Options{"), 1U) << s.code;
      ++named;
    }
  }
  return named;
}

TEST(Verdicts, WithoutDeviceOrHostTheySayWhatToRecord) {
  Rows host;
  host.step(1, 1, 0, 100).op("aten::mm", 1, 0, 100);
  const auto only_host = host.trace();
  const std::vector<Verdict> of_host = find_verdicts(*only_host, everything(*only_host));
  EXPECT_EQ(verdict(of_host, "synchronization").severity, VerdictSeverity::kUnknown);
  EXPECT_EQ(verdict(of_host, "synchronization").sentence,
            "The file has no device work to wait for: record ProfilerActivity.CUDA (C++: "
            "Activities::cuda()) as well.");
  EXPECT_EQ(verdict(of_host, "memory").sentence,
            "How full the device is was not recorded: profile_memory=True (C++: .profile_memory = "
            "true).");
  // Synchronization, small kernels, operators, memory, utilization.
  EXPECT_EQ(named_options(of_host), 5U);
}

// One kernel, no steps: what the host did is not in the file, and each check of it says so.
TEST(Verdicts, OfAFileWithoutHostOnlyTheDeviceIsJudged) {
  Rows device;
  device.kernel("gemm", 0, 100);
  const auto only_device = device.trace();
  const std::vector<Verdict> all = find_verdicts(*only_device, everything(*only_device));
  const std::string no_host =
      "The file has no host activity: record ProfilerActivity.CPU (C++: Activities::cpu()) as "
      "well.";
  for (const char* id : {"data_loading", "synchronization"}) {
    EXPECT_EQ(verdict(all, id).severity, VerdictSeverity::kUnknown);
    EXPECT_EQ(verdict(all, id).sentence, no_host);
  }
  EXPECT_EQ(verdict(all, "small_kernels").severity, VerdictSeverity::kUnknown);
  EXPECT_EQ(verdict(all, "small_kernels").sentence,
            "1 of 1 kernel lasts under 10 µs; whether their launches come late needs the host's "
            "side: record ProfilerActivity.CPU (C++: Activities::cpu()) as well.");
  // Data loading, synchronization, small kernels, memory.
  EXPECT_EQ(named_options(all), 4U);
}

// The host stands in Python between two kernels: it suggests stacks in both recorders' words.
TEST(Verdicts, WhatToRecordNextIsSaidForBothRecorders) {
  Rows rows;
  rows.step(1, 1, 0, 1'000'000);
  rows.op("aten::mm", 1, 0, 9'000).runtime(1, 2'000, 6'000, 11).kernel("gemm", 10'000, 50'000, 11);
  rows.op("aten::mm", 1, 900'000, 9'000).runtime(1, 902'000, 6'000, 12);
  rows.kernel("gemm", 910'000, 90'000, 12);
  const auto trace = rows.trace();
  const std::vector<Verdict> all = find_verdicts(*trace, everything(*trace));
  EXPECT_EQ(all[0].id, "low_utilization");
  EXPECT_EQ(all[0].suggestions.at(1).code,
            "profile(activities=[CPU, CUDA], with_stack=True)\n"
            "libtrace::Options{.activities = Activities::cpu() | Activities::cuda(),\n"
            "                  .with_stack = true}");
  EXPECT_GE(named_options(all), 1U);
}

constexpr const char* kLoader = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__";

// Four steps of 100 us, 100 us apart; in each the device works from 10 to 70.
Rows paused_steps() {
  Rows rows;
  for (int i = 0; i < 4; ++i) {
    const std::int64_t at = i * 200'000;
    rows.step(i + 1, 1, at, 100'000);
    rows.op("aten::mm", 1, at, 100'000).runtime(1, at + 2'000, 6'000, 11 + i);
    rows.kernel("gemm", at + 10'000, 60'000, 11 + i);
  }
  return rows;
}

TEST(Verdicts, TimeBetweenStepsIsNoneOfThem) {
  const auto trace = paused_steps().trace();
  const auto idle = find_idle(StepGraph(*trace), everything(*trace));
  EXPECT_EQ(idle[0].idle_ns, 4 * 40'000);
  EXPECT_EQ(idle[0].of(IdleCause::kPython), 0);
  for (const IdleGap& gap : idle[0].gaps) {
    EXPECT_EQ(gap.start / 200'000, (gap.end - 1) / 200'000);
    EXPECT_LE((gap.end - 1) % 200'000 + 1, 100'000);
  }
  for (const Verdict& v : find_verdicts(*trace, everything(*trace))) {
    EXPECT_LE(v.gain_ceiling_ns.value_or(0), 40'000) << v.id;
    if (v.id != "low_utilization") continue;
    EXPECT_NE(v.sentence.find("busy for 60.0 % of the step"), std::string::npos) << v.sentence;
  }
}

TEST(Verdicts, ALoaderBetweenStepsIsNotTheirData) {
  Rows rows = paused_steps();
  for (int i = 0; i < 4; ++i) rows.annotation(kLoader, 1, i * 200'000 + 110'000, 80'000);
  const auto trace = rows.trace();
  const std::vector<Verdict> all = find_verdicts(*trace, everything(*trace));
  EXPECT_EQ(verdict(all, "data_loading").severity, VerdictSeverity::kOk);
  EXPECT_EQ(verdict(all, "data_loading").gain_ceiling_ns, 0);
  const auto idle = find_idle(StepGraph(*trace), everything(*trace));
  EXPECT_EQ(idle[0].of(IdleCause::kDataLoading), 0);
}

TEST(Verdicts, OfAStretchAcrossAStepsEndOnlyWhatIsInsideCounts) {
  Rows rows = paused_steps();
  // 10 us in the step, 30 behind it, on another thread.
  for (int i = 0; i < 4; ++i) rows.op("aten::mul", 2, i * 200'000 + 90'000, 40'000);
  const auto trace = rows.trace();
  const StepGraph graph(*trace);
  const StepChain chain(graph, everything(*trace));
  std::int64_t own = 0;
  for (NodeId n = 0; n < graph.nodes().size(); ++n) {
    const Node& node = graph.nodes()[n];
    if (node.event == libtrace::kNone || trace->name(node.event) != "aten::mul") continue;
    EXPECT_TRUE(chain.chosen(n));
    EXPECT_EQ(chain.changed(n, 0), 30'000);
    EXPECT_EQ(chain.changed(n, node.cost() / 2), 35'000);
    own += chain.own_cost(n);
  }
  EXPECT_EQ(own, 4 * 10'000);
}

TEST(CriticalPath, WhatIfIsOfTheChainOfAllSteps) {
  // The host takes 100 us a step, 50 of them its loader; each kernel ends 20 us into the next step,
  // whose own path therefore has only 30 us of its loader.
  Rows rows;
  for (int i = 0; i < 4; ++i) {
    const std::int64_t at = i * 100'000;
    rows.step(i + 1, 1, at, 100'000).annotation(kLoader, 1, at, 50'000);
    rows.op("aten::mm", 1, at + 50'000, 50'000).runtime(1, at + 52'000, 6'000, 11 + i);
    rows.kernel("gemm", at + 60'000, 60'000, 11 + i);
  }
  const auto trace = rows.trace();
  const StepGraph graph(*trace);
  const StepChain chain(graph, everything(*trace));
  const CriticalPath found = find_critical_path(chain);
  std::string text;
  for (const WhatIfRow& row : found.what_if) {
    text += std::string(trace->text(row.name)) + " " + std::to_string(row.ns_on_path) + " " +
            std::to_string(row.gain_ns) + "; ";
  }
  EXPECT_EQ(text, std::string(kLoader) +
                      " 50000 25000; aten::mm 44000 22000; cudaLaunchKernel 6000 3000; ");
}

TEST(CriticalPath, PartsSumWhereDoublesNoLongerHoldANanosecond) {
  constexpr std::int64_t kLong = std::int64_t{1} << 54;
  Rows rows;
  rows.step(1, 1, 0, kLong + 1).op("aten::mm", 1, 5, kLong - 5);
  rows.step(2, 1, kLong + 1, kLong + 2).op("aten::mm", 1, kLong + 10, 7);
  const auto trace = rows.trace();
  const StepGraph graph(*trace);
  const CriticalPath found = find_critical_path(StepChain(graph, everything(*trace)));
  EXPECT_EQ(found.mean_step_ns, kLong + 2);  // of + 1 and + 2, rounded
  EXPECT_EQ(std::accumulate(found.parts.begin(), found.parts.end(), std::int64_t{0}),
            found.mean_step_ns);
}

TEST(Verdicts, AMessageOfMoreBytesThanThereAreHasNoSize) {
  Rows rows;
  rows.step(1, 1, 0, 100'000);
  rows.op("aten::mm", 1, 0, 90'000).runtime(1, 2'000, 6'000, 11).runtime(1, 10'000, 6'000, 12);
  const auto message = [&](std::int64_t elements) -> Rows& {
    return rows.arg("In msg nelems", libtrace::Value::integer(elements))
        .arg("dtype", libtrace::Value::string("Double"));
  };
  message(9'000'000'000'000'000'000).kernel("ncclDevKernel_AllReduce_Sum_f64", 20'000, 20'000, 11);
  message(8).kernel("ncclDevKernel_AllReduce_Sum_f64", 40'000, 20'000, 12);
  const auto trace = rows.trace();
  const std::vector<Verdict> all = find_verdicts(*trace, everything(*trace));
  const Verdict& v = verdict(all, "communication");
  ASSERT_FALSE(v.evidence.empty());
  EXPECT_EQ(v.evidence[0], "1 of 1 message is under 64 KiB.");
}

// Two threads in it at once are one stretch of time: it is never more than the step.
TEST(Verdicts, WhatTwoThreadsDoTogetherIsSaidOnce) {
  Rows r;
  r.step(1, 1, 0, 1'000'000);
  r.annotation("gloo:all_reduce", 2, 100'000, 700'000);
  r.annotation("gloo:all_reduce", 3, 200'000, 700'000);
  const auto host = r.trace();
  EXPECT_EQ(
      verdict(find_verdicts(*host, everything(*host)), "communication").sentence.substr(0, 32),
      "Collectives take 800 µs a step.");

  Rows d;
  d.step(1, 1, 0, 1'000'000).runtime(1, 10'000, 5'000, 7).kernel("k", 20'000, 880'000, 7);
  for (const int thread : {1, 2}) {
    d.add("cuda_runtime", "cudaStreamSynchronize", "13721", std::to_string(thread), 100'000,
          800'000);
  }
  const auto device = d.trace();
  const Verdict v = verdict(find_verdicts(*device, everything(*device)), "synchronization");
  EXPECT_NE(v.sentence.find("2 calls a step, 800 µs altogether"), std::string::npos) << v.sentence;
}

}  // namespace
}  // namespace traceglass
