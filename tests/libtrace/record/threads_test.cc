// Lanes under threads that come, go, overlap with windows, and interrupt themselves.
#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "libtrace/profile.h"
#include "libtrace/range.h"
#include "libtrace/record/chunk_pool.h"

namespace libtrace {
namespace {

std::map<std::string, int> counts(const Trace& trace) {
  std::map<std::string, int> out;
  for (EventId e = 0; e < trace.size(); ++e) {
    if (trace.kind(e) != Kind::kSpan) ++out[std::string(trace.name(e))];
  }
  return out;
}

TEST(Threads, EveryScopeOfEveryThreadIsThereOnce) {
  constexpr int kThreads = 4, kScopes = 20'000;
  Profiler profiler({});
  profiler.start();
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([t] {
      const std::string mine = "thread " + std::to_string(t);
      for (int i = 0; i < kScopes; ++i) {
        LIBTRACE_SCOPE("static");
        LIBTRACE_RECORD_FUNCTION(mine);
      }
    });
  }
  for (std::thread& t : threads) t.join();
  profiler.stop();
  const Trace& trace = *profiler.trace();
  const auto seen = counts(trace);
  EXPECT_EQ(seen.at("static"), kThreads * kScopes);
  for (int t = 0; t < kThreads; ++t) EXPECT_EQ(seen.at("thread " + std::to_string(t)), kScopes);
  EXPECT_EQ(trace.report().count("crossing"), 0);
  EXPECT_EQ(trace.report().count("unfinished"), 0);
  EXPECT_EQ(profiler.stats().dropped, 0U);
}

TEST(Threads, RowsAreInOrderOfStartOverAllLanes) {
  Profiler profiler({});
  profiler.start();
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([] {
      for (int i = 0; i < 5'000; ++i) {
        LIBTRACE_OP("a");
        LIBTRACE_OP("b");
      }
    });
  }
  for (std::thread& t : threads) t.join();
  profiler.stop();
  const Trace& trace = *profiler.trace();
  std::vector<EventId> by_order(trace.size());
  for (EventId e = 0; e < trace.size(); ++e) by_order[trace.order(e)] = e;
  for (std::size_t i = 1; i < by_order.size(); ++i) {
    const EventId a = by_order[i - 1], b = by_order[i];
    ASSERT_TRUE(trace.start(a) < trace.start(b) ||
                (trace.start(a) == trace.start(b) && trace.dur(a) >= trace.dur(b)))
        << i;
  }
}

// Windows open and close while threads never stop: what is recorded is whole.
TEST(Threads, WindowsOpenAndCloseUnderRunningWriters) {
  std::atomic<bool> stop{false};
  std::vector<std::thread> writers;
  for (int t = 0; t < 3; ++t) {
    writers.emplace_back([&] {
      while (!stop.load(std::memory_order_relaxed)) {
        LIBTRACE_SCOPE("outer");
        LIBTRACE_RECORD_FUNCTION(std::string("inner, a name longer than one slot of 32 bytes"));
      }
    });
  }
  std::size_t events = 0;
  Profiler profiler({.schedule = Schedule::make({.wait = 1, .warmup = 1, .active = 2}),
                     .on_trace_ready =
                         [&](const TracePtr& trace) {
                           for (const auto& [name, n] : counts(*trace)) {
                             EXPECT_TRUE(name == "outer" ||
                                         name.starts_with("inner, a name longer") ||
                                         name.starts_with("ProfilerStep#"))
                                 << name;
                             events += static_cast<std::size_t>(n);
                           }
                           EXPECT_EQ(trace->report().count("crossing"), 0);
                           // At most the two scopes each thread is in.
                           EXPECT_LE(trace->report().count("unfinished"), 6);
                         },
                     .max_bytes = 16 << 20});
  profiler.start();
  for (int i = 0; i < 200; ++i) profiler.step();
  profiler.stop();
  stop = true;
  for (std::thread& t : writers) t.join();
  EXPECT_EQ(profiler.stats().cycles, 50U);
  EXPECT_EQ(profiler.stats().events, events);
}

