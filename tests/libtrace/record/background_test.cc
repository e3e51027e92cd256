// The handler on a thread of its own: the program goes on, little waits, what is lost is counted.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <iterator>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "libtrace/model/pieces.h"
#include "libtrace/profile.h"

namespace libtrace {
namespace {

using std::chrono::milliseconds;
constexpr milliseconds kLong{60'000};

Options background(TraceHandler handler) {
  Options options;
  options.schedule = schedule(0, 0, 1);
  options.handler = HandlerPolicy::kBackground;
  options.on_trace_ready = std::move(handler);
  return options;
}

// A handler that waits until it may go on.
class Gate {
 public:
  TraceHandler handler() {
    return [this](const TracePtr& trace) {
      entered_.store(true);
      entered_.notify_all();
      open_.get_future().wait();
      open_ = std::promise<void>();
      open_.set_value();  // for those to come
      names_.push_back(name_of(*trace));
      dropped_.push_back(
          trace->metadata("dropped_traces") != nullptr ? *trace->metadata("dropped_traces") : "");
      reported_.push_back(trace->report().count("dropped_traces"));
    };
  }
  void wait_until_entered() { entered_.wait(false); }
  void open() { open_.set_value(); }
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  [[nodiscard]] const std::vector<std::string>& dropped() const { return dropped_; }
  [[nodiscard]] const std::vector<std::int64_t>& reported() const { return reported_; }

 private:
  static std::string name_of(const Trace& trace) {
    for (EventId e = 0; e < trace.size(); ++e) {
      if (trace.name(e).starts_with("ProfilerStep#")) return std::string(trace.name(e));
    }
    return "";
  }
  std::atomic<bool> entered_{false};
  std::promise<void> open_;
  std::vector<std::string> names_, dropped_;
  std::vector<std::int64_t> reported_;
};

TEST(Background, HandlesEveryCycleInOrderOnAThreadOfLowPriority) {
  std::vector<std::string> steps;
  std::thread::id thread;
  int nice_value = 0;
  std::atomic<int> handled{0};
  Profiler profiler(background([&](const TracePtr& trace) {
    thread = std::this_thread::get_id();
    nice_value = getpriority(PRIO_PROCESS, 0);
    steps.push_back(std::to_string(trace->size()));
    ++handled;
    handled.notify_all();
  }));
  profiler.start();
  for (int i = 0; i < 5; ++i) {
    for (int k = 0; k < i; ++k) {
      LIBTRACE_SCOPE("one");
    }
    profiler.step();
    handled.wait(i);  // not by flush(): who waits there brings a priority along
  }
  profiler.stop();
  handled.wait(5);
  // Spans, the step, and the scopes.
  EXPECT_EQ(steps, (std::vector<std::string>{"2", "3", "4", "5", "6", "2"}));
  EXPECT_NE(thread, std::this_thread::get_id());
  EXPECT_GE(nice_value, 10);
  EXPECT_EQ(profiler.stats().cycles, 6U);
}

TEST(Background, DropsTracesBeyondTwoAndSaysSoInTheNext) {
  Gate gate;
  Options options = background(gate.handler());
  int warnings = 0;
  options.log = [&](std::string_view) { ++warnings; };
  Profiler profiler(options);
  warnings = 0;  // of the schedule
  profiler.start();
  profiler.step();  // 0: in the handler
  gate.wait_until_entered();
  for (int i = 0; i < 5; ++i) profiler.step();  // 1, 2 wait; 3, 4, 5 are lost
  EXPECT_EQ(profiler.stats().dropped_traces, 3U);
  EXPECT_EQ(warnings, 3) << "told at once: there may be no next trace";
  EXPECT_EQ(profiler.flush(milliseconds(1)).code(), StatusCode::kTimeout);
  gate.open();
  ASSERT_TRUE(profiler.flush(kLong).ok());
  profiler.step();  // 6
  ASSERT_TRUE(profiler.flush(kLong).ok());
  profiler.stop();  // 7
  ASSERT_TRUE(profiler.flush(kLong).ok());
  EXPECT_EQ(gate.names(),
            (std::vector<std::string>{"ProfilerStep#0", "ProfilerStep#1", "ProfilerStep#2",
                                      "ProfilerStep#6", "ProfilerStep#7"}));
  EXPECT_EQ(gate.dropped(), (std::vector<std::string>{"", "", "", "3", ""}));
  EXPECT_EQ(gate.reported(), (std::vector<std::int64_t>{0, 0, 0, 3, 0}));
  EXPECT_LE(profiler.stats().bytes, 200'000U) << "what was dropped is given back";
}

std::size_t threads_of_this_process() {
  using Tasks = std::filesystem::directory_iterator;
  return static_cast<std::size_t>(std::distance(Tasks("/proc/self/task"), Tasks()));
}

// A raised nice value cannot be lowered again: what is left is done on another thread.
TEST(Background, WhatSomebodyWaitsForIsDoneAtThePriorityOfTheOneWhoWaits) {
  Gate gate;
  std::vector<int> nice_values;
  Profiler profiler(background([&, open = gate.handler()](const TracePtr& trace) {
    nice_values.push_back(getpriority(PRIO_PROCESS, 0));
    open(trace);
  }));
  profiler.start();
  for (int i = 0; i < 3; ++i) {
    profiler.step();
    if (i == 0) gate.wait_until_entered();
  }
  const int mine = getpriority(PRIO_PROCESS, 0);
  const std::size_t before = threads_of_this_process();
  std::thread opener([&] {
    // Until the helper that the flush below starts is there, beside this thread.
    while (threads_of_this_process() < before + 2) std::this_thread::yield();
    gate.open();
  });
  ASSERT_TRUE(profiler.flush(kLong).ok());
  opener.join();
  EXPECT_EQ(nice_values, (std::vector<int>{std::max(mine, 10), mine, mine}));
  EXPECT_EQ(gate.names(),
            (std::vector<std::string>{"ProfilerStep#0", "ProfilerStep#1", "ProfilerStep#2"}));
  profiler.stop();
}

TEST(Background, SoAreThePiecesThatAreLeftOfWhatIsUnderWay) {
  std::atomic<bool> entered{false};
  std::vector<int> nice_values;  // of each piece that ran at another value than the one before
  std::thread::id before, after;
  Profiler profiler(background([&](const TracePtr&) {
    before = std::this_thread::get_id();
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    bool helped = false;
    run_in_pieces([&] {
      const int now = getpriority(PRIO_PROCESS, 0);
      if (nice_values.empty() || nice_values.back() != now) nice_values.push_back(now);
      entered.store(true);
      entered.notify_all();
      helped = nice_values.size() > 1;
      return !helped && std::chrono::steady_clock::now() < give_up;
    });
    after = std::this_thread::get_id();
  }));
  profiler.start();
  profiler.step();
  entered.wait(false);
  ASSERT_TRUE(profiler.flush(kLong).ok());
  const int mine = getpriority(PRIO_PROCESS, 0);
  if (mine >= 10) GTEST_SKIP() << "nothing to see: everything here is of low priority";
  EXPECT_EQ(nice_values, (std::vector<int>{10, mine}));
  EXPECT_EQ(before, after) << "the handler itself stays where it is";
  profiler.stop();
}

TEST(Background, APieceThatThrowsElsewhereThrowsInTheHandler) {
  std::atomic<bool> entered{false};
  Profiler profiler(background([&](const TracePtr&) {
    if (entered.load()) return;  // stop()'s
    const std::thread::id home = std::this_thread::get_id();
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    run_in_pieces([&] {
      entered.store(true);
      entered.notify_all();
      if (std::this_thread::get_id() != home) throw std::runtime_error("elsewhere");
      return std::chrono::steady_clock::now() < give_up;
    });
  }));
  profiler.start();
  profiler.step();
  entered.wait(false);
  EXPECT_EQ(profiler.flush(kLong).message(), "elsewhere");
  profiler.stop();
}

// Whoever gives up takes nothing along: what is under way goes on, and a later one may wait anew.
TEST(Background, WaitersComeAndGo) {
  std::atomic<bool> entered{false}, enough{false};
  int pieces = 0;
  Profiler profiler(background([&](const TracePtr&) {
    run_in_pieces([&] {
      ++pieces;
      entered.store(true);
      entered.notify_all();
      return !enough.load();
    });
  }));
  profiler.start();
  profiler.step();
  entered.wait(false);
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(profiler.flush(milliseconds(i % 3)).code(), StatusCode::kTimeout);
  }
  enough.store(true);
  ASSERT_TRUE(profiler.flush(kLong).ok());
  EXPECT_GT(pieces, 1);
  profiler.stop();
}

TEST(Background, OrWaits) {
  Gate gate;
  Options options = background(gate.handler());
  options.when_behind = WhenBehind::kBlock;
  Profiler profiler(options);
  profiler.start();
  profiler.step();
  gate.wait_until_entered();
  profiler.step();
  profiler.step();
  std::atomic<bool> done{false};
  std::thread opener([&] {
    EXPECT_FALSE(done.load());
    gate.open();
  });
  profiler.step();  // until there is room
  done.store(true);
  opener.join();
  profiler.stop();
  ASSERT_TRUE(profiler.flush(kLong).ok());
  EXPECT_EQ(gate.names().size(), 5U);
  EXPECT_EQ(profiler.stats().dropped_traces, 0U);
}

TEST(Background, AFailureIsLoggedCountedAndToldByFlush) {
  std::vector<std::string> log;
  Options options = background([](const TracePtr&) { throw std::runtime_error("disk full"); });
  options.log = [&](std::string_view s) { log.emplace_back(s); };
  Profiler profiler(options);
  log.clear();  // of the schedule
  profiler.start();
  EXPECT_NO_THROW(profiler.step());
  const Status status = profiler.flush(kLong);
  EXPECT_EQ(status.code(), StatusCode::kIoError);
  EXPECT_EQ(status.message(), "disk full");
  EXPECT_TRUE(profiler.flush(kLong).ok()) << "told once";
  EXPECT_EQ(log, std::vector<std::string>{"Profiler: disk full"});
  EXPECT_EQ(profiler.stats().failed_traces, 1U);
  EXPECT_NO_THROW(profiler.stop());
}

TEST(Background, TheDestructorFinishesWhatWaits) {
  int handled = 0;
  {
    Profiler profiler(background([&](const TracePtr&) { ++handled; }));
    profiler.start();
    profiler.step();
    profiler.step();
  }
  EXPECT_EQ(handled, 3);
}

TEST(Background, FlushFromAnyOtherThread) {
  std::atomic<bool> over{false};
  Options options = background([](const TracePtr&) {});
  options.when_behind = WhenBehind::kBlock;
  Profiler profiler(options);
  std::thread flusher([&] {
    while (!over.load()) EXPECT_TRUE(profiler.flush(kLong).ok());
  });
  profiler.start();  // the first step() makes the thread that is asked
  for (int i = 0; i < 3; ++i) profiler.step();
  profiler.stop();
  over.store(true);
  flusher.join();
  EXPECT_TRUE(profiler.flush(kLong).ok());
  EXPECT_EQ(profiler.stats().cycles, 4U);
}

TEST(Background, FlushFromItsOwnHandlerIsRefused) {
  Profiler* self = nullptr;
  Status status;
  Profiler profiler(background([&](const TracePtr&) { status = self->flush(kLong); }));
  self = &profiler;
  profiler.start();
  profiler.stop();
  ASSERT_TRUE(profiler.flush(kLong).ok());
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
}

TEST(Background, CallsFromItsOwnHandlerAreRefused) {
  Profiler* self = nullptr;
  std::atomic<int> refused{0};
  const auto expect_refused = [&](const auto& call) {
    try {
      call();
    } catch (const std::logic_error&) {
      ++refused;
    }
  };
  Profiler profiler(background([&](const TracePtr&) {
    expect_refused([&] { self->start(); });
    expect_refused([&] { self->step(); });
    expect_refused([&] { self->stop(); });
    expect_refused([&] { self->toggle_collection(false, Activities::cpu()); });
  }));
  self = &profiler;
  profiler.start();
  profiler.step();
  ASSERT_TRUE(profiler.flush(kLong).ok());
  EXPECT_EQ(refused, 4);
  profiler.stop();
  ASSERT_TRUE(profiler.flush(kLong).ok());
  EXPECT_EQ(refused, 8);
  EXPECT_EQ(profiler.stats().cycles, 2U);
}

// What waits counts against the ceiling, so that the next cycle has the rest.
TEST(Background, TheCeilingHoldsForAllOfIt) {
  constexpr std::size_t kMax = 4 << 20;
  Gate gate;
  Options options = background(gate.handler());
  options.max_bytes = kMax;
  Profiler profiler(options);
  profiler.start();
  std::uint64_t scopes = 0;
  for (int cycle = 0; cycle < 5; ++cycle) {
    for (int i = 0; i < 90'000; ++i, ++scopes) {
      LIBTRACE_SCOPE("fill");
    }
    EXPECT_LE(profiler.stats().bytes, kMax);
    profiler.step();
    if (cycle == 0) gate.wait_until_entered();
  }
  gate.open();
  profiler.stop();
  ASSERT_TRUE(profiler.flush(kLong).ok());
  const Stats stats = profiler.stats();
  EXPECT_GT(stats.dropped, 0U);
  EXPECT_GT(stats.dropped_traces, 0U);
  EXPECT_LE(stats.events + stats.dropped, scopes + 6) << "and the steps";
}

int exit_of(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

std::string lines_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::atomic<bool> may_write{false};
void let_write() {
  may_write.store(true);
  may_write.notify_all();
}
TraceHandler appending_to(const std::string& path) {
  return [path](const TracePtr&) {
    may_write.wait(false);
    std::ofstream(path, std::ios::app) << "trace\n";
  };
}

TEST(Background, AnExitWithoutStopLosesNoFinishedCycle) {
  const std::string path = ::testing::TempDir() + "/background_exit_" + std::to_string(getpid());
  may_write.store(false);
  const pid_t child = fork();
  if (child == 0) {
    auto* const profiler = new Profiler(background(appending_to(path)));  // never destroyed
    profiler->start();
    profiler->step();
    profiler->step();
    std::atexit(let_write);  // nothing is written before the exit
    std::exit(0);
  }
  EXPECT_EQ(exit_of(child), 0);
  EXPECT_EQ(lines_of(path), "trace\ntrace\n");
  unlink(path.c_str());
}

#if !defined(__SANITIZE_THREAD__)
// (The thread sanitizer lets no child of a threaded process start a thread.)
TEST(Background, AForkedChildLeavesTheParentsTracesAlone) {
  const std::string path = ::testing::TempDir() + "/background_fork_" + std::to_string(getpid());
  may_write.store(false);
  {
    Options options = background(appending_to(path));
    options.when_behind = WhenBehind::kBlock;
    Profiler profiler(options);
    profiler.start();
    profiler.step();
    profiler.step();
    const pid_t child = fork();  // with one trace at work and one waiting
    let_write();                 // each its own
    if (child == 0) {
      profiler.step();  // the loop they share
      const bool same = profiler.flush(kLong).ok();
      profiler.stop();
      profiler.start();  // and a profile of the child's own
      profiler.stop();
      _exit(same && profiler.flush(kLong).ok() ? 0 : 1);
    }
    EXPECT_EQ(exit_of(child), 0);
    profiler.stop();
  }
  // Of the parent: steps 0, 1 and the last; of the child: its own.
  EXPECT_EQ(lines_of(path), "trace\ntrace\ntrace\ntrace\n");
  unlink(path.c_str());
}

#endif

TEST(Background, AccumulatesTracesOnlyWhenAsked) {
  Options options = background({});
  options.handler = HandlerPolicy::kInline;
  options.schedule = schedule(0, 0, 1, 3);
  for (const bool accumulate : {false, true}) {
    options.accumulate_events = accumulate;
    Profiler profiler(options);
    EXPECT_EQ(profiler.trace(), nullptr);
    profiler.start();
    for (int i = 0; i < 3; ++i) profiler.step();
    profiler.stop();
    EXPECT_EQ(profiler.traces().size(), accumulate ? 3U : 1U);
    EXPECT_EQ(profiler.traces().back(), profiler.trace());
  }
}

}  // namespace
}  // namespace libtrace
