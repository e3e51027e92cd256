// Options that say something of the trace or run beside the window.
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "libtrace/profile.h"
#include "tests/libtrace/record/lookup.h"

namespace libtrace {
namespace {

std::string metadata(const Trace& trace, std::string_view key) {
  const std::string* const json = trace.metadata(key);
  return json != nullptr ? *json : "-";
}

TEST(Options, FlagsAreInTheTrace) {
  Options options;
  Profiler none(options);
  none.start();
  none.stop();
  for (const char* const key :
       {"record_shapes", "profile_memory", "with_stack", "with_flops", "with_modules"}) {
    EXPECT_EQ(metadata(*none.trace(), key), "-") << key;
  }
  options.profile_memory = options.with_stack = options.with_flops = options.with_modules = true;
  Profiler all(options);
  all.start();
  all.stop();
  for (const char* const key :
       {"record_shapes", "profile_memory", "with_stack", "with_flops", "with_modules"}) {
    EXPECT_EQ(metadata(*all.trace(), key), "1") << key;
  }
}

TEST(Options, ObserversRunWithTheWindow) {
  std::string calls;
  Options options;
  options.schedule = schedule(1, 1, 1, 2);
  options.observer.start = [&] { calls += "start "; };
  options.observer.stop = [&] { calls += "stop "; };
  options.observer.cleanup = [&] { calls += "cleanup "; };
  options.on_trace_ready = [&](const TracePtr&) { calls += "ready "; };
  Profiler profiler(options);
  profiler.start();
  for (int i = 0; i < 6; ++i) profiler.step();
  profiler.stop();
  EXPECT_EQ(calls, "start stop ready start stop ready cleanup ");
}

TEST(Options, AnObserverThatThrowsCostsNoTrace) {
  std::vector<std::string> log;
  Options options;
  options.log = [&](std::string_view s) { log.emplace_back(s); };
  options.observer.start = [] { throw std::runtime_error("no disk"); };
  options.custom_trace_id = []() -> std::string { throw std::runtime_error("no id"); };
  Profiler profiler(options);
  EXPECT_NO_THROW(profiler.start());
  {
    LIBTRACE_SCOPE("kept");
  }
  profiler.stop();
  testing::event(*profiler.trace(), "kept");
  EXPECT_EQ(log, (std::vector<std::string>{"Profiler: no id", "Profiler: no disk"}));
  EXPECT_EQ(metadata(*profiler.trace(), "trace_id").size(), 34U) << "a random one";
}

TEST(Options, TraceIdsAreAskedForOnceATrace) {
  int asked = 0;
  std::vector<std::string> ids;
  Options options;
  options.schedule = schedule(0, 0, 1, 2);
  options.custom_trace_id = [&] { return "run \"" + std::to_string(++asked) + "\""; };
  options.on_trace_ready = [&](const TracePtr& t) { ids.push_back(metadata(*t, "trace_id")); };
  Profiler profiler(options);
  profiler.start();
  profiler.step();
  profiler.step();
  profiler.stop();
  EXPECT_EQ(ids, (std::vector<std::string>{R"("run \"1\"")", R"("run \"2\"")"}));
}

// torch leaves the window after such a change unprepared; here it is as any other.
TEST(Options, AWindowThatNobodyPreparedRecordsAllTheSame) {
  Options options;
  options.schedule.emplace([](std::uint64_t step) {
    constexpr ProfilerAction kActions[] = {ProfilerAction::kRecord, ProfilerAction::kWarmup,
                                           ProfilerAction::kRecordAndSave};
    return step < 3 ? kActions[step] : ProfilerAction::kNone;
  });
  Profiler profiler(options);
  profiler.start();
  profiler.step();
  profiler.step();
  {
    LIBTRACE_SCOPE("in the second window");
  }
  profiler.step();
  profiler.stop();
  ASSERT_NE(profiler.trace(), nullptr);
  testing::event(*profiler.trace(), "in the second window");
}

}  // namespace
}  // namespace libtrace
