// The whole: a Profiler that is asked for CUDA, on the fakes, from schedule to file and back.
#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <thread>

#include "handler/chrome_writer.h"
#include "libtrace/profile.h"
#include "libtrace/record/chunk_pool.h"
#include "recorded.h"
#include "tb_backend/ingest/ingest.h"
#include "tests/handler/string_sink.h"
#include "tests/handler/temporary_folder.h"

namespace libtrace::cupti {
namespace {

using testing::HasSubstr;

constexpr Activities kBoth = Activities::cpu() | Activities::cuda();

// The library as a user would name it.
Fake named_fake() {
  const Fake fake;
  setenv("LIBTRACE_CUPTI_LIB", fake.options.cupti_library.c_str(), 1);
  return fake;
}

TracePtr read_back(const Trace& trace) {
  StringSink text;
  EXPECT_TRUE(write_chrome_trace(trace, text).ok());
  const TemporaryFolder folder;
  const auto path = folder.path() / "trace.json";
  std::ofstream(path, std::ios::binary) << text.text;
  const traceglass::IngestResult result = traceglass::ingest_file(path);
  EXPECT_FALSE(result.error);
  return result.trace;
}

TEST(ProfilerWithCuda, KernelsBelongToTheOpsThatLaunchedThem) {
  const Fake fake = named_fake();
  std::vector<TracePtr> traces;
  Profiler profiler({.activities = kBoth,
                     .schedule = Schedule::make({.wait = 1, .warmup = 1, .active = 2}),
                     .on_trace_ready = [&](const TracePtr& t) { traces.push_back(t); },
                     .profile_memory = true,
                     .cuda_sync_events = true});
  profiler.start();
  for (int step = 0; step < 8; ++step) {
    {
      LIBTRACE_SCOPE("forward");
      const RecordFunction op("aten::mm", RecordScope::kFunction);
      fake.run("launch kernel=gemm\nalloc bytes=64");
    }
    fake.run("launch kernel=outside\nsync type=4");
    profiler.step();
  }
  profiler.stop();
  ASSERT_EQ(traces.size(), 2U);
  for (const TracePtr& trace : traces) {
    const Trace& t = *trace;
    const std::vector<EventId> kernels = all(t, Kind::kKernel);
    ASSERT_EQ(kernels.size(), 4U);
    EXPECT_EQ(t.name(kernels[0]), "gemm");
    ASSERT_NE(t.owner(kernels[0]), kNone);
    EXPECT_EQ(t.name(t.owner(kernels[0])), "aten::mm");
    EXPECT_EQ(t.owner(kernels[1]), kNone);
    // Scopes and steps are drawn on the stream.
    std::vector<std::string> scopes;
    for (const EventId e : all(t, Kind::kDeviceAnnotation)) scopes.emplace_back(t.name(e));
    EXPECT_EQ(std::count(scopes.begin(), scopes.end(), "forward"), 2);
    EXPECT_EQ(std::count_if(scopes.begin(), scopes.end(),
                            [](const std::string& s) { return s.rfind("ProfilerStep#", 0) == 0; }),
              2);
    EXPECT_EQ(all(t, Kind::kSync).size(), 2U);
    ASSERT_EQ(t.memory().size(), 2U);
    EXPECT_EQ(t.name(t.memory()[0].op), "aten::mm");
    ASSERT_NE(t.metadata("deviceProperties"), nullptr);
    EXPECT_THAT(*t.metadata("deviceProperties"), HasSubstr("Fake GPU 0"));
    for (const ReportEntry& e : t.report().entries()) ADD_FAILURE() << e.code << ": " << e.message;

    const TracePtr back = read_back(t);
    EXPECT_EQ(difference(t, *back), "");
    EXPECT_EQ(back->report(), t.report());
  }
}

TEST(ProfilerWithCuda, WhatTheDeviceLostIsInReportAndFile) {
  const Fake fake = named_fake();
  TracePtr trace;
  Profiler profiler({.activities = kBoth, .on_trace_ready = [&](const TracePtr& t) { trace = t; }});
  profiler.start();
  fake.run("launch\ndrop 4\nzero-time\nlaunch");
  profiler.stop();
  ASSERT_NE(trace, nullptr);
  EXPECT_EQ(*trace->metadata("dropped_events"), "5");
  EXPECT_EQ(*trace->metadata("cupti_dropped_records"), "4");
  EXPECT_EQ(*trace->metadata("gpu_records_without_time"), "1");
  EXPECT_EQ(trace->report().count("dropped_by_recorder"), 5);
  EXPECT_EQ(read_back(*trace)->report().count("dropped_by_recorder"), 5);
  EXPECT_EQ(profiler.stats().dropped, 5U);
}

TEST(ProfilerWithCuda, TracesAreMadeInTheBackgroundWhileTheNextWindowRecords) {
  const Fake fake = named_fake();
  std::atomic<bool> ends{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([&] {
      while (!ends) {
        LIBTRACE_SCOPE("background work");
        fake.run("launch kernel=other");
      }
    });
  }
  std::vector<std::size_t> mine;
  Profiler profiler({.activities = kBoth,
                     .schedule = Schedule::make({.wait = 0, .warmup = 0, .active = 1}),
                     .on_trace_ready =
                         [&](const TracePtr& t) {
                           std::size_t n = 0;
                           for (const EventId e : all(*t, Kind::kKernel)) n += t->name(e) == "mine";
                           mine.push_back(n);
                         },
                     .handler = HandlerPolicy::kBackground,
                     .when_behind = WhenBehind::kBlock});
  profiler.start();
  for (int step = 0; step < 5; ++step) {
    fake.run("launch kernel=mine");
    profiler.step();
  }
  profiler.stop();
  EXPECT_TRUE(profiler.flush(std::chrono::seconds(60)).ok());
  ends = true;
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(mine, std::vector<std::size_t>({1, 1, 1, 1, 1, 0}));
}

// Nothing is asked of CUPTI that is not there any more, and nothing waits for ever.
void record_until_exit(bool driver_ends_first) {
  const Fake fake = named_fake();
  static Profiler profiler({.activities = kBoth});  // destroyed by exit()
  profiler.start();
  std::thread([fake] {
    for (;;) fake.run("launch");
  }).detach();
  fake.run("launch");
  if (driver_ends_first) fake.cuda("gone", 1);
  std::exit(0);
}
TEST(ProfilerWithCuda, ExitWithoutStopIsSurvived) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(record_until_exit(false), testing::ExitedWithCode(0), "");
  EXPECT_EXIT(record_until_exit(true), testing::ExitedWithCode(0), "");
}

TEST(ProfilerWithCuda, ARefusalIsATraceOfTheHostThatSaysSo) {
  const Fake fake = named_fake();
  fake.cuda("init", 100);
  std::vector<std::string> log;
  TracePtr trace;
  {
    Profiler profiler({.activities = kBoth,
                       .on_trace_ready = [&](const TracePtr& t) { trace = t; },
                       .log = [&](std::string_view text) { log.emplace_back(text); }});
    profiler.start();
    {
      LIBTRACE_SCOPE("work");
    }
    profiler.stop();
  }
  ASSERT_NE(trace, nullptr);
  EXPECT_TRUE(find(*trace, "work"));
  ASSERT_NE(trace->metadata("cupti_error"), nullptr);
  EXPECT_EQ(*trace->metadata("cupti_error"),
            "\"The CUDA driver finds no device. GPU work was not recorded.\"");
  EXPECT_THAT(*trace->metadata("cupti_advice"), HasSubstr("CUDA_VISIBLE_DEVICES"));
  EXPECT_THAT(log, testing::ElementsAre(HasSubstr("finds no device")));
  EXPECT_EQ(difference(*trace, *read_back(*trace)), "");
}

TEST(ProfilerWithCuda, HostAndDeviceAreUnderOneCeiling) {
  const Fake fake = named_fake();
  constexpr std::size_t kCeiling = 1 << 20;
  Profiler profiler({.activities = kBoth, .max_bytes = kCeiling});
  profiler.start();
  std::string launches;
  for (int i = 0; i < 500; ++i) launches += "launch\n";
  for (std::size_t i = 0; i < kCeiling / 32; ++i) {  // 32 bytes a scope: the host takes all of it
    LIBTRACE_SCOPE("scope");
  }
  fake.run(launches);
  EXPECT_LE(profiler.stats().bytes, kCeiling);
  profiler.stop();
  EXPECT_EQ(*profiler.trace()->metadata("gpu_records_dropped"), "1000");
  EXPECT_LE(profiler.stats().bytes, kCeiling / 8) << "given back";
  profiler.start();  // and there is room again
  fake.run(launches);
  profiler.stop();
  EXPECT_EQ(profiler.trace()->metadata("gpu_records_dropped"), nullptr);
  detail::chunk_pool().set_max_bytes(0);  // for tests that record without a Profiler
}

}  // namespace
}  // namespace libtrace::cupti
