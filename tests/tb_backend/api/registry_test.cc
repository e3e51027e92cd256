#include "tb_backend/api/registry.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <set>

#include "libtrace/trace_builder.h"

namespace traceglass {
namespace {

using namespace std::chrono_literals;

libtrace::TracePtr tiny_trace() {
  libtrace::TraceBuilder builder;
  libtrace::TraceBuilder::Row row;
  row.start = 10;
  row.dur = 5;
  row.name = builder.intern("op");
  row.category = builder.intern("cpu_op");
  row.pid = row.tid = builder.intern("1");
  builder.add_slice(row);
  return builder.finish();
}

TraceFile file(const std::string& id, std::uint64_t bytes = 100) {
  TraceFile f;
  f.id = f.file = id;
  f.path = id;
  f.stamp.bytes = bytes;
  return f;
}

Registry::Options options(Registry::Loader load) {
  Registry::Options o;
  o.reload_after = 0ms;
  o.load = std::move(load);
  return o;
}

IngestResult good(const std::filesystem::path&, IngestProgress*) {
  return {tiny_trace(), std::nullopt};
}

TEST(Registry, ManyAskersLoadOnce) {
  std::atomic<int> loads = 0;
  std::latch all_asked(1);
  Registry registry(options([&](const auto& path, IngestProgress* p) {
    ++loads;
    p->bytes_done = 60;
    p->events = 7;
    all_asked.wait();
    return good(path, p);
  }));
  std::vector<std::thread> askers;
  for (int i = 0; i < 8; ++i) {
    askers.emplace_back([&] {
      const LoadStatus status = registry.ask(file("a"));
      EXPECT_FALSE(status.loaded);
      EXPECT_EQ(status.bytes_total, 100U);
    });
  }
  for (auto& t : askers) t.join();
  all_asked.count_down();
  registry.wait_idle();
  const LoadStatus status = registry.ask(file("a"));
  EXPECT_EQ(status.phase, LoadPhase::kReady);
  ASSERT_TRUE(status.loaded);
  EXPECT_EQ(status.events, 1U);
  EXPECT_EQ(loads, 1);
  EXPECT_EQ(registry.peek(file("a")), LoadPhase::kReady);
  EXPECT_EQ(registry.peek(file("b")), LoadPhase::kNew);
}

TEST(Registry, AnErrorIsKeptAndHidesNoOther) {
  Registry registry(options([](const std::filesystem::path& path, IngestProgress* p) {
    if (path == "bad") return IngestResult{nullptr, FileError{"broken", "It is broken.", 12}};
    if (path == "throws") throw std::bad_alloc();
    return good(path, p);
  }));
  for (const char* id : {"bad", "throws", "good"}) registry.ask(file(id));
  registry.wait_idle();
  EXPECT_EQ(registry.ask(file("bad")).error->code, "broken");
  EXPECT_EQ(registry.ask(file("bad")).error->offset, 12U);
  EXPECT_EQ(registry.ask(file("throws")).phase, LoadPhase::kError);
  EXPECT_TRUE(registry.ask(file("good")).loaded);
}

TEST(Registry, AChangedFileIsANewGeneration) {
  Registry registry(options(&good));
  registry.ask(file("a"));
  registry.wait_idle();
  const std::string before = registry.ask(file("a")).loaded->generation;
  EXPECT_EQ(registry.ask(file("a")).loaded->generation, before);
  EXPECT_FALSE(registry.ask(file("a", 200)).loaded);
  registry.wait_idle();
  EXPECT_NE(registry.ask(file("a", 200)).loaded->generation, before);
}

TEST(Registry, AGrowingFileIsNotLoadedAgainAtOnce) {
  std::chrono::steady_clock::time_point now{};
  Registry::Options o = options(&good);
  o.reload_after = 2s;
  o.clock = [&] { return now; };
  Registry registry(o);
  registry.ask(file("a"));
  registry.wait_idle();
  now += 1s;
  EXPECT_TRUE(registry.ask(file("a", 200)).loaded);  // as it was
  now += 2s;
  EXPECT_FALSE(registry.ask(file("a", 200)).loaded);
  registry.wait_idle();
  EXPECT_EQ(registry.ask(file("a", 200)).loaded->file.stamp.bytes, 200U);
}

TEST(Registry, UnreadableIsTriedAgain) {
  std::atomic<bool> readable = false;
  Registry registry(options([&](const auto& path, IngestProgress* p) {
    if (!readable) return IngestResult{nullptr, FileError{"unreadable", "No permission.", 0}};
    return good(path, p);
  }));
  registry.ask(file("a"));
  registry.wait_idle();
  readable = true;
  registry.ask(file("a"));
  registry.wait_idle();
  EXPECT_TRUE(registry.ask(file("a")).loaded);
}

TEST(Registry, TheLeastRecentlyUsedGoesWhenMemoryIsFull) {
  Registry::Options o = options(&good);
  o.budget_bytes = 1;  // room for the newest only
  o.loaders = 1;
  Registry registry(o);
  registry.ask(file("a"));
  registry.wait_idle();
  const auto held = registry.ask(file("a")).loaded;
  registry.ask(file("b"));
  registry.wait_idle();
  EXPECT_EQ(registry.peek(file("a")), LoadPhase::kNew);
  EXPECT_TRUE(registry.ask(file("b")).loaded);
  EXPECT_EQ(registry.resident_bytes(), held->bytes);
  EXPECT_EQ(held->trace->size(), 1U);  // who holds it may go on using it
}

TEST(Registry, WhatIsNeededTogetherStaysBeyondTheBudgetForAWhile) {
  std::chrono::steady_clock::time_point now{};
  Registry::Options o = options(&good);
  o.budget_bytes = 1;
  o.clock = [&] { return now; };
  Registry registry(o);
  registry.hold({"a", "b"});
  for (const char* id : {"a", "b", "a", "b"}) {
    registry.ask(file(id));
    registry.wait_idle();
  }
  EXPECT_EQ(registry.peek(file("a")), LoadPhase::kReady);
  EXPECT_EQ(registry.peek(file("b")), LoadPhase::kReady);
  registry.hold({"c", "d", "e"});  // too many: not one of them
  for (const char* id : {"c", "d"}) {
    registry.ask(file(id));
    registry.wait_idle();
  }
  EXPECT_EQ(registry.peek(file("c")), LoadPhase::kNew);
  EXPECT_EQ(registry.peek(file("a")), LoadPhase::kReady);
  now += 1min;
  registry.ask(file("f"));
  registry.wait_idle();
  EXPECT_EQ(registry.peek(file("a")), LoadPhase::kNew);
  EXPECT_EQ(registry.peek(file("f")), LoadPhase::kReady);
}

TEST(Registry, AFileThatVanishesIsForgottenAndItsLoadGivenUp) {
  std::latch started(1);
  std::latch vanished(1);
  std::atomic<bool> cancelled = false;
  Registry registry(options([&](const auto& path, IngestProgress* p) {
    started.count_down();
    vanished.wait();
    cancelled = p->cancel.load();
    return good(path, p);
  }));
  registry.ask(file("a"));
  started.wait();
  registry.keep_only(Snapshot{});
  vanished.count_down();
  registry.wait_idle();
  EXPECT_TRUE(cancelled);
  EXPECT_EQ(registry.peek(file("a")), LoadPhase::kNew);
}

TEST(Registry, LoadersAreBounded) {
  std::atomic<int> running = 0;
  std::atomic<int> most = 0;
  Registry registry(options([&](const auto& path, IngestProgress* p) {
    most = std::max(most.load(), ++running);
    IngestResult result = good(path, p);
    --running;
    return result;
  }));
  for (int i = 0; i < 50; ++i) registry.ask(file(std::to_string(i)));
  registry.wait_idle();
  EXPECT_LE(most, 2);
  std::set<std::string> generations;
  for (int i = 0; i < 50; ++i) {
    generations.insert(registry.ask(file(std::to_string(i))).loaded->generation);
  }
  EXPECT_EQ(generations.size(), 50U);
}

TEST(Registry, EndsWhileLoading) {
  std::latch started(1);
  Registry::Options o = options([&](const auto& path, IngestProgress* p) {
    started.count_down();
    while (!p->cancel) std::this_thread::yield();
    return good(path, p);
  });
  o.loaders = 1;  // the second file stays in the queue
  auto registry = std::make_unique<Registry>(o);
  registry->ask(file("a"));
  registry->ask(file("b"));
  started.wait();
  registry.reset();
}

// A loader that holds each load until the test lets it go.
class Gate {
 public:
  Registry::Loader loader() {
    return [this](const std::filesystem::path& path, IngestProgress* p) -> LoadResult {
      std::unique_lock lock(mutex_);
      started_.insert(path.string());
      changed_.notify_all();
      changed_.wait(lock, [&] { return open_.contains(path.string()) || p->cancel; });
      return good(path, p);
    };
  }
  void wait_for(const std::string& id) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return started_.contains(id); });
  }
  void let(const std::string& id) {
    const std::lock_guard lock(mutex_);
    open_.insert(id);
    changed_.notify_all();
  }
  void wake() { changed_.notify_all(); }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::set<std::string> started_, open_;
};

