// One window through the real dlopen path: what ends up in the trace, and in which order CUPTI's
// functions are called.
#include "libtrace/cupti/device_source.h"

#include <gmock/gmock.h>

#include "recorded.h"

namespace libtrace::cupti {
namespace {

using testing::HasSubstr;

TEST(CudaSource, RecordsKernelsCopiesSetsAndTheirCalls) {
  const Fake fake;
  Window window(fake);
  const TracePtr trace =
      window.record(fake,
                    "mark\n"
                    "launch for=1000 kernel=_Z3addPfS_ grid=264 block=256 stream=7\n"
                    "memcpy bytes=4096 kind=1 src=1 dst=3 gpufor=1000\n"
                    "memset bytes=512 gpufor=256\n");
  ASSERT_EQ(trace->size(), 6U);
  const EventId kernel = find(*trace, "add(float*, float*)").value();
  EXPECT_EQ(trace->kind(kernel), Kind::kKernel);
  EXPECT_EQ(trace->category(kernel), "kernel");
  EXPECT_NEAR(static_cast<double>(trace->dur(kernel)), 5000, 2);
  EXPECT_EQ(trace->int_arg(kernel, "device"), 0);
  EXPECT_EQ(trace->int_arg(kernel, "stream"), 7);
  EXPECT_EQ(trace->int_arg(kernel, "registers per thread"), 32);
  EXPECT_EQ(trace->int_arg(kernel, "shared memory"), 1024);
  EXPECT_EQ(trace->arg(kernel, "grid")->text, "[264,1,1]");
  EXPECT_EQ(trace->arg(kernel, "block")->text, "[256,1,1]");
  EXPECT_DOUBLE_EQ(trace->number_arg(kernel, "blocks per SM").value(), 2);  // of 132
  EXPECT_DOUBLE_EQ(trace->number_arg(kernel, "warps per SM").value(), 16);
  EXPECT_EQ(trace->int_arg(kernel, "est. achieved occupancy %"), 25);  // 2 * 256 of 2048 threads
  ASSERT_NE(trace->launch(kernel), kNone);
  EXPECT_EQ(trace->name(trace->launch(kernel)), "cudaLaunchKernel");
  EXPECT_EQ(trace->category(trace->launch(kernel)), "cuda_runtime");
  EXPECT_NEAR(static_cast<double>(trace->dur(trace->launch(kernel))), 1000, 2);

  const EventId copy = find(*trace, "Memcpy HtoD (Pageable -> Device)").value();
  EXPECT_EQ(trace->category(copy), "gpu_memcpy");
  EXPECT_EQ(trace->int_arg(copy, "bytes"), 4096);
  EXPECT_NEAR(trace->number_arg(copy, "memory bandwidth (GB/s)").value(), 4.096, 0.01);
  EXPECT_EQ(trace->name(trace->launch(copy)), "cudaMemcpyAsync");

  const EventId set = find(*trace, "Memset (Device)").value();
  EXPECT_EQ(trace->category(set), "gpu_memset");
  EXPECT_EQ(trace->int_arg(set, "bytes"), 512);

  const Lane& lane = trace->lanes()[trace->lane_of(kernel)];
  EXPECT_EQ(lane.pid, "0");
  EXPECT_EQ(lane.tid, "7");
  EXPECT_EQ(lane.process, "Fake GPU 0");
  EXPECT_EQ(lane.labels, "GPU 0");
  EXPECT_EQ(lane.thread, "stream 7");
  EXPECT_TRUE(trace->report().entries().empty());
}

TEST(CudaSource, TimesAreOnTheRecordersClock) {
  const Fake fake;
  Window window(fake);
  ASSERT_TRUE(window.prepare().ok());
  window.start();
  const std::int64_t before = read_clock_pair().unix_ns;
  fake.run("mark\nlaunch at=+0 for=2000 gpu=+10000 gpufor=3000\n");
  const std::int64_t after = read_clock_pair().unix_ns;
  window.stop();
  const TracePtr trace = window.trace();
  const EventId kernel = all(*trace, Kind::kKernel).at(0);
  const EventId call = trace->launch(kernel);
  // 1 us: what a clock pair may be off by on a busy machine.
  EXPECT_GE(window.base() + trace->start(call), before - 1000);
  EXPECT_LE(window.base() + trace->start(call), after + 1000);
  EXPECT_NEAR(static_cast<double>(trace->start(kernel) - trace->start(call)), 10000, 5);
  EXPECT_NEAR(static_cast<double>(trace->dur(kernel)), 3000, 2);
}

TEST(CudaSource, CallsCuptiInTheOrderItWants) {
  const Fake fake;
  Window window(fake);
  window.record(fake, "launch");
  window.source().release();
  EXPECT_EQ(fake.calls(),
            "GetVersion Subscribe_v2 SetThreadIdType(1) ActivitySetAttribute(5) "
            "ActivitySetAttribute(9) ActivityRegisterTimestampCallback ActivityRegisterCallbacks "
            "EnableCallback(3,1) EnableCallback(3,2) "
            "ActivityEnable(10) ActivityEnable(1) ActivityEnable(22) ActivityEnable(2) "
            "ActivityEnable(5) ActivityEnable(4) ActivityEnable(17) "
            "ActivityEnableRuntimeApi(17) ActivityEnableDriverApi(304) "
            "ActivityEnableDriverApi(392) ActivityEnableDriverApi(686) "
            "ActivityGetNumDroppedRecords ActivityFlushPeriod(200) "
            // stop
            "ActivityFlushPeriod(0) ActivityDisable(10) ActivityDisable(1) ActivityDisable(22) "
            "ActivityDisable(2) ActivityDisable(5) ActivityDisable(4) ActivityDisable(17) "
            "ActivityFlushAll(0) ActivityFlushAll(1) ActivityGetNumDroppedRecords "
            // release
            "ActivityFlushPeriod(0) ActivityFlushAll(0) ActivityFlushAll(1) Unsubscribe ");
}

TEST(CudaSource, SaysWhatItRecordedWith) {
  const Fake fake;
  Window window(fake);
  window.record(fake, "launch");
  EXPECT_EQ(window.metadata("cupti_version"), "130001");
  EXPECT_EQ(window.metadata("cuda_driver_version"), "13000");
  EXPECT_EQ(window.metadata("cupti_error"), "");
  EXPECT_THAT(window.metadata("deviceProperties"),
              HasSubstr("{\"id\": 0, \"name\": \"Fake GPU 0\", \"totalGlobalMem\": 85899345920, "
                        "\"computeMajor\": 9, \"computeMinor\": 0, \"maxThreadsPerBlock\": 1024, "
                        "\"maxThreadsPerMultiprocessor\": 2048, \"regsPerBlock\": 65536, "
                        "\"warpSize\": 32, \"sharedMemPerBlock\": 49152, \"numSms\": 132, "
                        "\"regsPerMultiprocessor\": 65536, \"sharedMemPerBlockOptin\": 232448, "
                        "\"sharedMemPerMultiprocessor\": 233472}"));
}

TEST(CudaSource, WarmUpIsThrownAwayAndWindowsFollowOneAnother) {
  const Fake fake;
  Window window(fake);
  ASSERT_TRUE(window.prepare().ok());
  fake.run("launch kernel=warm_up");
  for (const std::string name : {"first", "second"}) {
    ASSERT_TRUE(window.prepare().ok());
    window.start();
    fake.run("launch kernel=" + name);
    window.stop();
    const TracePtr trace = window.trace();
    EXPECT_EQ(trace->size(), 2U) << name;
    EXPECT_TRUE(find(*trace, name));
  }
}

TEST(CudaSource, WaitsForEveryContextBeforeTheWindowCloses) {
  const Fake fake;
  fake.cuda("devices", 2);
  fake.cuda("primary", 2);
  Window window(fake);
  window.record(fake, "context ctx=4 dev=1\nlaunch ctx=4 dev=1");
  EXPECT_EQ(fake.synchronised(), 3);  // two primary ones and the new one

  Window no_wait(fake, {.sync_on_stop = false});
  window.source().release();
  no_wait.record(fake, "launch");
  EXPECT_EQ(fake.synchronised(), 3);
}

TEST(CudaSource, WorkThatRunsOutOfTheWindowStays) {
  const Fake fake;
  Window window(fake);
  const TracePtr trace = window.record(fake,
                                       "mark\n"
                                       "launch kernel=late gpu=+9000000000 gpufor=1000\n"
                                       "launch kernel=of_warm_up at=1 gpu=+10 gpufor=1000\n"
                                       "launch kernel=before at=1 gpu=2 gpufor=3\n");
  EXPECT_TRUE(find(*trace, "late"));
  EXPECT_TRUE(find(*trace, "of_warm_up"));
  EXPECT_FALSE(find(*trace, "before"));
  EXPECT_EQ(all(*trace, Kind::kRuntime).size(), 1U);
}

}  // namespace
}  // namespace libtrace::cupti
