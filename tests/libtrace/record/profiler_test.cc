#include <gtest/gtest.h>
#include <unistd.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "libtrace/profile.h"
#include "libtrace/range.h"

namespace libtrace {
namespace {

std::vector<std::string> names(const Trace& trace) {
  std::vector<EventId> by_order(trace.size());
  for (EventId e = 0; e < trace.size(); ++e) by_order[trace.order(e)] = e;
  std::vector<std::string> out;
  for (const EventId e : by_order) {
    if (trace.kind(e) != Kind::kSpan) out.emplace_back(trace.name(e));
  }
  return out;
}

EventId find(const Trace& trace, std::string_view name) {
  for (EventId e = 0; e < trace.size(); ++e) {
    if (trace.name(e) == name) return e;
  }
  return kNone;
}

using Names = std::vector<std::string>;

TEST(Profiler, RecordsScopesOfEveryKind) {
  Profiler profiler({});
  profiler.start();
  {
    LIBTRACE_SCOPE("outer");
    LIBTRACE_OP("aten::addmm");
    LIBTRACE_RECORD_FUNCTION(std::string("op ") + "made at run time");
    LIBTRACE_RECORD_USER_SCOPE(std::string(100, 'x'));
    const RecordFunction handle("handle");
  }
  profiler.stop();
  const TracePtr trace = profiler.trace();
  ASSERT_NE(trace, nullptr);
  EXPECT_EQ(names(*trace), (Names{"outer", "aten::addmm", "op made at run time",
                                  std::string(100, 'x'), "handle"}));
  const EventId outer = find(*trace, "outer"), op = find(*trace, "aten::addmm");
  EXPECT_EQ(trace->category(outer), "user_annotation");
  EXPECT_EQ(trace->category(op), "cpu_op");
  EXPECT_EQ(trace->kind(op), Kind::kOp);
  EXPECT_EQ(trace->category(find(*trace, "op made at run time")), "cpu_op");
  EXPECT_EQ(trace->category(find(*trace, "handle")), "user_annotation");
  EXPECT_EQ(trace->parent(op), outer);
  EXPECT_EQ(trace->int_arg(outer, "External id"), 1);
  EXPECT_EQ(trace->int_arg(outer, "Ev Idx"), 0);
  EXPECT_EQ(trace->arg(outer, "finished"), std::nullopt);
}

TEST(Profiler, TheTraceNamesItsProcessAndThreads) {
  Profiler profiler({});
  profiler.start();
  std::string tid;
  std::thread([&] {
    pthread_setname_np(pthread_self(), "loader \"1\"");
    tid = std::to_string(gettid());
    LIBTRACE_SCOPE("work");
  }).join();
  profiler.stop();
  const Trace& trace = *profiler.trace();
  const Lane& lane = trace.lanes()[trace.lane_of(find(trace, "work"))];
  EXPECT_EQ(lane.domain, Domain::kHost);
  EXPECT_EQ(lane.pid, std::to_string(getpid()));
  EXPECT_EQ(lane.tid, tid);
  EXPECT_EQ(lane.thread, "thread " + tid + " (loader \"1\")");
  EXPECT_EQ(lane.labels, "CPU");
  EXPECT_EQ(lane.process_sort, getpid());
  EXPECT_FALSE(lane.process.empty());
}

TEST(Profiler, TimesAreUnixTimesOfTheScopes) {
  const auto now = [] {
    timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
  };
  Profiler profiler({});
  profiler.start();
  const std::int64_t before = now();
  {
    LIBTRACE_SCOPE("scope");
    for (const std::int64_t from = now(); now() < from + 2'000'000;) {
    }
  }
  const std::int64_t after = now();
  profiler.stop();
  const Trace& trace = *profiler.trace();
  const EventId scope = find(trace, "scope"), window = find(trace, "PyTorch Profiler (0)");
  const std::int64_t base = trace.base_unix_ns().value();
  EXPECT_EQ(base % 1'000'000'000, 0);
  EXPECT_GE(base + trace.start(scope), before - 5'000);
  EXPECT_LE(base + trace.end(scope), after + 5'000);
  EXPECT_GE(trace.dur(scope), 1'900'000);
  EXPECT_EQ(trace.kind(window), Kind::kSpan);
  EXPECT_LE(trace.start(window), trace.start(scope));
  EXPECT_GE(trace.end(window), trace.end(scope));
}

TEST(Profiler, StepsAreMarkedWithAScheduleOnly) {
  std::vector<Names> traces;
  std::vector<std::uint64_t> step_nums;
  Profiler* self = nullptr;
  Profiler profiler({.schedule = Schedule::make({.wait = 1, .warmup = 1, .active = 2, .repeat = 2}),
                     .on_trace_ready = [&](const TracePtr& trace) {
                       traces.push_back(names(*trace));
                       step_nums.push_back(self->step_num());
                       EXPECT_EQ(self->trace(), trace);
                     }});
  self = &profiler;
  profiler.start();
  for (int i = 0; i < 9; ++i) {
    LIBTRACE_OP("work");
    profiler.step();
  }
  profiler.stop();
  // A scope that is open when its step ends is seen as it is: it began in the step, and is cut
  // by the end of the window.
  EXPECT_EQ(traces, (std::vector<Names>{{"ProfilerStep#2", "work", "ProfilerStep#3", "work"},
                                        {"ProfilerStep#6", "work", "ProfilerStep#7", "work"}}));
  EXPECT_EQ(step_nums, (std::vector<std::uint64_t>{4, 8}));
  const Trace& last = *profiler.trace();
  const EventId step = find(last, "ProfilerStep#6");
  EXPECT_NE(last.flags(step) & flag::kStep, 0);
  EXPECT_EQ(last.category(step), "user_annotation");

  Profiler plain({});
  plain.start();
  plain.step();
  plain.step();
  plain.stop();
  EXPECT_EQ(names(*plain.trace()), Names{});
  EXPECT_EQ(plain.step_num(), 2U);
}

TEST(Profiler, ScopesOutsideTheWindowAreNotRecorded) {
  auto before = std::make_unique<RecordFunction>("before");
  Profiler profiler({});
  profiler.start();
  before.reset();
  {
    LIBTRACE_SCOPE("inside");
  }
  profiler.stop();
  {
    LIBTRACE_SCOPE("after");
  }
  EXPECT_EQ(names(*profiler.trace()), Names{"inside"});
}

TEST(Profiler, AnOpenScopeEndsWithTheWindowAndSaysSo) {
  Profiler profiler({});
  profiler.start();
  auto open = std::make_unique<RecordFunction>("open");
  profiler.stop();
  open.reset();
  const Trace& trace = *profiler.trace();
  const EventId e = find(trace, "open"), window = find(trace, "PyTorch Profiler (0)");
  ASSERT_NE(e, kNone);
  EXPECT_EQ(trace.arg(e, "finished")->i, 0);
  EXPECT_NE(trace.flags(e) & flag::kUnfinished, 0);
  EXPECT_EQ(trace.end(e), trace.end(window));
  EXPECT_EQ(trace.report().count("unfinished"), 1);
}

TEST(Profiler, AScopeOpenOverThreeCyclesStandsInTheFirst) {
  std::vector<Names> traces;
  Profiler profiler({.schedule = Schedule::make({.active = 1}),
                     .on_trace_ready = [&](const TracePtr& t) { traces.push_back(names(*t)); }});
  profiler.start();
  auto open = std::make_unique<RecordFunction>("long");
  profiler.step();
  profiler.step();
  open.reset();
  profiler.step();
  profiler.stop();
  ASSERT_EQ(traces.size(), 4U);
  EXPECT_EQ(traces[0], (Names{"ProfilerStep#0", "long"}));
  EXPECT_EQ(traces[1], Names{"ProfilerStep#1"});
  EXPECT_EQ(traces[3], Names{"ProfilerStep#3"});
}

TEST(Profiler, ATraceOutlivesItsProfiler) {
  TracePtr trace;
  {
    Profiler profiler({.on_trace_ready = [&](const TracePtr& t) { trace = t; }});
    profiler.start();
    {
      LIBTRACE_SCOPE("kept");
    }
  }
  ASSERT_NE(trace, nullptr) << "destruction stops";
  EXPECT_EQ(names(*trace), Names{"kept"});
}

TEST(Profiler, GuardStartsAndStops) {
  Profiler profiler({});
  {
    const ProfilerGuard guard(profiler);
    LIBTRACE_SCOPE("guarded");
    EXPECT_EQ(profiler.trace(), nullptr);
  }
  // The scope is inside the guard, so it ended first.
  EXPECT_EQ(names(*profiler.trace()), Names{"guarded"});
}

TEST(Profiler, MisuseThrows) {
  EXPECT_THROW(Profiler({.activities = Activities::none()}), std::invalid_argument);
  EXPECT_THROW(Profiler({.schedule = Schedule{.active = 0}}), std::invalid_argument);
  EXPECT_THROW(Profiler({.schedule = ScheduleFn()}), std::invalid_argument);
  EXPECT_THROW(Profiler({.distributed = DistributedInfo{"gloo", 2, 2}}), std::invalid_argument);
  Profiler profiler({});
  EXPECT_THROW(profiler.step(), std::logic_error);
  EXPECT_NO_THROW(profiler.stop()) << "nothing to stop";
  profiler.start();
  EXPECT_THROW(profiler.start(), std::logic_error);
  Profiler other({});
  EXPECT_THROW(other.start(), std::logic_error) << "one at a time";
  profiler.stop();
  EXPECT_NO_THROW(profiler.stop());
  EXPECT_NO_THROW(other.start());
  other.stop();
}

TEST(Profiler, WarnsOfAScheduleWithoutWarmup) {
  std::vector<std::string> log;
  const LogSink sink = [&](std::string_view s) { log.emplace_back(s); };
  const Profiler profiler({.schedule = Schedule{.active = 1}, .log = sink});
  ASSERT_EQ(log.size(), 1U);
  EXPECT_NE(log[0].find("warmup"), std::string::npos);
}

TEST(Profiler, ALogThatThrowsEndsNoTransitionHalfWay) {
  Options options;
  options.schedule = [](std::uint64_t step) {  // nothing says that this trace is to be saved
    return step == 1 ? ProfilerAction::kRecord : ProfilerAction::kNone;
  };
  int warnings = 0;
  options.log = [&](std::string_view) {
    ++warnings;
    throw std::runtime_error("no terminal");
  };
  Profiler profiler(options);
  profiler.start();
  profiler.step();
  EXPECT_TRUE(wants(Detail::kRanges));
  EXPECT_NO_THROW(profiler.step());
  EXPECT_EQ(warnings, 1);
  EXPECT_FALSE(wants(Detail::kRanges)) << "the window is closed all the same";
  EXPECT_NO_THROW(profiler.stop());
}

TEST(Profiler, TheHandlerMayNotDriveItsProfiler) {
  Profiler* self = nullptr;
  int calls = 0;
  Profiler profiler({.on_trace_ready = [&](const TracePtr&) {
    ++calls;
    EXPECT_THROW(self->step(), std::logic_error);
    EXPECT_THROW(self->stop(), std::logic_error);
    self->add_metadata("from", "the handler");
    EXPECT_EQ(self->stats().cycles, 1U);
  }});
  self = &profiler;
  profiler.start();
  profiler.stop();
  EXPECT_EQ(calls, 1);
}

TEST(Profiler, AHandlerThatThrowsLosesNoCycle) {
  int calls = 0;
  Profiler profiler(
      {.schedule = Schedule::make({.active = 1}), .on_trace_ready = [&](const TracePtr&) {
         if (++calls == 1) throw std::runtime_error("disk full");
       }});
  profiler.start();
  EXPECT_THROW(profiler.step(), std::runtime_error);
  {
    LIBTRACE_SCOPE("next cycle");
  }
  profiler.step();
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(names(*profiler.trace()), (Names{"ProfilerStep#1", "next cycle"}));
  profiler.stop();
}

TEST(Profiler, HandlerErrorsCanGoToTheLog) {
  std::vector<std::string> log;
  const auto options = [&](HandlerError on_error) {
    return Options{.on_trace_ready = [](const TracePtr&) { throw std::runtime_error("disk full"); },
                   .on_error = on_error,
                   .log = [&](std::string_view s) { log.emplace_back(s); }};
  };
  Profiler profiler(options(HandlerError::kLog));
  profiler.start();
  EXPECT_NO_THROW(profiler.stop());
  EXPECT_EQ(log, std::vector<std::string>{"Profiler: disk full"});
  {
    Profiler destroyed(options(HandlerError::kRethrow));
    destroyed.start();
  }
  EXPECT_EQ(log.size(), 2U) << "a destructor does not throw";
}

TEST(Profiler, MetadataGoesIntoOneTrace) {
  std::vector<Trace::Metadata> seen;
  Profiler profiler({.schedule = Schedule::make({.active = 1}),
                     .on_trace_ready = [&](const TracePtr& t) { seen.push_back(t->metadata()); },
                     .distributed = DistributedInfo{"nccl", 3, 8}});
  EXPECT_TRUE(profiler.preset_metadata_json("model", "\"mlp\"").ok());
  profiler.start();
  EXPECT_TRUE(profiler.preset_metadata_json("later", "1").ok());
  profiler.add_metadata("note", "say \"hi\" \\ \n");
  EXPECT_TRUE(profiler.add_metadata_json("config", R"({"lr": [0.1, 1e-3]})").ok());
  EXPECT_FALSE(profiler.add_metadata_json("config", "{lr: 0.1}").ok());
  EXPECT_FALSE(profiler.add_metadata_json("traceEvents", "[]").ok());
  for (const char* said_by_the_recorder : {"traceEvents", "dropped_events", "cupti_error"}) {
    EXPECT_THROW(profiler.add_metadata(said_by_the_recorder, "x"), std::invalid_argument);
  }
  profiler.step();
  profiler.stop();
  ASSERT_EQ(seen.size(), 2U);
  const auto value = [](const Trace::Metadata& m, std::string_view key) -> std::string {
    for (const auto& [k, v] : m) {
      if (k == key) return v;
    }
    return "absent";
  };
  EXPECT_EQ(value(seen[0], "note"), R"("say \"hi\" \\ \u000a")");
  EXPECT_EQ(value(seen[0], "config"), R"({"lr": [0.1, 1e-3]})");
  EXPECT_EQ(value(seen[1], "note"), "absent");
  EXPECT_EQ(value(seen[1], "config"), "absent");
  EXPECT_EQ(value(seen[0], "later"), "absent") << "it had started";
  EXPECT_EQ(value(seen[1], "later"), "1");
  for (const auto& m : seen) {
    EXPECT_EQ(value(m, "model"), "\"mlp\"");
    EXPECT_EQ(value(m, "distributedInfo"), R"({"backend": "nccl", "rank": 3, "world_size": 8})");
  }
  EXPECT_EQ(profiler.trace()->rank(), 3);
  EXPECT_EQ(profiler.trace()->world_size(), 8);
}

// The keys of torch's own traces.
TEST(Profiler, DistributedInfoSaysWhatIsKnownOfTheGroups) {
  DistributedInfo info{"nccl", 1, 4};
  info.groups = {{"0", "default_pg", "cpu:gloo,cuda:nccl", {0, 1, 2, 3}},
                 {"1", "mesh \"tp\"", "cuda:nccl", {1, 3}}};
  info.nccl_version = "2.21.5";
  Profiler profiler({.distributed = info});
  profiler.start();
  profiler.stop();
  EXPECT_EQ(*profiler.trace()->metadata("distributedInfo"),
            R"({"backend": "nccl", "rank": 1, "world_size": 4, "pg_count": 2, "pg_config": [)"
            R"({"pg_name": "0", "pg_desc": "default_pg", "backend_config": "cpu:gloo,cuda:nccl", )"
            R"("pg_size": 4, "ranks": [0, 1, 2, 3]}, )"
            R"({"pg_name": "1", "pg_desc": "mesh \"tp\"", "backend_config": "cuda:nccl", )"
            R"("pg_size": 2, "ranks": [1, 3]}], "nccl_version": "2.21.5"})");
  info.groups[1].ranks = {4};
  EXPECT_THROW(Profiler({.distributed = info}), std::invalid_argument);
}

TEST(Profiler, StatsCountFinishedCycles) {
  Profiler profiler({.schedule = Schedule::make({.warmup = 1, .active = 1})});
  profiler.start();
  profiler.step();
  for (int i = 0; i < 10; ++i) {
    LIBTRACE_SCOPE("ten");
  }
  profiler.step();
  const Stats stats = profiler.stats();
  EXPECT_EQ(stats.cycles, 1U);
  EXPECT_EQ(stats.events, 11U);
  EXPECT_EQ(stats.dropped, 0U);
  EXPECT_EQ(stats.lanes, 1U);
  EXPECT_GT(stats.bytes, 0U);
}

TEST(Profiler, ASiteMayVanishBeforeTheTraceIsMade) {
  // As one does whose library is unloaded: its texts were copied at its first use.
  Profiler profiler({});
  profiler.start();
  {
    std::string name = "site of a plug-in";
    const auto site =
        std::make_unique<Site>(name.c_str(), RecordScope::kFunction, "plugin.cc", 1U, "run");
    {
      const RecordFunction scope(*site);
    }
    {
      const RecordFunction scope(*site);
    }
    name.assign(name.size(), '?');
  }
  profiler.stop();
  EXPECT_EQ(names(*profiler.trace()), (Names{"site of a plug-in", "site of a plug-in"}));
}

TEST(Profiler, HostileNamesStayText) {
  const std::string evil[] = {"quo\"te",
                              "back\\slash",
                              "new\nline",
                              std::string("nu\0l", 4),
                              "bad \xFF utf8",
                              "emoji \xF0\x9F\x98\x80",
                              "",
                              std::string(1'000'000, 'm')};
  Profiler profiler({});
  profiler.start();
  for (const std::string& name : evil) const RecordFunction scope(name);
  profiler.stop();
  const Names got = names(*profiler.trace());
  ASSERT_EQ(got.size(), std::size(evil));
  for (std::size_t i = 0; i < got.size(); ++i) {
    EXPECT_EQ(got[i], i == 4 ? "bad \xEF\xBF\xBD utf8" : evil[i]) << i;
  }
}

}  // namespace
}  // namespace libtrace