std::vector<std::string> ids(const std::vector<Load>& loads) {
  std::vector<std::string> out;
  for (const Load& load : loads) {
    out.push_back(load.file.id + ' ' + phase_name(load.status.phase));
  }
  return out;
}

using Ids = std::vector<std::string>;

TEST(Registry, LoadsThatAreTooLargeTogetherWaitForEachOther) {
  Gate gate;
  Registry::Options o = options(gate.loader());
  o.budget_bytes = 100;
  o.expected = [](const TraceFile& f) { return f.id == "small" ? std::size_t{30} : 60; };
  Registry registry(o);
  for (const char* id : {"a", "b", "small"}) registry.ask(file(id));
  gate.wait_for("a");
  // "small" would fit, but nobody is passed over.
  EXPECT_EQ(ids(registry.loads()), (Ids{"a reading", "b queued", "small queued"}));
  gate.let("a");
  gate.wait_for("b");
  gate.wait_for("small");
  EXPECT_EQ(ids(registry.loads()), (Ids{"b reading", "small reading"}));
  gate.let("b");
  gate.let("small");
  registry.wait_idle();
  EXPECT_TRUE(registry.loads().empty());
}

TEST(Registry, ALoadLargerThanTheBudgetStillRuns) {
  Registry::Options o = options(&good);
  o.budget_bytes = 100;
  o.expected = [](const TraceFile&) { return std::size_t{1000}; };
  Registry registry(o);
  for (const char* id : {"a", "b"}) registry.ask(file(id));
  registry.wait_idle();
  EXPECT_EQ(registry.peek(file("b")), LoadPhase::kReady);
}

