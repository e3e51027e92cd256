// Steps of one training, recorded by torch's own profiler and by ours: what both count is equal.
#include <gtest/gtest.h>
#include <torch/csrc/autograd/profiler_kineto.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
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
using torch::autograd::profiler::KinetoEvent;

constexpr int kSteps = 2;

std::vector<KinetoEvent> torchs_events(const std::function<void()>& work) {
  namespace profiler = torch::autograd::profiler;
  const impl::ProfilerConfig config(impl::ProfilerState::KINETO, /*report_input_shapes=*/true,
                                    /*profile_memory=*/true, /*with_stack=*/false,
                                    /*with_flops=*/true);
  profiler::prepareProfiler(config, {impl::ActivityType::CPU});
  profiler::enableProfiler(config, {impl::ActivityType::CPU});
  work();
  return profiler::disableProfiler()->events();
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

// What torch's table leaves out (torch/autograd/profiler_util.py).
bool is_operator(const KinetoEvent& event) {
  return event.name() != "[memory]" && event.name() != "[OutOfMemory]" &&
         event.name() != "aten::is_leaf" && event.name() != "aten::output_nr" &&
         event.name() != "aten::_version";
}

// Sums over the calls of a name.
struct Sums {
  std::int64_t count = 0, flops = 0;
  bool operator==(const Sums&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Sums& sums) {
  return out << sums.count << " calls, " << sums.flops << " FLOPs";
}

class EqualsTorch : public ::testing::Test {
 protected:
  EqualsTorch() { train(); }  // what only a first step does
  void train() {
    for (int i = 0; i < kSteps; ++i) training_.step();
  }
  std::vector<KinetoEvent> torchs() {
    return torchs_events([this] { train(); });
  }
  TracePtr ours() {
    return our_trace([this] { train(); });
  }

 private:
  example::Training training_{2};
};

TEST_F(EqualsTorch, CallsAndFlopsOfEveryOperator) {
  std::map<std::string, Sums> expected, got;
  for (const KinetoEvent& event : torchs()) {
    if (!is_operator(event)) continue;
    Sums& sums = expected[event.name()];
    ++sums.count;
    sums.flops += static_cast<std::int64_t>(event.flops());
  }
  for (const KeyAverage& row : key_averages(*ours())) {
    if (!row.is_user_annotation) got[row.key] = {row.count, row.flops};
  }
  EXPECT_EQ(got, expected);
  EXPECT_GT(expected.at("aten::conv2d").flops, 0);
  EXPECT_GT(expected.size(), 50U);
}

std::string text_of(const std::vector<std::vector<std::int64_t>>& shapes) {
  std::string text = "[";
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    text += i == 0 ? "[" : ", [";
    for (std::size_t d = 0; d < shapes[i].size(); ++d) {
      text += (d == 0 ? "" : ", ") + std::to_string(shapes[i][d]);
    }
    text += "]";
  }
  return text + "]";
}

TEST_F(EqualsTorch, CallsOfEveryShape) {
  std::map<std::string, std::int64_t> expected, got;
  for (const KinetoEvent& event : torchs()) {
    if (!is_operator(event)) continue;
    ++expected[event.name() + " " + (event.hasShapes() ? text_of(event.shapes().vec()) : "[]")];
  }
  KeyAveragesOptions by_shape;
  by_shape.group_by_input_shape = true;
  for (const KeyAverage& row : key_averages(*ours(), by_shape)) {
    if (row.is_user_annotation) continue;
    got[row.key + " " + (row.input_shapes.empty() ? "[]" : row.input_shapes)] += row.count;
  }
  EXPECT_EQ(got, expected);
}

TEST_F(EqualsTorch, EveryAllocation) {
  std::map<std::int64_t, int> expected, got;  // sizes, how often
  for (const KinetoEvent& event : torchs()) {
    if (event.name() == "[memory]") ++expected[event.nBytes()];
  }
  const TracePtr trace = ours();
  for (const MemoryEvent& event : trace->memory()) ++got[event.bytes];
  EXPECT_EQ(got, expected);
}

// Times vary from run to run, and both profilers slow down what they measure: the quickest of a
// few, in turns, are alike.
TEST_F(EqualsTorch, TimesAreAlike) {
  constexpr int kRounds = 5;
  const auto total = [](std::int64_t& best, std::int64_t us) {
    best = best == 0 ? us : std::min(best, us);
  };
  std::int64_t torchs_us = 0, our_us = 0;
  const std::string name = "aten::convolution_backward";
  for (int round = 0; round < kRounds; ++round) {
    std::int64_t us = 0;
    for (const KinetoEvent& event : torchs()) {
      if (event.name() == name) us += static_cast<std::int64_t>(event.durationUs());
    }
    total(torchs_us, us);
    for (const KeyAverage& row : key_averages(*ours())) {
      if (row.key == name) total(our_us, row.cpu_time_total_ns / 1000);
    }
  }
  EXPECT_GT(our_us, torchs_us / 2);
  EXPECT_LT(our_us, torchs_us * 2);
}

}  // namespace
}  // namespace libtrace
