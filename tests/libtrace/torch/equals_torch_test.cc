// Steps of one training, recorded by torch's own profiler and by ours: what both count is equal.
#include <gtest/gtest.h>
#include <torch/csrc/autograd/profiler_kineto.h>
#include <torch/csrc/autograd/profiler_legacy.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "examples/libtorch_resnet/training.h"
#include "libtrace/key_averages.h"
#include "libtrace/profile.h"
#include "libtrace/torch.h"

namespace libtrace {
namespace {

namespace impl = torch::profiler::impl;
using namespace torch::autograd::profiler;

constexpr int kSteps = 2;

std::unique_ptr<ProfilerResult> torchs_profile(const std::function<void()>& work) {
  const impl::ProfilerConfig config(impl::ProfilerState::KINETO, /*report_input_shapes=*/true,
                                    /*profile_memory=*/true, /*with_stack=*/false,
                                    /*with_flops=*/true);
  prepareProfiler(config, {impl::ActivityType::CPU});
  enableProfiler(config, {impl::ActivityType::CPU});
  work();
  return disableProfiler();
}

TracePtr our_trace(const std::function<void()>& work) {
  EXPECT_TRUE(observe_torch().ok());
  Options options;
  options.record_shapes = options.profile_memory = options.with_flops = true;
  Profiler profiler(options);
  profiler.start();
  work();
  profiler.stop();
  return profiler.trace();
}

// What torch's table leaves out (torch/autograd/profiler_util.py): these names, and a call that is
// the only one in a call of its own name.
bool is_in_table(const std::string& name) {
  return name != "[memory]" && name != "[OutOfMemory]" && name != "aten::is_leaf" &&
         name != "aten::output_nr" && name != "aten::_version";
}

struct Call {
  std::string name;
  std::int64_t flops = 0;
  std::vector<Call> inside;
};
// Of all calls of a name.
struct Sums {
  std::int64_t count = 0, flops = 0;
  bool operator==(const Sums& other) const { return count == other.count && flops == other.flops; }
};
std::ostream& operator<<(std::ostream& out, const Sums& sums) {
  return out << sums.count << " calls, " << sums.flops << " FLOPs";
}
void count_calls(const Call& call, std::map<std::string, Sums>& calls) {
  Sums& sums = calls[call.name];
  ++sums.count;
  sums.flops += call.flops;
  const Call* last = &call;
  while (last->inside.size() == 1 && last->inside[0].name == call.name) last = &last->inside[0];
  for (const Call& inside : last->inside) count_calls(inside, calls);
}

// The calls of a thread, from the list of their begins and ends that torch's older profiler makes:
// its newer one gives whole microseconds only, which tell no parent.
std::vector<Call> calls_of(std::vector<LegacyEvent>& events) {
  std::vector<Call> open(1);
  for (LegacyEvent& event : events) {
    if (event.kindStr() == "push") {
      open.push_back({event.name(), static_cast<std::int64_t>(event.flops()), {}});
    } else if (event.kindStr() == "pop") {
      const Call done = open.back();
      open.pop_back();
      if (is_in_table(done.name)) open.back().inside.push_back(done);
    }
  }
  return open.front().inside;
}

class EqualsTorch : public ::testing::Test {
 protected:
  EqualsTorch() { train(); }  // what only a first step does
  void train() {
    for (int i = 0; i < kSteps; ++i) training_.step();
  }
  std::unique_ptr<ProfilerResult> torchs() {
    return torchs_profile([this] { train(); });
  }
  TracePtr ours() {
    return our_trace([this] { train(); });
  }

