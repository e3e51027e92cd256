// The same work under every release's layout of records, from 11.0 to the newest.
#include <gmock/gmock.h>

#include "recorded.h"

namespace libtrace::cupti {
namespace {

struct Version {
  unsigned api;
  const char* folder;
};
class Versions : public testing::TestWithParam<Version> {};

TEST_P(Versions, RecordsEverything) {
  const auto [api, folder] = GetParam();
  const Fake fake(folder, api);
  Window window(fake, {.sync_events = true, .profile_memory = true});
  const TracePtr trace = window.record(fake,
                                       "launch kernel=single stream=9 tid=77\n"
                                       "graph nodes=3 id=5 kernel=node\n"
                                       "memcpy kind=2 src=3 dst=2 bytes=100\n"
                                       "peer from=0 to=1 bytes=200\n"
                                       "memset bytes=300\n"
                                       "record event=4 stream=9\n"
                                       "sync type=2 event=4 stream=7\n"
                                       "overhead kind=65536\n"
                                       "alloc bytes=1000 addr=4096\n"
                                       "free bytes=1000 addr=4096\n");
  const Trace& t = *trace;
  const EventId single = find(t, "single").value();
  EXPECT_EQ(t.int_arg(single, "stream"), 9);
  EXPECT_EQ(t.lanes()[t.lane_of(t.launch(single))].tid, "77");
  EXPECT_EQ(t.arg(single, "graph id"), std::nullopt);
  EXPECT_EQ(t.int_arg(single, "channel"),
            api >= 17 ? std::optional<std::int64_t>(3) : std::nullopt);

  const std::vector<EventId> kernels = all(t, Kind::kKernel);
  ASSERT_EQ(kernels.size(), 4U);
  const std::int64_t correlation =
      t.int_arg(find(t, "cudaGraphLaunch").value(), "correlation").value();
  for (std::int64_t i = 0; i < 3; ++i) {
    const EventId node = kernels[static_cast<std::size_t>(i) + 1];
    EXPECT_EQ(t.int_arg(node, "graph id"), api >= 14 ? 5 : 0);
    EXPECT_EQ(t.int_arg(node, "graph node id"), 0x500000000 + i);
    EXPECT_EQ(t.int_arg(node, "correlation"), correlation);
    EXPECT_EQ(t.name(t.launch(node)), "cudaGraphLaunch");
  }

  EXPECT_EQ(t.int_arg(find(t, "Memcpy DtoH (Device -> Pinned)").value(), "bytes"), 100);
  const EventId peer = find(t, "Memcpy PtoP (Device -> Device)").value();
  EXPECT_EQ(t.int_arg(peer, "bytes"), 200);
  EXPECT_EQ(t.int_arg(peer, "fromDevice"), 0);
  EXPECT_EQ(t.int_arg(peer, "toDevice"), 1);
  EXPECT_EQ(t.int_arg(find(t, "Memset (Device)").value(), "bytes"), 300);

  const EventId wait = find(t, "Stream Wait Event").value();
  EXPECT_EQ(t.kind(wait), Kind::kSync);
  EXPECT_EQ(t.int_arg(wait, "wait_on_stream"), 9);
  EXPECT_EQ(t.int_arg(wait, "wait_on_cuda_event_id"), 4);
  EXPECT_EQ(t.int_arg(wait, "wait_on_cuda_event_record_corr_id"),
            t.int_arg(find(t, "cudaEventRecord").value(), "correlation"));

  EXPECT_EQ(t.category(find(t, "Buffer Flush").value()), "overhead");

  const std::size_t memory = api >= 14 ? 2 : 0;  // CUDA 11.0 does not tell
  ASSERT_EQ(t.memory().size(), memory);
  if (memory != 0) {
    EXPECT_EQ(t.memory()[0].bytes, 1000);
    EXPECT_EQ(t.memory()[0].addr, 4096U);
    EXPECT_EQ(t.memory()[0].total_allocated, 1000);
    EXPECT_EQ(t.memory()[1].bytes, -1000);
    EXPECT_EQ(t.memory()[1].total_allocated, 0);
    EXPECT_EQ(t.memory()[0].device_type, 1);
  }
  EXPECT_EQ(window.recording().dropped(), 0U);
  EXPECT_EQ(window.metadata("cupti_error"), "");
  EXPECT_EQ(window.metadata("cupti_version"), std::to_string(api));
  EXPECT_EQ(window.metadata("cupti_untested_version"), api > 130599 ? std::to_string(api) : "");
}

// API version, and the file that a release has it under.
INSTANTIATE_TEST_SUITE_P(Cupti, Versions,
                         testing::Values(Version{13, "11"}, Version{14, "11"}, Version{15, "11"},
                                         Version{16, "11"}, Version{17, "12"}, Version{18, "12"},
                                         Version{19, "12"}, Version{21, "12"}, Version{22, "12"},
                                         Version{24, "12"}, Version{26, "12"}, Version{27, "12"},
                                         Version{28, "12"}, Version{130000, "13"},
                                         Version{130001, "13"}, Version{130101, "13"},
                                         Version{130301, "13"}, Version{130400, "13"},
                                         Version{130500, "13"}, Version{140000, "13"}),
                         [](const auto& info) { return "v" + std::to_string(info.param.api); });

TEST(Versions, ReadsTimesOfTheWallClockWhereCuptiHasNoCallback) {
  const Fake fake("11", 15);
  Window window(fake);
  ASSERT_TRUE(window.prepare().ok());
  window.start();
  const std::int64_t before = read_clock_pair().unix_ns;
  fake.run("launch");
  const std::int64_t after = read_clock_pair().unix_ns;
  window.stop();
  const TracePtr trace = window.trace();
  const EventId call = find(*trace, "cudaLaunchKernel").value();
  EXPECT_GE(window.base() + trace->start(call), before - 1000);
  EXPECT_LE(window.base() + trace->start(call), after + 1000);
}

}  // namespace
}  // namespace libtrace::cupti
