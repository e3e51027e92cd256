// What is lost is counted, and the rest is there: buffers, ceilings, records without times.
#include <gmock/gmock.h>

#include <thread>

#include "libtrace/cupti/buffers.h"
#include "libtrace/cupti/collector.h"
#include "libtrace/cupti/decode.h"
#include "recorded.h"
#include "tests/fakes/fake_records.h"

namespace libtrace::cupti {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;

TEST(Losses, WhatCuptiDroppedInTheWindowIsCounted) {
  const Fake fake;
  Window window(fake);
  ASSERT_TRUE(window.prepare().ok());
  fake.run("drop 5");  // in the warm-up: nobody's loss
  window.start();
  fake.run("launch\ndrop 3");
  window.stop();
  EXPECT_EQ(window.metadata("cupti_dropped_records"), "3");
  EXPECT_EQ(window.recording().dropped(), 3U);
}

TEST(Losses, WorkWithoutTimesIsCountedAndItsCallStays) {
  const Fake fake;
  Window window(fake);
  const TracePtr trace = window.record(fake, "zero-time\nlaunch\nlaunch\npending\nmemcpy\n");
  EXPECT_EQ(all(*trace, Kind::kRuntime).size(), 3U);
  EXPECT_EQ(all(*trace, Kind::kKernel).size(), 1U);
  EXPECT_EQ(window.metadata("gpu_records_without_time"), "2");
}

TEST(Losses, AnIncompleteRecordEndsItsBufferOnly) {
  const Fake fake;
  Window window(fake);
  const TracePtr trace =
      window.record(fake, "launch kernel=a\ngarbage\nlaunch kernel=b\nsplit\nlaunch kernel=c\n");
  EXPECT_TRUE(find(*trace, "a"));
  EXPECT_FALSE(find(*trace, "b"));
  EXPECT_TRUE(find(*trace, "c"));
  EXPECT_EQ(window.metadata("gpu_records_unreadable"), "1");
}

TEST(Losses, ARecordThatMakesNoSenseIsCounted) {
  const Fake fake;
  Window window(fake);
  const TracePtr trace = window.record(
      fake, "launch dev=64\nmemcpy dev=4000000000\nmemset dev=100\nlaunch dev=63 kernel=last\n");
  ASSERT_EQ(all(*trace, Kind::kKernel).size(), 1U);
  EXPECT_TRUE(find(*trace, "last"));
  EXPECT_EQ(all(*trace, Kind::kRuntime).size(), 4U);
  EXPECT_EQ(window.metadata("gpu_records_unreadable"), "3");
}

TEST(Losses, AtTheCeilingOfEventsTheNewestAreDropped) {
  const Fake fake;
  Window window(fake, {.max_bytes = 10'000});
  std::string script;
  for (int i = 0; i < 100; ++i) script += "launch\n";
  const TracePtr trace = window.record(fake, script);
  EXPECT_LT(trace->size(), 200U);
  EXPECT_GT(trace->size(), 50U);
  EXPECT_EQ(window.metadata("gpu_records_dropped"), std::to_string(200 - trace->size()));
}

// More than all buffers hold, none coming back, in either manner of being refused.
class Ceiling : public testing::TestWithParam<unsigned> {};
TEST_P(Ceiling, AFullPoolLosesRecordsAndNothingElse) {
  const bool refuses = GetParam() >= 27;
  BufferPool pool;
  pool.configure({.bytes = 1 << 16, .ceiling = 3 << 16, .may_refuse = refuses});
  std::vector<Buffer*> taken;
  for (int i = 0; i < 3; ++i) taken.push_back(pool.request());
  for (Buffer* b : taken) EXPECT_EQ(b->size, std::size_t{1} << 16);
  Buffer* const fourth = pool.request();
  EXPECT_EQ(pool.refused(), 1U);
  EXPECT_EQ(pool.bytes(), std::size_t{3} << 16);
  if (refuses) {
    EXPECT_EQ(fourth, nullptr);
  } else {
    ASSERT_NE(fourth, nullptr);
    EXPECT_TRUE(fourth->scrap);
    EXPECT_EQ(fourth->size, BufferPool::kScrapBytes);
    taken.push_back(fourth);
  }
  EXPECT_EQ(pool.wait_all_back(10s, 0ms, 0), taken.size());
  EXPECT_EQ(pool.wait_all_back(10s, 10s, taken.size()), taken.size());  // as expected: no wait
  for (Buffer* b : taken) pool.complete(b, 100);
  std::size_t back = 0;
  for (Buffer* b = pool.take_completed(); b != nullptr; ++back) {
    EXPECT_EQ(b, taken[back]);  // the oldest first
    Buffer* const next = b->next;
    pool.give_back(b);
    b = next;
  }
  EXPECT_EQ(back, taken.size());
  EXPECT_EQ(pool.wait_all_back(0ms, 0ms, 0), 0U);
  Buffer* const again = pool.request();
  EXPECT_EQ(pool.bytes(), std::size_t{3} << 16);  // from the stock
  pool.give_back(again);
}
INSTANTIATE_TEST_SUITE_P(Losses, Ceiling, testing::Values(26U, 27U));

// Through CUPTI: more threads that hold a buffer than the ceiling of 128 MiB has.
class FullPool : public testing::TestWithParam<unsigned> {};
TEST_P(FullPool, CuptiGoesOnAndTheLossIsCounted) {
  const Fake fake("13", GetParam());
  Window window(fake);
  ASSERT_TRUE(window.prepare().ok());
  window.start();
  std::string script;
  for (int i = 1; i <= 140; ++i) script += "launch tid=" + std::to_string(i) + "\n";
  fake.run(script);
  window.stop();
  const TracePtr trace = window.trace();
  // 128, but for those that the collector may be making for the stock just then.
  EXPECT_GE(all(*trace, Kind::kKernel).size(), 126U);
  EXPECT_LE(all(*trace, Kind::kKernel).size(), 128U);
  // A refused thread loses its call and its kernel, all others have both.
  const char* const key = GetParam() >= 27 ? "cupti_dropped_records" : "gpu_records_dropped";
  EXPECT_EQ(window.metadata(key), std::to_string(280 - trace->size()));
  EXPECT_EQ(window.recording().dropped(), 280 - trace->size());
}
// Buffers per thread, 1 MiB each, since 12.3; a null buffer is borne since 12.9.
INSTANTIATE_TEST_SUITE_P(Losses, FullPool, testing::Values(26U, 27U, 130001U));

TEST(Losses, BuffersAreReusedAndClean) {
  const Fake fake;  // dies on a buffer that is not zeroed
  Window window(fake);
  for (int cycle = 0; cycle < 5; ++cycle) {
    ASSERT_TRUE(window.prepare().ok());
    window.start();
    std::string script;
    for (int i = 0; i < 20; ++i) script += "launch\nsplit\n";  // 32 fit below the ceiling
    fake.run(script);
    window.stop();
    EXPECT_EQ(window.trace()->size(), 40U);
    EXPECT_EQ(Collector::instance().outstanding(), 0U);
  }
}

TEST(Losses, ABufferThatCuptiKeepsIsNotWaitedForLong) {
  const Fake fake;
  Window window(fake);
  ASSERT_TRUE(window.prepare().ok());
  window.start();
  fake.run("launch\nsplit\nlaunch\nhold\n");
  const auto before = std::chrono::steady_clock::now();
  window.stop();
  EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(5));
  EXPECT_EQ(window.trace()->size(), 2U);
  EXPECT_EQ(window.metadata("cupti_buffers_not_returned"), "1");
  // It comes back in the next window, where its records are of another time.
  fake.run("release");
  ASSERT_TRUE(window.prepare().ok());
  window.start();
  fake.run("split\nlaunch");
  window.stop();
  EXPECT_EQ(window.trace()->size(), 2U);
  EXPECT_EQ(window.metadata("cupti_buffers_not_returned"), "");
}

// Whatever is in a buffer, nothing outside of it is read (address sanitizer), and it ends.
TEST(Losses, ArbitraryBytesAreSurvived) {
  const Fake fake;
  Refusal refusal;
  const std::optional<Libraries> libraries = load_cupti(fake.options, refusal);
  ASSERT_TRUE(libraries) << refusal.why;
  std::uint64_t state = 88172645463325252U;
  const auto random = [&] {
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
  };
  for (int round = 0; round < 2000; ++round) {
    std::vector<std::uint8_t> bytes(random() % 512);
    for (auto& b : bytes) b = static_cast<std::uint8_t>(random());
    // Plausible kinds, so that it gets somewhere; names must be pointers, as CUPTI's are.
    for (std::size_t at = 0; at + 4 <= bytes.size();) {
      const auto kind = static_cast<ActivityKind>(random() % 55);
      std::memcpy(bytes.data() + at, &kind, 4);
      const std::size_t size = traceglass_fakes::record_size(kind, 130001);
      if (kind == ActivityKind::kConcurrentKernel || kind == ActivityKind::kKernel) {
        const char* const name = "k";
        if (at + layout::kernel::kName + 8 <= bytes.size()) {
          std::memcpy(bytes.data() + at + layout::kernel::kName, static_cast<const void*>(&name),
                      8);
        }
      }
      at += std::max<std::size_t>(size, 4);
    }
    EventLog log;
    decode(libraries->cupti, bytes.data(), bytes.size(), log);
    EXPECT_LE(log.size(), 64U);
  }
}

// A library whose steps lead nowhere.
TEST(Losses, ALibraryThatMisleadsIsNotFollowed) {
  CuptiApi api;
  api.version = 130001;
  static std::uint8_t elsewhere[256];
  std::uint8_t buffer[256] = {};
  EventLog log;
  api.ActivityGetNextRecord = [](std::uint8_t*, std::size_t, std::uint8_t** record) {
    *record = elsewhere;
    return kSuccess;
  };
  decode(api, buffer, sizeof buffer, log);
  EXPECT_EQ(log.losses.unreadable, 1U);
  api.ActivityGetNextRecord = [](std::uint8_t* bytes, std::size_t, std::uint8_t** record) {
    *record = bytes;  // for ever the same
    return kSuccess;
  };
  decode(api, buffer, sizeof buffer, log);
  EXPECT_EQ(log.losses.unreadable, 2U);
  api.ActivityGetNextRecord = [](std::uint8_t*, std::size_t, std::uint8_t**) { return 999; };
  decode(api, buffer, sizeof buffer, log);
  EXPECT_EQ(log.losses.unreadable, 3U);
}

}  // namespace
}  // namespace libtrace::cupti
