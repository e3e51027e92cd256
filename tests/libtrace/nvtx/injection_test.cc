// The library in real processes: what a user gets from `NVTX_INJECTION64_PATH=… ./program`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tb_backend/ingest/ingest.h"
#include "tests/handler/temporary_folder.h"

namespace libtrace {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

struct Ended {
  int status = 0;
  std::string output;  // both streams
};

Ended run(const std::string& environment, const std::string& command) {
  const std::string line =
      "env NVTX_INJECTION64_PATH=" TRACEGLASS_NVTX_LIBRARY " " + environment + " " + command;
  FILE* const pipe = popen((line + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return {-1, "no pipe"};
  Ended ended;
  std::array<char, 4096> block;
  for (std::size_t n = 0; (n = std::fread(block.data(), 1, block.size(), pipe)) != 0;) {
    ended.output.append(block.data(), n);
  }
  ended.status = pclose(pipe);
  return ended;
}

std::vector<TracePtr> traces_in(const TemporaryFolder& folder) {
  std::vector<TracePtr> traces;
  for (const std::string& name : folder.names()) {
    EXPECT_THAT(name, HasSubstr(".pt.trace.json"));
    traces.push_back(traceglass::ingest_file(folder.path() / name).trace);
    EXPECT_NE(traces.back(), nullptr) << name;
  }
  return traces;
}

std::string parent_name(const Trace& trace, EventId e) {
  return trace.parent(e) == kNone ? "" : std::string(trace.name(trace.parent(e)));
}

// Names of annotations, with that of what each stands in.
std::multimap<std::string, std::string> annotations(const Trace& trace) {
  std::multimap<std::string, std::string> names;
  for (EventId e = 0; e < trace.size(); ++e) {
    if (trace.kind(e) == Kind::kAnnotation) names.emplace(trace.name(e), parent_name(trace, e));
  }
  return names;
}

EventId find(const Trace& trace, std::string_view name) {
  EventId e = 0;
  while (e < trace.size() && trace.name(e) != name) ++e;
  return e;
}

std::string text_arg(const Trace& trace, EventId e, std::string_view key) {
  const std::optional<Value> value = trace.arg(e, key);
  return value ? std::string(value->text) : "";
}

std::vector<std::string> instants(const Trace& trace) {
  std::vector<std::string> names;
  for (const Instant& instant : trace.instants()) names.emplace_back(trace.text(instant.name));
  return names;
}

// Arguments of an instant: `key=value …`.
std::string instant_args(const Trace& trace, std::string_view name) {
  for (const Instant& instant : trace.instants()) {
    if (trace.text(instant.name) != name) continue;
    std::string text;
    for (const auto& [key, value] : trace.args_at(instant.args)) {
      if (!text.empty()) text += ' ';
      text += std::string(key) + "=";
      text +=
          value.type == Value::Type::kDouble ? std::to_string(value.d) : std::string(value.text);
    }
    return text;
  }
  return "no such instant";
}

class Injection : public ::testing::Test {
 protected:
  [[nodiscard]] std::string logdir() const {
    return "TRACEGLASS_LOGDIR=" + folder_.path().string();
  }
  TemporaryFolder folder_;
};

TEST_F(Injection, EveryFunctionIsRecorded) {
  const Ended ended = run(logdir(), TRACEGLASS_NVTX_RANGES);
  EXPECT_EQ(ended.status, 0);
  EXPECT_EQ(ended.output, "");
  const std::vector<TracePtr> traces = traces_in(folder_);
  ASSERT_EQ(traces.size(), 1U);
  const auto names = annotations(*traces[0]);
  const auto inside = [&names](const std::string& name, const std::string& parent) {
    return names.count(name) == 1 && names.find(name)->second == parent;
  };
  EXPECT_TRUE(inside("outer", ""));
  EXPECT_TRUE(inside("inner", "outer"));
  EXPECT_TRUE(inside("wide \u00e9 \U0001F600", "inner"));
  EXPECT_TRUE(inside("registered", "around"));
  const EventId attributes = find(*traces[0], "registered");
  EXPECT_EQ(text_arg(*traces[0], attributes, "Domain"), "library");
  EXPECT_EQ(text_arg(*traces[0], attributes, "Category"), "loading");
  EXPECT_EQ(traces[0]->int_arg(attributes, "Payload"), -5);
  EXPECT_THAT(instants(*traces[0]), ::testing::IsSupersetOf({"marked", "mark"}));
  EXPECT_EQ(instant_args(*traces[0], "marked"), "Domain=library Category=8 Payload=0.500000");
  EXPECT_EQ(instant_args(*traces[0], "mark"), "");
  EXPECT_EQ(traces[0]->flags(find(*traces[0], "request")) & flag::kUnfinished, 0);
  EXPECT_NE(traces[0]->flags(find(*traces[0], "open at the end")) & flag::kUnfinished, 0);
  EXPECT_EQ(traces[0]->report().count("unfinished"), 1);
  const ReportEntry* const lost = traces[0]->report().find("dropped_by_recorder");
  ASSERT_NE(lost, nullptr);
  EXPECT_EQ(lost->count, 1500 - 1024);
  EXPECT_NE(lost->message.find("nested too deep"), std::string::npos);
  EXPECT_EQ(names.count("request"), 1U);
  EXPECT_EQ(names.count("second"), 1U);
  EXPECT_EQ(names.count("\"quoted\"\n\uFFFD"), 1U);
  EXPECT_EQ(names.count("too short to be read"), 0U);
  EXPECT_EQ(names.count("deep"), 1024U);
  EXPECT_EQ(names.count("open at the end"), 1U);
}

#ifdef TRACEGLASS_NVTX_HEADERS
TEST_F(Injection, ProgramsOfNvidiasHeaders) {
  const Ended ended = run(logdir(), TRACEGLASS_NVTX_HEADERS);
  EXPECT_EQ(ended.status, 0);
  EXPECT_EQ(ended.output, "");
  const std::vector<TracePtr> traces = traces_in(folder_);
  ASSERT_EQ(traces.size(), 1U);
  EXPECT_THAT(annotations(*traces[0]),
              ElementsAre(std::pair("outer", ""), std::pair("registered", "outer"),
                          std::pair("request", "")));
  const EventId attributes = find(*traces[0], "registered");
  EXPECT_EQ(text_arg(*traces[0], attributes, "Domain"), "library");
  EXPECT_EQ(traces[0]->int_arg(attributes, "Payload"), 42);
  EXPECT_THAT(instants(*traces[0]), Contains("mark"));
}
#endif

TEST_F(Injection, NothingWithoutALogdir) {
  const Ended ended = run("", TRACEGLASS_NVTX_RANGES);
  EXPECT_EQ(ended.status, 0);
  EXPECT_EQ(ended.output, "");
}

TEST_F(Injection, StepsOfASchedule) {
  const Ended ended = run(logdir() +
                              " TRACEGLASS_WORKER=w TRACEGLASS_STEP=iteration"
                              " TRACEGLASS_SCHEDULE=skip_first=1,wait=1,warmup=1,active=2,repeat=2",
                          TRACEGLASS_NVTX_STEPS);
  EXPECT_EQ(ended.status, 0);
  EXPECT_EQ(ended.output, "");
  EXPECT_THAT(folder_.names(), Each(::testing::StartsWith("w.")));
  std::vector<std::vector<std::string>> steps;
  for (const TracePtr& trace : traces_in(folder_)) {
    auto& of_trace = steps.emplace_back();
    for (EventId e = 0; e < trace->size(); ++e) {
      if ((trace->flags(e) & flag::kStep) != 0) of_trace.emplace_back(trace->name(e));
      if (trace->name(e) == "iteration") {
        EXPECT_THAT(parent_name(*trace, e), HasSubstr("ProfilerStep#"));
      }
    }
    EXPECT_EQ(annotations(*trace).count("forward"), 2U);
  }
  EXPECT_THAT(steps, ElementsAre(ElementsAre("ProfilerStep#3", "ProfilerStep#4"),
                                 ElementsAre("ProfilerStep#7", "ProfilerStep#8")));
}

TEST_F(Injection, WithoutAScheduleEveryStep) {
  ASSERT_EQ(run(logdir() + " TRACEGLASS_STEP=iteration", TRACEGLASS_NVTX_STEPS).status, 0);
  const std::vector<TracePtr> traces = traces_in(folder_);
  ASSERT_EQ(traces.size(), 1U);
  EXPECT_EQ(annotations(*traces[0]).count("iteration"), 10U);
  EXPECT_EQ(annotations(*traces[0]).count("ProfilerStep#9"), 1U);
  EXPECT_EQ(annotations(*traces[0]).count("set-up"), 0U);  // no step had begun
}

TEST_F(Injection, AWrongSettingIsToldAndTheProgramRuns) {
  const Ended ended = run(logdir() + " TRACEGLASS_DURATION_S=soon", TRACEGLASS_NVTX_STEPS);
  EXPECT_EQ(ended.status, 0);
  EXPECT_EQ(ended.output, "traceglass: TRACEGLASS_DURATION_S=soon: not a number of seconds\n");
  EXPECT_THAT(folder_.names(), ElementsAre());
}

TEST_F(Injection, AFolderThatCannotBeMadeIsTold) {
  const Ended ended = run("TRACEGLASS_LOGDIR=/proc/none", TRACEGLASS_NVTX_STEPS);
  EXPECT_EQ(ended.status, 0);
  EXPECT_THAT(ended.output, HasSubstr("/proc/none"));
}

TEST_F(Injection, AProgramThatIsOverBeforeTheDelayLeavesNoTrace) {
  const Ended ended =
      run(logdir() + " TRACEGLASS_DELAY_S=3600 TRACEGLASS_DURATION_S=1", TRACEGLASS_NVTX_STEPS);
  EXPECT_EQ(ended.status, 0);
  EXPECT_EQ(ended.output, "");
  EXPECT_THAT(folder_.names(), ElementsAre());
}

TEST_F(Injection, AForkedWorkerWritesNothingAndHarmsNothing) {
  // Of the parent's recording the worker keeps what it must not touch: to ASan that is a leak.
  const Ended ended = run(logdir() + " TRACEGLASS_DURATION_S=3600 ASAN_OPTIONS=detect_leaks=0",
                          TRACEGLASS_NVTX_FORKING);
  EXPECT_EQ(ended.status, 0);
  EXPECT_EQ(ended.output, "");
  const std::vector<TracePtr> traces = traces_in(folder_);
  ASSERT_EQ(traces.size(), 1U);
  EXPECT_THAT(annotations(*traces[0]), ElementsAre(std::pair("parent", "")));
}

TEST_F(Injection, RangesGoToTheProgramsOwnProfiler) {
  for (const std::string when : {"early", "late"}) {
    SCOPED_TRACE(when);
    const TemporaryFolder own;
    const Ended ended =
        run("", std::string(TRACEGLASS_NVTX_PROFILED) + " " + own.path().string() + " " + when);
    EXPECT_EQ(ended.status, 0);
    EXPECT_EQ(ended.output, "");
    const std::vector<TracePtr> traces = traces_in(own);
    ASSERT_EQ(traces.size(), 1U);
    EXPECT_THAT(annotations(*traces[0]), ElementsAre(std::pair("of NVTX", "of the program"),
                                                     std::pair("of the program", "")));
  }
}

}  // namespace
}  // namespace libtrace