 private:
  example::Training training_{2};
};

TEST_F(EqualsTorch, CallsAndFlopsOfEveryOperator) {
  std::map<std::string, Sums> expected, got;
  enableProfilerLegacy(impl::ProfilerConfig(impl::ProfilerState::CPU, /*report_input_shapes=*/true,
                                            /*profile_memory=*/false, /*with_stack=*/false,
                                            /*with_flops=*/true));
  train();
  for (std::vector<LegacyEvent>& thread : disableProfilerLegacy()) {
    for (const Call& call : calls_of(thread)) count_calls(call, expected);
  }
  for (const KeyAverage& row : key_averages(*ours())) {
    if (row.is_user_annotation || !is_in_table(row.key)) continue;
    got[row.key] = {row.count, row.flops};
  }
  EXPECT_EQ(got, expected);
  EXPECT_GT(expected.size(), 50U);
  EXPECT_GT(expected.at("aten::conv2d").flops, 0);
  EXPECT_GT(expected.at("aten::addmm").flops, 0);
}

std::string text_of(const std::vector<std::vector<std::int64_t>>& shapes) {
  std::string text = "[";
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    text += i == 0 ? "[" : ",[";
    for (std::size_t d = 0; d < shapes[i].size(); ++d) {
      text += (d == 0 ? "" : ",") + std::to_string(shapes[i][d]);
    }
    text += "]";
  }
  return text + "]";
}

// As recorded: before a table merges calls.
TEST_F(EqualsTorch, ShapesOfEveryCall) {
  std::map<std::string, int> expected, got;
  const auto profile = torchs();
  for (const KinetoEvent& event : profile->events()) {
    if (event.name() == "[memory]") continue;
    ++expected[event.name() + " " + (event.hasShapes() ? text_of(event.shapes().vec()) : "")];
  }
  const TracePtr trace = ours();
  for (EventId e = 0; e < trace->size(); ++e) {
    if (trace->kind(e) != Kind::kOp) continue;
    const std::optional<Value> shapes = trace->arg(e, "Input Dims");
    ++got[std::string(trace->name(e)) + " " + std::string(shapes ? shapes->text : "")];
  }
  EXPECT_EQ(got, expected);
}

TEST_F(EqualsTorch, EveryAllocation) {
  std::map<std::int64_t, int> expected, got;  // sizes, how often
  const auto profile = torchs();
  for (const KinetoEvent& event : profile->events()) {
    if (event.name() == "[memory]") ++expected[event.nBytes()];
  }
  const TracePtr trace = ours();
  for (const MemoryEvent& event : trace->memory()) ++got[event.bytes];
  EXPECT_EQ(got, expected);
}

// From run to run times vary; so both watch one run, call by call. They differ by what one of them
// takes while the other's clock runs, and where the thread was interrupted just then.
TEST_F(EqualsTorch, TimesOfOneRun) {
  constexpr double kEachOther = 5, kPart = 0.1;  // us, and a part of the call
  EXPECT_TRUE(observe_torch().ok());
  Profiler profiler(Options{});
  profiler.start();
  const auto profile = torchs();  // on after the window has opened: both record
  profiler.stop();
  std::map<std::string, std::vector<double>> expected_us, got_us;
  for (const KinetoEvent& event : profile->events()) {
    if (event.name() == "[memory]") continue;
    expected_us[event.name()].push_back(static_cast<double>(event.durationUs()));
  }
  const TracePtr trace = profiler.trace();
  for (EventId e = 0; e < trace->size(); ++e) {
    if (trace->kind(e) != Kind::kOp) continue;
    got_us[std::string(trace->name(e))].push_back(static_cast<double>(trace->dur(e)) / 1e3);
  }
  std::size_t calls = 0, alike = 0;
  for (const auto& [name, expected] : expected_us) {
    const std::vector<double>& got = got_us[name];
    ASSERT_EQ(got.size(), expected.size()) << name;
    for (std::size_t i = 0; i < got.size(); ++i) {
      ++calls;
      if (std::abs(got[i] - expected[i]) <= kEachOther + kPart * expected[i]) ++alike;
    }
  }
  EXPECT_GT(calls, 1000U);
  EXPECT_GT(alike, calls * 95 / 100);
}

}  // namespace
}  // namespace libtrace