// The same with all that a range can carry, ranges that end on other threads, and a handler beside.
TEST(Threads, DetailsUnderRunningWriters) {
  std::atomic<bool> stop{false};
  std::atomic<OpenRange*> handed{nullptr};
  std::atomic<std::uint64_t> rounds{0};
  std::vector<std::thread> writers;
  for (int t = 0; t < 3; ++t) {
    writers.emplace_back([&, t] {
      const std::int64_t sizes[2] = {t, 4};
      Input input;
      input.kind = Input::Kind::kTensor;
      input.dims = 2;
      input.sizes = sizes;
      input.type = "float";
      const RangeArg arg{"thread", Value::integer(t)};
      RangeDetails details;
      details.inputs = &input;
      details.input_count = 1;
      details.args = &arg;
      details.arg_count = 1;
      while (!stop.load(std::memory_order_relaxed)) {
        const ModuleScope module("module");
        const RecordFunction op("op", RecordScope::kFunction, details);
        MemoryReport report;
        report.bytes = 1;
        report_memory(report);
        end_async_range(handed.exchange(begin_async_range("async")));
        count("counter", t);
        rounds.fetch_add(1, std::memory_order_relaxed);
      }
    });
  }
  std::size_t ops = 0, wrong = 0;
  Options options;
  options.schedule = schedule(1, 1, 2);
  options.record_shapes = options.profile_memory = options.with_modules = options.with_stack = true;
  options.handler = HandlerPolicy::kBackground;
  options.when_behind = WhenBehind::kBlock;
  options.max_bytes = 1 << 20;
  options.on_trace_ready = [&](const TracePtr& trace) {
    for (EventId e = 0; e < trace->size(); ++e) {
      if (trace->name(e) != "op") continue;
      ++ops;
      const auto thread = trace->int_arg(e, "thread");
      const auto dims = trace->arg(e, "Input Dims");
      const bool right = thread && dims && dims->text == "[[" + std::to_string(*thread) + ",4]]";
      wrong += right ? 0 : 1;
    }
  };
  Profiler profiler(options);
  profiler.start();
  for (int i = 0; i < 80; ++i) {
    // More rounds than there are writers: one has begun and ended since.
    const std::uint64_t enough = rounds.load() + writers.size() + 1;
    while (rounds.load() < enough) std::this_thread::yield();
    profiler.step();
  }
  profiler.stop();
  stop = true;
  for (std::thread& t : writers) t.join();
  end_async_range(handed.load());
  ASSERT_TRUE(profiler.flush(std::chrono::minutes(1)).ok());
  EXPECT_EQ(profiler.stats().cycles, 20U);
  EXPECT_GT(ops, 0U);
  EXPECT_EQ(wrong, 0U);
}

TEST(Threads, ManyShortThreadsCostLittle) {
  constexpr int kThreads = 2'000;
  Profiler profiler({.schedule = Schedule::make({.active = 1})});
  profiler.start();
  const std::size_t before = profiler.stats().bytes;
  std::size_t most = 0;
  for (int i = 0; i < kThreads; ++i) {
    std::thread([] { LIBTRACE_SCOPE("short"); }).join();
    most = std::max(most, profiler.stats().bytes);
  }
  profiler.step();
  EXPECT_EQ(counts(*profiler.trace()).at("short"), kThreads);
  EXPECT_LE(most - before, kThreads * 2 * detail::kSmallChunk + 4 * detail::kLargeChunk);
  EXPECT_LE(profiler.stats().bytes, before + 8 * detail::kLargeChunk) << "their memory comes back";
  profiler.stop();
}

TEST(Threads, ATidThatComesBackIsOneLane) {
  // The kernel reuses tids sooner or later; the lanes of both lives merge, and do not cross.
  Profiler profiler({});
  profiler.start();
  for (int i = 0; i < 50; ++i) {
    std::thread([] {
      LIBTRACE_SCOPE("outer");
      LIBTRACE_SCOPE("inner");
    }).join();
  }
  profiler.stop();
  const Trace& trace = *profiler.trace();
  std::set<std::string> tids;
  for (const Lane& lane : trace.lanes()) EXPECT_TRUE(tids.insert(lane.pid + "/" + lane.tid).second);
  EXPECT_EQ(trace.report().count("crossing"), 0);
}

TEST(Threads, AScopeLeftOpenEndsWithItsThread) {
  std::unique_ptr<RecordFunction> leaked;
  Profiler profiler({});
  profiler.start();
  std::thread([&] { leaked = std::make_unique<RecordFunction>("left open"); }).join();
  {
    LIBTRACE_SCOPE("later");
  }
  profiler.stop();
  const Trace& trace = *profiler.trace();
  EventId open = kNone, later = kNone;
  for (EventId e = 0; e < trace.size(); ++e) {
    if (trace.name(e) == "left open") open = e;
    if (trace.name(e) == "later") later = e;
  }
  ASSERT_NE(open, kNone);
  EXPECT_NE(trace.flags(open) & flag::kUnfinished, 0);
  EXPECT_LE(trace.end(open), trace.start(later));
  leaked.reset();  // ends on this thread, after all is said: the memory was kept for it
}

TEST(Threads, AScopeMayEndOnAnotherThread) {
  Profiler profiler({});
  profiler.start();
  std::unique_ptr<RecordFunction> handed;
  std::thread([&] { handed = std::make_unique<RecordFunction>("handed over"); }).join();
  handed.reset();
  profiler.stop();
  EXPECT_EQ(counts(*profiler.trace()).at("handed over"), 1);
  EXPECT_EQ(profiler.trace()->report().count("unfinished"), 0);
}

struct ScopeInDestructor {
  ~ScopeInDestructor() { LIBTRACE_SCOPE("thread-local destructor"); }
};

