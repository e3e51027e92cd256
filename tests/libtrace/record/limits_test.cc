// The ceiling: what does not fit is dropped, newest first, and counted to the last scope.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "libtrace/profile.h"
#include "libtrace/record/chunk_pool.h"

namespace libtrace {
namespace {

using detail::kLargeChunk;
using detail::kSmallChunk;

std::size_t count(const Trace& trace, std::string_view name) {
  std::size_t n = 0;
  for (EventId e = 0; e < trace.size(); ++e) n += trace.name(e) == name ? 1 : 0;
  return n;
}

TEST(Limits, DropsTheNewestAndCountsThem) {
  constexpr std::size_t kScopes = 50'000;
  Profiler profiler({.max_bytes = 256 * 1024});
  profiler.start();
  for (std::size_t i = 0; i < kScopes; ++i) {
    LIBTRACE_RECORD_FUNCTION(std::to_string(i));
  }
  EXPECT_LE(profiler.stats().bytes, 256U * 1024U);
  profiler.stop();
  const Trace& trace = *profiler.trace();
  const Stats stats = profiler.stats();
  EXPECT_GT(stats.dropped, 0U);
  EXPECT_GT(stats.events, 1'000U);
  EXPECT_EQ(stats.events + stats.dropped, kScopes);
  EXPECT_EQ(trace.report().count("dropped_by_recorder"), static_cast<std::int64_t>(stats.dropped));
  ASSERT_NE(trace.metadata("dropped_events"), nullptr);
  EXPECT_EQ(*trace.metadata("dropped_events"), std::to_string(stats.dropped));
  // The kept ones are the first ones, all of them.
  for (std::size_t i : {std::size_t{0}, stats.events / 2, stats.events - 1}) {
    EXPECT_EQ(count(trace, std::to_string(i)), 1U) << i;
  }
  EXPECT_EQ(count(trace, std::to_string(stats.events)), 0U);
}

TEST(Limits, NoRoomForOneRecordDropsAll) {
  Profiler profiler({.max_bytes = 0});
  profiler.start();
  std::thread([] {
    for (int i = 0; i < 100; ++i) {
      LIBTRACE_SCOPE("nowhere");
    }
  }).join();
  profiler.stop();
  EXPECT_EQ(profiler.stats().events, 0U);
  EXPECT_EQ(profiler.stats().dropped, 100U);
}

TEST(Limits, ThreadsShareTheCeilingAndTheCountIsExact) {
  constexpr std::uint64_t kThreads = 4, kScopes = 20'000;
  Profiler profiler({.max_bytes = 512 * 1024});
  profiler.start();
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([] {
      for (std::uint64_t i = 0; i < kScopes; ++i) {
        LIBTRACE_SCOPE("one");
        LIBTRACE_OP("two");
      }
    });
  }
  for (std::thread& t : threads) t.join();
  profiler.stop();
  const Stats stats = profiler.stats();
  EXPECT_GT(stats.dropped, 0U);
  EXPECT_EQ(stats.events + stats.dropped, kThreads * kScopes * 2);
  EXPECT_EQ(profiler.trace()->report().count("dropped_by_recorder"),
            static_cast<std::int64_t>(stats.dropped));
}

TEST(Limits, TheNextCycleHasRoomAgain) {
  std::vector<Stats> after;
  Profiler* self = nullptr;
  Profiler profiler({.schedule = Schedule::make({.active = 1}),
                     .on_trace_ready = [&](const TracePtr&) { after.push_back(self->stats()); },
                     .max_bytes = 256 * 1024});
  self = &profiler;
  profiler.start();
  for (int cycle = 0; cycle < 3; ++cycle) {
    for (int i = 0; i < 20'000; ++i) {
      LIBTRACE_SCOPE("fill");
    }
    profiler.step();
  }
  profiler.stop();
  ASSERT_GE(after.size(), 3U);
  const std::uint64_t first = after[0].events, second = after[1].events - first,
                      third = after[2].events - after[1].events;
  EXPECT_GT(first, 4'000U);
  EXPECT_GT(second, 4'000U);
  EXPECT_EQ(second, third) << "nothing leaks from cycle to cycle";
}

TEST(Limits, ARefusedLongNameDoesNotCloseTheLane) {
  Profiler profiler({.max_bytes = 256 * 1024});
  profiler.start();
  std::thread([] {
    {
      LIBTRACE_RECORD_FUNCTION(std::string(1'000'000, 'x'));
    }
    {
      LIBTRACE_SCOPE("short");
    }
  }).join();
  profiler.stop();
  EXPECT_EQ(profiler.stats().dropped, 1U);
  EXPECT_EQ(count(*profiler.trace(), "short"), 1U);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
// Below the ceiling, but the system has no more: the same as the ceiling. (Sanitizers map more
// address space than any limit lets them.)
TEST(Limits, ASystemWithoutMemoryDropsAndCounts) {
  constexpr std::uint64_t kScopes = 2'000'000;
  Profiler profiler({});
  profiler.start();
  std::uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  struct rlimit before{};
  getrlimit(RLIMIT_AS, &before);
  const struct rlimit limit{pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)) + (4U << 20),
                            before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_AS, &limit), 0);
  for (std::uint64_t i = 0; i < kScopes; ++i) {
    LIBTRACE_SCOPE("one");
  }
  setrlimit(RLIMIT_AS, &before);
  profiler.stop();
  const Stats stats = profiler.stats();
  EXPECT_GT(stats.events, 1'000U);
  EXPECT_GT(stats.dropped, 0U);
  EXPECT_EQ(stats.events + stats.dropped, kScopes);
}
#endif

TEST(ChunkPool, AccountsForEveryByte) {
  detail::ChunkPool pool;
  pool.set_max_bytes(2 * kLargeChunk + kSmallChunk);
  detail::Chunk* const a = pool.take(1, false);
  detail::Chunk* const b = pool.take(1, true);
  detail::Chunk* const c = pool.take(2000, false);
  ASSERT_TRUE(a != nullptr && b != nullptr && c != nullptr);
  EXPECT_EQ(a->bytes, kLargeChunk);
  EXPECT_EQ(b->bytes, kSmallChunk);
  EXPECT_EQ(pool.bytes_in_use(), 2 * kLargeChunk + kSmallChunk);
  EXPECT_EQ(pool.take(1, true), nullptr);
  pool.give_back(a);
  EXPECT_EQ(pool.stocked(), 1U);
  detail::Chunk* const d = pool.take(3000, false);
  EXPECT_EQ(d, nullptr) << "larger than what is left";
  detail::Chunk* const e = pool.take(1, false);
  EXPECT_EQ(e, a) << "from stock";
  for (detail::Chunk* chunk : {b, c, e}) pool.give_back(chunk);
  EXPECT_EQ(pool.bytes_in_use(), 0U);
  pool.trim(0);
  EXPECT_EQ(pool.stocked(), 0U);
}

TEST(ChunkPool, ParksAChunkUntilItsScopesEnd) {
  detail::ChunkPool pool;
  pool.set_max_bytes(kLargeChunk);
  detail::Chunk* const chunk = pool.take(1, false);
  detail::Record* const open = chunk->begin();
  open->t1 = 0;
  open->aux = 0;
  chunk->end = open + 1;
  pool.give_back(chunk);
  EXPECT_EQ(pool.bytes_in_use(), kLargeChunk);
  pool.sweep_parked();
  EXPECT_EQ(pool.stocked(), 0U);
  open->t1 = 7;
  pool.sweep_parked();
  EXPECT_EQ(pool.bytes_in_use(), 0U);
  EXPECT_EQ(pool.stocked(), 1U);
  pool.trim(0);
}

TEST(ChunkPool, TheKeeperRefillsTheStock) {
  detail::ChunkPool pool;
  pool.set_max_bytes(std::size_t{1} << 30);
  pool.stock(4);
  EXPECT_EQ(pool.stocked(), 4U);
  pool.start_keeper(4);
  std::vector<detail::Chunk*> taken;
  for (int i = 0; i < 8; ++i) taken.push_back(pool.take(1, false));
  while (pool.stocked() < 4) std::this_thread::yield();
  pool.stop_keeper();
  for (detail::Chunk* chunk : taken) pool.give_back(chunk);
  pool.trim(0);
}

}  // namespace
}  // namespace libtrace
