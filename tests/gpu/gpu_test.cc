// A plain CUDA program and its trace: every kernel, copy and graph node is there, linked to its
// call, on one clock; and what recording costs a launch.
#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <set>
#include <vector>

#include "handler/chrome_writer.h"
#include "libtrace/profile.h"
#include "tb_backend/ingest/ingest.h"
#include "tests/gpu/device.h"
#include "tests/handler/string_sink.h"
#include "tests/handler/temporary_folder.h"

namespace libtrace {
namespace {

constexpr Activities kBoth = Activities::cpu() | Activities::cuda();

std::vector<EventId> all(const Trace& trace, Kind kind) {
  std::vector<EventId> found;
  for (EventId e = 0; e < trace.size(); ++e) {
    if (trace.kind(e) == kind) found.push_back(e);
  }
  return found;
}

class Gpu : public testing::Test {
 protected:
  void SetUp() override {
    device_ = gpu::Device::find();
    if (device_ == nullptr) GTEST_SKIP() << "no CUDA device";
  }

  // The trace of `work`, of which one run beforehand has warmed everything up; nullptr, and the
  // test skipped, without CUPTI.
  template <class F>
  TracePtr record(F&& work, Options options = {}) {
    TracePtr trace;
    options.activities = kBoth;
    options.schedule = Schedule::make({.wait = 0, .warmup = 1, .active = 1, .repeat = 1});
    options.on_trace_ready = [&](const TracePtr& t) { trace = t; };
    options.log = [](std::string_view text) {
      std::printf("%.*s\n", static_cast<int>(text.size()), text.data());
    };
    Profiler profiler(std::move(options));
    profiler.start();
    work();
    profiler.step();
    work();
    profiler.step();
    profiler.stop();
    EXPECT_NE(trace, nullptr);
    if (trace != nullptr && trace->metadata("cupti_error") != nullptr) {
      const std::string& why = *trace->metadata("cupti_error");
      EXPECT_NE(why.find("was not found"), std::string::npos) << why;
      return nullptr;
    }
    if (trace != nullptr) expect_sound(*trace);
    return trace;
  }