TEST(Threads, ScopesInThreadLocalDestructorsAreRecorded) {
  Profiler profiler({});
  profiler.start();
  std::thread([] {
    thread_local ScopeInDestructor object;
    (void)object;
    LIBTRACE_SCOPE("body");
  }).join();
  profiler.stop();
  const auto seen = counts(*profiler.trace());
  EXPECT_EQ(seen.at("body"), 1);
  EXPECT_EQ(seen.at("thread-local destructor"), 1);
}

std::atomic<int> handled{0};
void on_signal(int) {
  LIBTRACE_RECORD_FUNCTION("signal handler");
  handled.fetch_add(1, std::memory_order_relaxed);
}

// Sites of their own, as a program's scopes have; each is used once, by a thread or its handler.
struct FreshSites {
  std::deque<Site> sites;
  std::atomic<std::size_t> used{0};
  void add(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      sites.emplace_back("fresh", RecordScope::kUserScope, "file.cc", 1, "function");
    }
  }
  void use() {
    const std::size_t i = used.load(std::memory_order_relaxed);
    if (i == sites.size()) return;
    used.store(i + 1, std::memory_order_relaxed);
    const RecordFunction scope(sites[i]);
  }
};
FreshSites sites_of_handler;
void on_signal_at_a_new_site(int) { sites_of_handler.use(); }

// The first use of a scope takes no lock and no malloc that the thread may be in the middle of.
TEST(Threads, SignalHandlersMayUseScopesForTheFirstTime) {
  constexpr std::size_t kSites = 100'000;
  FreshSites mine;
  mine.add(kSites);
  sites_of_handler.add(2'000);
  struct sigaction action = {}, before = {};
  action.sa_handler = on_signal_at_a_new_site;
  ASSERT_EQ(sigaction(SIGUSR1, &action, &before), 0);
  Profiler profiler({});
  profiler.start();
  std::atomic<bool> done{false};
  std::thread worker([&] {
    while (mine.used < kSites || sites_of_handler.used < 100) mine.use();
    done = true;
    while (done) std::this_thread::yield();  // alive while it is sent signals
  });
  while (!done) pthread_kill(worker.native_handle(), SIGUSR1);
  done = false;
  worker.join();
  profiler.stop();
  sigaction(SIGUSR1, &before, nullptr);
  const auto dropped = static_cast<std::size_t>(profiler.stats().dropped);
  EXPECT_EQ(static_cast<std::size_t>(counts(*profiler.trace()).at("fresh")) + dropped,
            kSites + sites_of_handler.used);
}

// Threads that meet at a site agree on what it is called.
TEST(Threads, MeetAtNewSites) {
  constexpr std::size_t kSites = 2'000;
  std::deque<Site> sites;
  std::deque<std::string> names;
  for (std::size_t i = 0; i < kSites; ++i) {
    names.push_back("site " + std::to_string(i));
    sites.emplace_back(names.back().c_str(), RecordScope::kFunction, "f.cc", 1, "f");
  }
  Profiler profiler({});
  profiler.start();
  const auto use_all = [&] {
    for (Site& site : sites) const RecordFunction scope(site);
  };
  std::thread one(use_all), two(use_all);
  one.join();
  two.join();
  names.clear();  // as if their library had gone
  profiler.stop();
  const auto seen = counts(*profiler.trace());
  EXPECT_EQ(seen.size(), kSites);
  for (const auto& [name, count] : seen) EXPECT_EQ(count, 2) << name;
}

// A handler interrupts scopes at any instruction: nothing is torn, and what is not recorded is
// counted.
TEST(Threads, SignalHandlersMayRecord) {
  struct sigaction action = {}, before = {};
  action.sa_handler = on_signal;
  ASSERT_EQ(sigaction(SIGUSR1, &action, &before), 0);
  Profiler profiler({});
  profiler.start();
  constexpr int kScopes = 200'000;
  std::atomic<bool> done{false};
  std::thread worker([&] {
    for (int i = 0; i < kScopes; ++i) {
      LIBTRACE_RECORD_FUNCTION("worker");
    }
    // At least some handlers have run, whatever the machine is busy with.
    while (handled.load(std::memory_order_relaxed) < 10) {
      LIBTRACE_RECORD_FUNCTION("waiting");
    }
    done = true;
    while (done) std::this_thread::yield();  // alive while it is sent signals
  });
  while (!done) pthread_kill(worker.native_handle(), SIGUSR1);
  done = false;
  worker.join();
  profiler.stop();
  sigaction(SIGUSR1, &before, nullptr);
  const auto seen = counts(*profiler.trace());
  const auto dropped = static_cast<int>(profiler.stats().dropped);
  EXPECT_EQ(seen.at("worker"), kScopes) << "only handlers are refused";
  EXPECT_EQ(seen.at("signal handler") + dropped, handled.load());
}

}  // namespace
}  // namespace libtrace
