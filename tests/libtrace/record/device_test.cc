// The profiler and a device source: when it is called, and that its rows land among the host's.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "libtrace/profile.h"
#include "libtrace/range.h"
#include "libtrace/record/device_factory.h"
#include "tests/libtrace/record/lookup.h"

namespace libtrace::detail {
namespace {

using testing::arg;
using testing::event;

// What the source was asked to do, in order.
struct Script {
  std::string calls;
  Status prepared;  // the answer of prepare()
  DeviceOptions options;
  std::vector<std::string> scopes;  // of the user, as handed to rows()
  bool host_reports_memory = false;
  std::uint64_t dropped = 0;
  int failing_traces = 0;  // whose rows there is no memory for

  void note(const std::string& what) { calls += (calls.empty() ? "" : " ") + what; }
};
Script* script = nullptr;

// One kernel over the whole window, one at its end.
class Rows final : public DeviceRows {
 public:
  Rows(TraceBuilder& builder, const DeviceFrame& frame) : builder_(builder) {
    const std::int64_t start = frame.clock.unix_ns(frame.start_ticks) - frame.base_unix_ns;
    const std::int64_t end = frame.clock.unix_ns(frame.stop_ticks) - frame.base_unix_ns;
    rows_ = {{{start, end}, "first kernel"}, {{end, end}, "second kernel"}};
    for (const HostScope& scope : frame.user_scopes) {
      script->scopes.push_back(std::string(std::to_string(scope.external_id)));
    }
    script->host_reports_memory = frame.host_reports_device_memory;
  }
  [[nodiscard]] const TimeRange* head() const noexcept override {
    return at_ < rows_.size() ? &rows_[at_].first : nullptr;
  }
  void add_head() override {
    const auto& [time, name] = rows_[at_++];
    TraceBuilder::Row row;
    row.start = time.start;
    row.dur = time.length();
    row.name = builder_.intern(name);
    row.category = builder_.intern("kernel");
    row.pid = builder_.intern("0");
    row.tid = builder_.intern("7");
    builder_.arg("stream", Value::integer(7));
    builder_.add_slice(row);
  }

 private:
  TraceBuilder& builder_;
  std::vector<std::pair<TimeRange, const char*>> rows_;
  std::size_t at_ = 0;
};

class Recording final : public DeviceRecording {
 public:
  explicit Recording(bool refused) : refused_(refused) {}
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> metadata() const override {
    if (refused_) return {{"deviceProperties", "[]"}, {"cupti_error", "\"refused\""}};
    return {{"deviceProperties", R"([{"id": 0, "name": "Test"}])"}, {"cupti_version", "12"}};
  }
  [[nodiscard]] std::unique_ptr<DeviceRows> rows(TraceBuilder& builder,
                                                 const DeviceFrame& frame) const override {
    if (script->failing_traces > 0) {
      --script->failing_traces;
      throw std::bad_alloc();
    }
    if (refused_) return std::make_unique<NoRows>();
    return std::make_unique<Rows>(builder, frame);
  }
  [[nodiscard]] std::uint64_t dropped() const noexcept override { return script->dropped; }