  static void expect_sound(const Trace& t) {
    for (EventId e = 0; e < t.size(); ++e) {
      if (!is_device_work(t.kind(e))) continue;
      ASSERT_NE(t.launch(e), kNone) << t.name(e);
      EXPECT_GE(t.start(e), t.start(t.launch(e))) << t.name(e);  // one clock
      EXPECT_GT(t.dur(e), 0) << t.name(e);
      EXPECT_LT(t.dur(e), 1'000'000'000) << t.name(e);
    }
    for (const ReportEntry& entry : t.report().entries()) {
      EXPECT_NE(entry.code, "no_launch") << entry.message;
      EXPECT_NE(entry.code, "before_launch") << entry.message;
    }
    for (const char* key : {"cupti_dropped_records", "gpu_records_dropped",
                            "gpu_records_without_time", "gpu_records_unreadable"}) {
      EXPECT_EQ(t.metadata(key), nullptr) << key;
    }
  }

  gpu::Device* device_ = nullptr;
};

TEST_F(Gpu, KernelsAndCopiesOnTwoStreams) {
  const gpu::Handle scale = device_->function("scale");
  const gpu::Handle streams[] = {device_->new_stream(), device_->new_stream()};
  std::vector<float> host(1 << 16, 1.0F);
  const std::size_t bytes = host.size() * sizeof(float);
  gpu::Address data = device_->allocate(bytes);
  auto n = static_cast<unsigned>(host.size());
  const TracePtr trace = record([&] {
    const RecordFunction op("aten::double", RecordScope::kFunction);
    for (const gpu::Handle stream : streams) {
      device_->to_device(data, host.data(), bytes, stream);
      for (int i = 0; i < 10; ++i) {
        void* arguments[] = {&data, &n};
        device_->launch(scale, (n + 255) / 256, 256, arguments, stream);
      }
      device_->to_host(host.data(), data, bytes, stream);
      device_->set(data, 0, bytes, stream);
      device_->synchronize(stream);
    }
  });
  device_->free(data);
  if (trace == nullptr) GTEST_SKIP() << "no CUPTI";
  const Trace& t = *trace;
  const std::vector<EventId> kernels = all(t, Kind::kKernel);
  ASSERT_EQ(kernels.size(), 20U);
  std::set<std::string> tids;
  for (const EventId k : kernels) {
    EXPECT_EQ(t.name(k), "scale");
    EXPECT_EQ(t.arg(k, "grid")->text, "[256,1,1]");
    EXPECT_EQ(t.arg(k, "block")->text, "[256,1,1]");
    EXPECT_EQ(t.name(t.launch(k)), "cuLaunchKernel");
    ASSERT_NE(t.owner(k), kNone);
    EXPECT_EQ(t.name(t.owner(k)), "aten::double");
    tids.insert(t.lanes()[t.lane_of(k)].tid);
  }
  EXPECT_EQ(tids.size(), 2U);
  EXPECT_EQ(all(t, Kind::kMemcpy).size(), 4U);
  EXPECT_EQ(all(t, Kind::kMemset).size(), 2U);
  EXPECT_EQ(t.int_arg(all(t, Kind::kMemcpy)[0], "bytes"), static_cast<std::int64_t>(bytes));
  ASSERT_FALSE(t.devices().empty());
  std::printf("device: %s\n", t.devices()[0].name.c_str());

  StringSink text;
  ASSERT_TRUE(write_chrome_trace(t, text).ok());
  const TemporaryFolder folder;
  const auto path = folder.path() / "trace.json";
  std::ofstream(path, std::ios::binary) << text.text;
  const traceglass::IngestResult back = traceglass::ingest_file(path);
  ASSERT_FALSE(back.error);
  EXPECT_EQ(difference(t, *back.trace), "");
}

TEST_F(Gpu, AGraphsNodesShareOneLaunch) {
  const gpu::Handle empty = device_->function("empty");
  const gpu::Handle stream = device_->new_stream();
  gpu::Handle graph = nullptr;
  const TracePtr trace = record([&] {
    // In the warm-up: CUPTI must see it made, to number its nodes.
    if (graph == nullptr) {
      graph = device_->capture(stream, [&] {
        for (int i = 0; i < 5; ++i) device_->launch(empty, 1, 32, nullptr, stream);
      });
    }
    device_->launch_graph(graph, stream);
    device_->launch_graph(graph, stream);
    device_->synchronize(stream);
  });
  if (trace == nullptr) GTEST_SKIP() << "no CUPTI";
  const Trace& t = *trace;
  const std::vector<EventId> kernels = all(t, Kind::kKernel);
  ASSERT_EQ(kernels.size(), 10U);
  std::set<std::int64_t> nodes, graphs, launches;
  for (const EventId k : kernels) {
    EXPECT_EQ(t.name(t.launch(k)), "cuGraphLaunch");
    nodes.insert(t.int_arg(k, "graph node id").value());
    graphs.insert(t.int_arg(k, "graph id").value());
    launches.insert(t.int_arg(k, "correlation").value());
  }
  EXPECT_EQ(nodes.size(), 5U);
  EXPECT_EQ(graphs.size(), 1U);
  EXPECT_EQ(launches.size(), 2U);
}

TEST_F(Gpu, WorkUnderWayAtTheEndIsWaitedFor) {
  const gpu::Handle spin = device_->function("spin");
  const gpu::Handle stream = device_->new_stream();
  std::uint64_t ns = 50'000'000;
  const TracePtr trace = record([&] {
    void* arguments[] = {&ns};
    device_->launch(spin, 1, 1, arguments, stream);
  });
  if (trace == nullptr) GTEST_SKIP() << "no CUPTI";
  // The one of the warm-up may run into the window; the window's own is whole.
  const std::vector<EventId> kernels = all(*trace, Kind::kKernel);
  ASSERT_FALSE(kernels.empty());
  EXPECT_NEAR(static_cast<double>(trace->dur(kernels.back())), 50e6, 5e6);
}

TEST_F(Gpu, SynchronisationAndMemoryWhereAskedFor) {
  const gpu::Handle stream = device_->new_stream();
  Options options;
  options.profile_memory = true;
  options.cuda_sync_events = true;
  const TracePtr trace = record(
      [&] {
        const gpu::Address data = device_->allocate(1 << 20);
        device_->set(data, 1, 1 << 20, stream);
        device_->synchronize(stream);
        device_->free(data);
      },
      std::move(options));
  if (trace == nullptr) GTEST_SKIP() << "no CUPTI";
  EXPECT_FALSE(all(*trace, Kind::kSync).empty());
  ASSERT_EQ(trace->memory().size(), 2U);
  EXPECT_EQ(trace->memory()[0].bytes, 1 << 20);
  EXPECT_EQ(trace->memory()[1].bytes, -(1 << 20));
}

TEST_F(Gpu, OverheadPerLaunch) {
  constexpr int kLaunches = 10'000, kRounds = 5;
  const gpu::Handle empty = device_->function("empty");
  const gpu::Handle stream = device_->new_stream();
  const auto run = [&] {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < kLaunches; ++i) device_->launch(empty, 1, 32, nullptr, stream);
    const auto end = std::chrono::steady_clock::now();
    device_->synchronize(stream);
    return std::chrono::duration<double, std::nano>(end - start).count() / kLaunches;
  };
  const auto median = [&] {
    std::vector<double> rounds;
    for (int i = 0; i < kRounds; ++i) rounds.push_back(run());
    std::sort(rounds.begin(), rounds.end());
    return rounds[kRounds / 2];
  };
  median();
  const double without = median();
  TracePtr trace;
  Profiler profiler({.activities = kBoth, .on_trace_ready = [&](const TracePtr& t) { trace = t; }});
  profiler.start();
  const double with = median();
  profiler.stop();
  const double after = median();
  ASSERT_NE(trace, nullptr);
  if (trace->metadata("cupti_error") != nullptr) GTEST_SKIP() << *trace->metadata("cupti_error");
  std::printf("launch: %.0f ns without recording, %.0f with (+%.0f), %.0f afterwards\n", without,
              with, with - without, after);
  EXPECT_EQ(all(*trace, Kind::kKernel).size(), std::size_t{kLaunches} * kRounds);
  EXPECT_LT(with - without, 20'000);  // torch's documents speak of 4 us an op
}

}  // namespace
}  // namespace libtrace