TEST(Registry, RoomIsMadeBeforeALoad) {
  Gate gate;
  Registry::Options o = options(gate.loader());
  o.budget_bytes = 1'000'000;
  o.expected = [](const TraceFile& f) { return f.id == "b" ? std::size_t{1'000'000} : 0; };
  Registry registry(o);
  gate.let("a");
  registry.ask(file("a"));
  registry.wait_idle();
  EXPECT_GT(registry.resident_bytes(), 0U);
  registry.ask(file("b"));
  gate.wait_for("b");
  EXPECT_EQ(registry.resident_bytes(), 0U);
  gate.let("b");
  registry.wait_idle();
}

TEST(Registry, ACancelledLoadIsAsIfNobodyHadAsked) {
  Gate gate;
  Registry::Options o = options(gate.loader());
  o.loaders = 1;
  Registry registry(o);
  registry.ask(file("a"));
  registry.ask(file("b"));
  gate.wait_for("a");
  EXPECT_TRUE(registry.cancel("b"));
  EXPECT_FALSE(registry.cancel("b"));
  EXPECT_TRUE(registry.cancel("a"));
  EXPECT_FALSE(registry.cancel("none"));
  EXPECT_TRUE(registry.loads().empty());
  gate.wake();
  registry.wait_idle();
  EXPECT_EQ(registry.peek(file("a")), LoadPhase::kNew);
  EXPECT_EQ(registry.peek(file("b")), LoadPhase::kNew);
  gate.let("a");
  registry.ask(file("a"));
  registry.wait_idle();
  EXPECT_TRUE(registry.ask(file("a")).loaded);
  EXPECT_FALSE(registry.cancel("a"));
}

TEST(Registry, ALoadThatNobodyAsksAboutGoesWhenOthersWait) {
  std::atomic<std::chrono::steady_clock::rep> now = 0;
  Gate gate;
  Registry::Options o = options(gate.loader());
  o.loaders = 1;
  o.clock = [&] {
    return std::chrono::steady_clock::time_point(std::chrono::steady_clock::duration(now));
  };
  Registry registry(o);
  const auto later = [&](std::chrono::seconds s) {
    now += std::chrono::duration_cast<std::chrono::steady_clock::duration>(s).count();
  };
  registry.ask(file("a"));
  gate.wait_for("a");
  later(1h);
  EXPECT_EQ(ids(registry.loads()), Ids{"a reading"});  // in nobody's way
  registry.ask(file("a"));
  later(100s);
  registry.ask(file("b"));
  EXPECT_EQ(ids(registry.loads()), (Ids{"a reading", "b queued"}));
  later(100s);
  registry.ask(file("b"));  // "a" was asked for 200 s ago
  gate.wake();
  gate.wait_for("b");
  gate.let("b");
  registry.wait_idle();
}

TEST(Registry, WhatIsLeftToDoComesAfterTheTraceIsShown) {
  std::latch shown(1);
  std::atomic<bool> saved = false;
  Registry registry(options([&](const auto& path, IngestProgress* p) {
    LoadResult result = good(path, p);
    result.later = [&](const std::function<bool()>& keep_on) {
      shown.wait();
      saved = keep_on();
    };
    return result;
  }));
  registry.ask(file("a"));
  while (!registry.ask(file("a")).loaded) std::this_thread::yield();
  EXPECT_TRUE(registry.loads().empty());
  EXPECT_FALSE(saved);
  shown.count_down();
  registry.wait_idle();
  EXPECT_TRUE(saved);
}

TEST(Registry, EndsWhileSaving) {
  std::latch saving(1);
  std::atomic<bool> ended = false;
  auto registry = std::make_unique<Registry>(options([&](const auto& path, IngestProgress* p) {
    LoadResult result = good(path, p);
    result.later = [&](const std::function<bool()>& keep_on) {
      saving.count_down();
      while (keep_on()) std::this_thread::yield();
      ended = true;
    };
    return result;
  }));
  registry->ask(file("a"));
  saving.wait();
  registry.reset();
  EXPECT_TRUE(ended);
}

}  // namespace
}  // namespace traceglass