 private:
  class NoRows final : public DeviceRows {
    [[nodiscard]] const TimeRange* head() const noexcept override { return nullptr; }
    void add_head() override {}
  };
  bool refused_;
};

class Source final : public DeviceSource {
 public:
  Status prepare(const DeviceOptions& options) noexcept override {
    script->note("P");
    script->options = options;
    return script->prepared;
  }
  void start(std::uint64_t) noexcept override { script->note("S"); }
  void finish_work() noexcept override { script->note(recording.load() != 0 ? "F" : "late F"); }
  std::unique_ptr<DeviceRecording> stop(std::uint64_t) noexcept override {
    script->note(recording.load() == 0 ? "X" : "early X");
    return std::make_unique<Recording>(!script->prepared.ok());
  }
  void set_collecting(bool on) noexcept override { script->note(on ? "on" : "off"); }
  void release() noexcept override { script->note("release"); }
  void abandon_after_fork() noexcept override { script->note("abandon"); }
};

class Device : public ::testing::Test {
 protected:
  Device() {
    script = &script_;
    set_device_factory(
        []() -> std::unique_ptr<DeviceSource> { return std::make_unique<Source>(); });
  }
  ~Device() override {
    set_device_factory(nullptr);
    script = nullptr;
  }
  Script script_;
  Activities both_ = Activities::cpu() | Activities::cuda();
};

// What a trace would have said is lost where there is no memory to make it, but not uncounted.
TEST_F(Device, ATraceThatThereWasNoMemoryForIsCountedInTheNext) {
  for (const HandlerPolicy policy : {HandlerPolicy::kInline, HandlerPolicy::kBackground}) {
    std::vector<TracePtr> traces;
    Options options;
    options.activities = both_;
    options.schedule = schedule(0, 0, 1, 4);
    options.on_error = HandlerError::kLog;
    options.handler = policy;
    options.on_trace_ready = [&](const TracePtr& t) { traces.push_back(t); };
    Profiler profiler(options);
    profiler.start();
    script_.failing_traces = 2;
    script_.dropped = 3;  // each window, of the device
    for (int i = 0; i < 4; ++i) {
      for (int k = 0; k < 10; ++k) {
        LIBTRACE_SCOPE("one");
      }
      profiler.step();
      (void)profiler.flush(std::chrono::minutes(1));
    }
    profiler.stop();
    ASSERT_EQ(traces.size(), 2U);
    // Ten scopes, a step and three of the device in each of two traces; and three in this one.
    EXPECT_EQ(*traces[0]->metadata("dropped_events"), "31");
    EXPECT_EQ(traces[0]->report().count("dropped_by_recorder"), 31);
    EXPECT_EQ(*traces[0]->metadata("dropped_traces"), "2");
    EXPECT_EQ(*traces[1]->metadata("dropped_events"), "3") << "said once";
    EXPECT_EQ(traces[1]->metadata("dropped_traces"), nullptr);
    EXPECT_EQ(profiler.stats().dropped, 2 * 14 + 2 * 3U);
    EXPECT_EQ(profiler.stats().dropped_traces, 2U);
    EXPECT_EQ(profiler.stats().cycles, 2U);
  }
}

TEST_F(Device, FollowsTheTransitions) {
  Options options;
  options.activities = both_;
  options.schedule = schedule(1, 1, 1, 2);
  options.profile_memory = true;
  options.cuda_sync_events = true;
  options.max_bytes = 12345678;
  Profiler profiler(options);
  profiler.start();
  for (int i = 0; i < 6; ++i) profiler.step();
  profiler.stop();
  EXPECT_EQ(script_.calls, "P S F X P S F X release");
  EXPECT_TRUE(script_.options.sync_events);
  EXPECT_TRUE(script_.options.profile_memory);
  EXPECT_FALSE(script_.options.whole_graphs);
  EXPECT_EQ(script_.options.max_bytes, 12345678U);
}

TEST_F(Device, IsNotAskedForByTheHostAlone) {
  Profiler profiler({});
  profiler.start();
  profiler.stop();
  EXPECT_EQ(script_.calls, "");
}

TEST_F(Device, RowsAndKeysLandAmongTheHosts) {
  script_.dropped = 3;
  Profiler profiler({.activities = both_, .profile_memory = true});
  profiler.start();
  {
    LIBTRACE_SCOPE("user");
    LIBTRACE_OP("aten::mm");
    MemoryReport report;
    report.bytes = 8;
    report.device_type = 1;
    report_memory(report);
  }
  profiler.stop();
  const Trace& trace = *profiler.trace();
  EXPECT_EQ(*trace.metadata("deviceProperties"), R"([{"id": 0, "name": "Test"}])");
  EXPECT_EQ(*trace.metadata("cupti_version"), "12");
  const EventId first = event(trace, "first kernel"), second = event(trace, "second kernel");
  EXPECT_EQ(trace.kind(first), Kind::kKernel);
  // In the order of (start, -dur), whoever they are from.
  std::vector<EventId> by_order(trace.size());
  for (EventId e = 0; e < trace.size(); ++e) by_order[trace.order(e)] = e;
  EXPECT_TRUE(std::is_sorted(by_order.begin(), by_order.end(), [&](EventId a, EventId b) {
    return std::pair(trace.start(a), -trace.dur(a)) < std::pair(trace.start(b), -trace.dur(b));
  }));
  EXPECT_LT(trace.order(first), trace.order(event(trace, "user")));
  EXPECT_GT(trace.order(second), trace.order(event(trace, "aten::mm")));
  // The user's scopes with the ids of their rows; operators are none.
  EXPECT_EQ(script_.scopes, (std::vector{arg(trace, event(trace, "user"), "External id")}));
  EXPECT_TRUE(script_.host_reports_memory);
  EXPECT_EQ(profiler.stats().dropped, 3U);
  EXPECT_EQ(profiler.stats().events, 2U) << "of the host";
}

TEST_F(Device, ARefusalEndsInATraceOfTheHostThatSaysSo) {
  script_.prepared = Status::io_error("no permission");
  std::vector<std::string> log;
  Options options;
  options.activities = Activities::cuda();
  options.schedule = schedule(0, 1, 1);
  options.log = [&](std::string_view s) { log.emplace_back(s); };
  std::vector<TracePtr> traces;
  options.on_trace_ready = [&](const TracePtr& t) { traces.push_back(t); };
  Profiler profiler(options);
  profiler.start();
  for (int i = 0; i < 4; ++i) {
    LIBTRACE_OP("aten::mm");
    profiler.step();
  }
  profiler.stop();
  EXPECT_EQ(log, std::vector<std::string>{"no permission"}) << "once, not each cycle";
  ASSERT_EQ(traces.size(), 2U);
  EXPECT_EQ(*traces[0]->metadata("cupti_error"), "\"refused\"");
  EXPECT_EQ(*traces[0]->metadata("deviceProperties"), "[]");
  event(*traces[1], "ProfilerStep#3");
}

TEST_F(Device, DeviceAloneLeavesTheHostsRangesOut) {
  Profiler profiler({.activities = Activities::cuda(), .schedule = schedule(0, 0, 1)});
  profiler.start();
  {
    LIBTRACE_OP("aten::mm");
    EXPECT_FALSE(wants(Detail::kRanges));
  }
  profiler.step();
  const TracePtr trace = profiler.trace();
  profiler.stop();
  EXPECT_TRUE(testing::events(*trace, "aten::mm").empty());
  event(*trace, "ProfilerStep#0");
  event(*trace, "first kernel");
}

TEST_F(Device, NoDeviceInTheBuildIsAWarningOrAnError) {
  set_device_factory([]() -> std::unique_ptr<DeviceSource> { return nullptr; });
  std::vector<std::string> log;
  const LogSink sink = [&](std::string_view s) { log.emplace_back(s); };
  const Profiler profiler({.activities = both_, .log = sink});
  ASSERT_EQ(log.size(), 1U);
  EXPECT_NE(log[0].find("CUDA"), std::string::npos);
  EXPECT_THROW(Profiler({.activities = Activities::cuda()}), std::invalid_argument);
}

TEST_F(Device, CollectionIsSwitchedOnTheFly) {
  Profiler profiler({.activities = both_, .record_shapes = true});
  profiler.toggle_collection(false, both_);  // nothing is open: nothing happens
  profiler.start();
  const auto run = [](const char* name) {
    LIBTRACE_RECORD_FUNCTION(name);
    return wants(Detail::kShapes);
  };
  EXPECT_TRUE(run("one"));
  profiler.toggle_collection(false, Activities::cpu());
  EXPECT_FALSE(run("two"));
  profiler.toggle_collection(false, Activities::cuda());
  profiler.toggle_collection(true, both_);
  EXPECT_TRUE(run("three"));
  profiler.toggle_collection(false, Activities::cpu());
  profiler.stop();
  EXPECT_EQ(script_.calls, "P S off on F X release");
  const Trace& trace = *profiler.trace();
  event(trace, "one");
  event(trace, "three");
  EXPECT_TRUE(testing::events(trace, "two").empty());
  profiler.start();
  EXPECT_TRUE(run("four")) << "the next window starts anew";
  profiler.stop();
}

}  // namespace
}  // namespace libtrace::detail
