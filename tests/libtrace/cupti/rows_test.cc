// Which events become rows, on which lanes, linked to what.
#include "libtrace/cupti/rows.h"

#include <gmock/gmock.h>

#include "recorded.h"

namespace libtrace::cupti {
namespace {

using testing::ElementsAre;

TEST(Rows, EachOfEightDevicesIsAProcess) {
  const Fake fake;
  fake.cuda("devices", 8);
  std::string script;
  for (int d = 0; d < 8; ++d) {
    const std::string n = std::to_string(d);
    script += "launch kernel=k" + n + " dev=" + n + " ctx=" + std::to_string(d + 1) +
              " stream=" + std::to_string(d + 7) + "\n";
  }
  Window window(fake);
  const TracePtr trace = window.record(fake, script);
  EXPECT_EQ(trace->devices().size(), 8U);
  for (int d = 0; d < 8; ++d) {
    const EventId kernel = find(*trace, "k" + std::to_string(d)).value();
    const Lane& lane = trace->lanes()[trace->lane_of(kernel)];
    EXPECT_EQ(lane.pid, std::to_string(d));
    EXPECT_EQ(lane.tid, std::to_string(d + 7));
    EXPECT_EQ(lane.labels, "GPU " + std::to_string(d));
    EXPECT_EQ(lane.process_sort, 5'000'000 + d);
    EXPECT_EQ(trace->int_arg(kernel, "device"), d);
    EXPECT_EQ(trace->int_arg(kernel, "context"), d + 1);
  }
}

TEST(Rows, CallsStandOnTheirThreads) {
  const Fake fake;
  Window window(fake);
  const TracePtr trace = window.record(fake, "launch tid=100\nlaunch tid=200\ncall tid=200");
  std::vector<std::string> tids;
  for (const EventId e : all(*trace, Kind::kRuntime)) {
    EXPECT_EQ(trace->lanes()[trace->lane_of(e)].pid, "4711");
    tids.push_back(trace->lanes()[trace->lane_of(e)].tid);
  }
  EXPECT_THAT(tids, ElementsAre("100", "200", "200"));
}

TEST(Rows, CallsThatOnlyAskAreLeftOut) {
  // With the filter of 12.5 CUPTI never writes them; without, they are passed over.
  for (const char* folder : {"11", "13"}) {
    const Fake fake(folder, folder[1] == '1' ? 15 : 130001);
    Window window(fake);
    const TracePtr trace =
        window.record(fake, "call api=17\ncall api=304 driver=1\ncall api=165\n");
    ASSERT_EQ(trace->size(), 1U) << folder;
    EXPECT_EQ(trace->name(0), "cudaDeviceSynchronize");
  }
}

TEST(Rows, ADriverCallOfTheRuntimeIsNotShownTwice) {
  const Fake fake;
  Window window(fake);
  const TracePtr trace =
      window.record(fake,
                    "mark\n"
                    // cuLaunchKernel within cudaLaunchKernel, kernel of the runtime call
                    "launch corr=10 at=+0 for=5000 kernel=a\n"
                    "call driver=1 api=307 corr=11 at=+1000 for=1000\n"
                    // a driver call within a runtime call that the kernel points at itself
                    "call corr=20 api=165 at=+10000 for=5000\n"
                    "launch driver=1 corr=21 at=+11000 for=1000 kernel=b\n"
                    // on its own
                    "launch driver=1 corr=30 at=+20000 for=1000 kernel=c\n"
                    // within in time, but on another thread
                    "call driver=1 api=17 corr=40 at=+2000 for=1000 tid=9\n");
  std::vector<std::string> names;
  for (const EventId e : all(*trace, Kind::kRuntime)) names.emplace_back(trace->name(e));
  EXPECT_THAT(names, ElementsAre("cudaLaunchKernel", "cuCtxSynchronize", "cudaDeviceSynchronize",
                                 "cuLaunchKernel", "cuLaunchKernel"));
  for (const EventId e : all(*trace, Kind::kKernel)) EXPECT_NE(trace->launch(e), kNone);
  EXPECT_EQ(trace->category(trace->launch(find(*trace, "c").value())), "cuda_driver");
}

TEST(Rows, AFailedCallShowsItsResult) {
  const Fake fake;
  Window window(fake);
  const TracePtr trace = window.record(fake, "call ret=700");
  EXPECT_EQ(trace->int_arg(0, "result"), 700);
}

TEST(Rows, AScopeIsDrawnOnTheStreamsItsWorkRanOn) {
  const Fake fake;
  Window window(fake);
  ASSERT_TRUE(window.prepare().ok());
  window.start();
  fake.run(
      "mark\n"
      "launch tid=5 at=+1000 gpu=+10000 gpufor=1000 stream=7\n"
      "launch tid=5 at=+3000 gpu=+12000 gpufor=4000 stream=7\n"
      "launch tid=5 at=+4000 gpu=+11000 gpufor=500 stream=8\n"
      "launch tid=6 at=+4000 gpu=+30000 gpufor=500 stream=7\n"
      "launch tid=5 at=+9000 gpu=+40000 gpufor=500 stream=7\n");
  window.stop();
  const TracePtr plain = window.trace();
  const std::int64_t first = plain->start(all(*plain, Kind::kRuntime).at(0)) - 1000;
  const TracePtr trace =
      window.trace({{.start = first + 500, .end = first + 8000, .tid = 5, .external_id = 42}});
  const std::vector<EventId> scopes = all(*trace, Kind::kDeviceAnnotation);
  ASSERT_EQ(scopes.size(), 2U);
  EXPECT_EQ(trace->name(scopes[0]), "scope");
  EXPECT_EQ(trace->category(scopes[0]), "gpu_user_annotation");
  EXPECT_EQ(trace->lanes()[trace->lane_of(scopes[0])].tid, "7");
  EXPECT_EQ(trace->int_arg(scopes[0], "External id"), 42);
  EXPECT_NEAR(static_cast<double>(trace->start(scopes[0]) - first), 10000, 2);
  EXPECT_NEAR(static_cast<double>(trace->dur(scopes[0])), 6000, 2);
  EXPECT_EQ(trace->lanes()[trace->lane_of(scopes[1])].tid, "8");
  EXPECT_NEAR(static_cast<double>(trace->dur(scopes[1])), 500, 2);
}

TEST(Rows, SynchronisationsNameWhatTheyWaitedFor) {
  const Fake fake;
  Window window(fake, {.sync_events = true});
  const TracePtr trace = window.record(fake,
                                       "launch dev=0 ctx=1 stream=9\n"
                                       "record event=4 stream=9 corr=50\n"
                                       "record event=4 stream=10 corr=60\n"
                                       "sync type=2 event=4 stream=7 corr=55\n"
                                       "sync type=1 event=99 corr=70\n"
                                       "sync type=3 stream=9 corr=71\n"
                                       "sync type=4 corr=72\n");
  const EventId wait = find(*trace, "Stream Wait Event").value();
  EXPECT_EQ(trace->int_arg(wait, "wait_on_stream"), 9);  // not the record that came later
  EXPECT_EQ(trace->int_arg(wait, "wait_on_cuda_event_record_corr_id"), 50);
  EXPECT_EQ(trace->int_arg(wait, "stream"), 7);
  const EventId unknown = find(*trace, "Event Sync").value();
  EXPECT_EQ(trace->int_arg(unknown, "wait_on_cuda_event_id"), 99);
  EXPECT_EQ(trace->int_arg(unknown, "wait_on_cuda_event_record_corr_id"), -1);
  const EventId stream = find(*trace, "Stream Sync").value();
  EXPECT_EQ(trace->lanes()[trace->lane_of(stream)].tid, "1000009");
  EXPECT_EQ(trace->arg(stream, "wait_on_stream"), std::nullopt);
  const EventId context = find(*trace, "Context Sync").value();
  EXPECT_EQ(trace->int_arg(context, "stream"), -1);
  const Lane& waits = trace->lanes()[trace->lane_of(context)];
  EXPECT_EQ(waits.tid, "2000000") << "apart from the work of stream 0";
  EXPECT_EQ(waits.thread, "waits for device 0");
}

// Times that no clock shows: kept out of the window or at its far end, without overflow.
TEST(Rows, TimesBeyondAllClocks) {
  const Fake fake;
  Window window(fake);
  const TracePtr trace = window.record(fake,
                                       "launch start=9223372036854775808 end=18446744073709551615\n"
                                       "launch end=18446744073709551615\nlaunch kernel=good\n");
  EXPECT_TRUE(find(*trace, "good").has_value());
  for (EventId e = 0; e < trace->size(); ++e) EXPECT_GE(trace->dur(e), 0);
}

TEST(Rows, SynchronisationsAreNotAskedForByDefault) {
  const Fake fake;
  Window window(fake);
  const TracePtr trace = window.record(fake, "sync type=4\nrecord event=1\nalloc");
  EXPECT_TRUE(all(*trace, Kind::kSync).empty());
  EXPECT_TRUE(trace->memory().empty());
}

TEST(Rows, AContextsDeviceIsKnownFromItsBirth) {
  const Fake fake;
  fake.cuda("devices", 4);
  Window window(fake, {.sync_events = true});
  const TracePtr trace = window.record(fake, "context ctx=8 dev=3\nsync type=4 ctx=8\n");
  EXPECT_EQ(trace->int_arg(all(*trace, Kind::kSync).at(0), "device"), 3);
}

TEST(Rows, DeviceMemoryHasItsThreadAndRunningTotal) {
  const Fake fake;
  Window window(fake, {.profile_memory = true});
  const std::string script =
      "alloc tid=5 bytes=1000 addr=4096\n"
      "alloc tid=5 bytes=500 addr=8192 dev=1\n"
      "alloc tid=6 bytes=24 addr=16384\n"
      "alloc tid=5 bytes=7 addr=1 kind=2\n"  // pinned host memory
      "free tid=6 bytes=1000 addr=4096\n";
  const TracePtr trace = window.record(fake, script);
  ASSERT_EQ(trace->memory().size(), 4U);
  std::vector<std::string> rows;
  for (const MemoryEvent& m : trace->memory()) {
    rows.push_back(trace->lanes()[m.lane].tid + " " + std::to_string(m.device_id) + " " +
                   std::to_string(m.bytes) + " " + std::to_string(m.total_allocated.value()));
  }
  EXPECT_THAT(rows, ElementsAre("5 0 1000 1000", "5 1 500 500", "6 0 24 1024", "6 0 -1000 24"));
  // An allocator on top of CUDA tells the same story better.
  EXPECT_TRUE(window.trace({}, true)->memory().empty());
}

TEST(Rows, AWholeGraphIsOneRow) {
  const Fake fake;
  Window window(fake, {.whole_graphs = true});
  const TracePtr trace = window.record(fake, "graphtrace id=12");
  const EventId graph = find(*trace, "CUDA graph 12").value();
  EXPECT_EQ(trace->kind(graph), Kind::kKernel);
  EXPECT_EQ(trace->name(trace->launch(graph)), "cudaGraphLaunch");
}

TEST(Rows, OverheadHasALaneOfItsOwn) {
  const Fake fake;
  Window window(fake);
  const TracePtr trace = window.record(fake, "overhead tid=5 kind=327680\nlaunch tid=5");
  const EventId overhead = find(*trace, "Lazy Function Loading").value();
  const Lane& lane = trace->lanes()[trace->lane_of(overhead)];
  EXPECT_EQ(lane.pid, "4711");
  EXPECT_EQ(lane.tid, "2000000005");
  EXPECT_EQ(lane.thread, "CUPTI overhead, thread 5");
}

TEST(Rows, OutOfOrderRecordsAreSorted) {
  const Fake fake;
  Window window(fake);
  // The harness checks that starts never go back.
  const TracePtr trace = window.record(fake,
                                       "mark\n"
                                       "launch at=+9000 gpu=+20000\n"
                                       "launch at=+1000 gpu=+90000\n"
                                       "launch at=+5000 gpu=+6000\n");
  EXPECT_EQ(trace->size(), 6U);
}

TEST(Rows, NamesAreCopiedBeforeTheirModuleGoes) {
  const Fake fake;
  Window window(fake);
  ASSERT_TRUE(window.prepare().ok());
  window.start();
  fake.run("launch kernel=_Z9reductionIfEvPT_\nsplit");
  window.source().set_collecting(false);
  window.stop();
  fake.run("unload");
  EXPECT_TRUE(find(*window.trace(), "void reduction<float>(float*)"));
}

TEST(Rows, HostileNamesStayText) {
  const Fake fake;
  Window window(fake);
  const TracePtr trace = window.record(
      fake, "launch kernel=\xff\xfe\"\\\x01\nlaunch kernel=_Znot_a_symbol\nlaunch kernel=" +
                std::string(1 << 20, 'x'));
  const std::vector<EventId> kernels = all(*trace, Kind::kKernel);
  ASSERT_EQ(kernels.size(), 3U);
  EXPECT_EQ(trace->name(kernels[0]), "\uFFFD\uFFFD\"\\\x01");
  EXPECT_EQ(trace->name(kernels[1]), "_Znot_a_symbol");
  EXPECT_EQ(trace->name(kernels[2]).size(), std::size_t{1} << 20);
}

TEST(Rows, CollectingCanBePausedWithinAWindow) {
  const Fake fake;
  Window window(fake);
  ASSERT_TRUE(window.prepare().ok());
  window.start();
  fake.run("launch kernel=a");
  window.source().set_collecting(false);
  fake.run("launch kernel=b");
  window.source().set_collecting(true);
  fake.run("launch kernel=c");
  window.stop();
  const TracePtr trace = window.trace();
  EXPECT_TRUE(find(*trace, "a"));
  EXPECT_FALSE(find(*trace, "b"));
  EXPECT_TRUE(find(*trace, "c"));
}

}  // namespace
}  // namespace libtrace::cupti
