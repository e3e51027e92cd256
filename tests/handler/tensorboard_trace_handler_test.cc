#include "libtrace/tensorboard_trace_handler.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>
#include <vector>

#include "handler/file_sink.h"
#include "libtrace/trace_builder.h"
#include "tests/handler/temporary_folder.h"

namespace libtrace {
namespace {

// A file's text, compressed or not; "" for a compressed one that is cut.
std::string inflated(const std::filesystem::path& path) {
  gzFile file = gzopen(path.c_str(), "rb");
  std::string text(1 << 16, '\0');
  std::string all;
  int n = 0;
  while ((n = gzread(file, text.data(), static_cast<unsigned>(text.size()))) > 0) {
    all.append(text, 0, static_cast<std::size_t>(n));
  }
  const bool whole = n == 0 && gzclose(file) == Z_OK;
  return whole ? all : "";
}

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

std::string host_name() {
  char name[256] = {};
  gethostname(name, sizeof name - 1);
  return name;
}

void record_two_cycles(const TraceHandler& handler) {
  Profiler profiler({.schedule = Schedule::make({.wait = 1, .warmup = 1, .active = 2, .repeat = 2}),
                     .on_trace_ready = handler});
  profiler.start();
  for (int i = 0; i < 9; ++i) {
    {
      LIBTRACE_OP("aten::mm");
    }
    profiler.step();
  }
  profiler.stop();
}

TEST(TensorBoardTraceHandler, OneFileACycleNamedAsViewersExpect) {
  const TemporaryFolder folder;
  const fs::path dir = folder.path() / "made" / "on the way";
  record_two_cycles(tensorboard_trace_handler(dir));
  const std::regex pattern(R"(^(.*?)(\.\d+)?\.pt\.trace\.json(?:\.gz)?$)");  // TensorBoard's
  std::vector<std::string> stamps;
  for (const auto& entry : fs::directory_iterator(dir)) {
    const std::string name = entry.path().filename();
    std::smatch match;
    ASSERT_TRUE(std::regex_match(name, match, pattern)) << name;
    EXPECT_EQ(match[1], host_name() + "_" + std::to_string(getpid()));
    stamps.push_back(match[2]);
    EXPECT_EQ(stamps.back().size(), 20U) << "a dot and Unix ns";
    std::ifstream file(entry.path());
    const nlohmann::json doc = nlohmann::json::parse(file);
    EXPECT_EQ(doc.at("schemaVersion"), 1);
    EXPECT_EQ(doc.at("traceName"), entry.path().string());
  }
  ASSERT_EQ(stamps.size(), 2U);
  EXPECT_NE(stamps[0], stamps[1]);
}

// What the recorder's files look like from outside, by the rules that their readers break on.
TEST(TensorBoardTraceHandler, FilesFollowTheRulesOfTheirReaders) {
  const TemporaryFolder folder;
  Profiler profiler({.schedule = Schedule::make({.active = 1, .repeat = 1}),
                     .on_trace_ready = tensorboard_trace_handler(folder.path(), "w"),
                     .distributed = DistributedInfo{"gloo", 1, 2}});
  profiler.start();
  {
    LIBTRACE_SCOPE("range \"quoted\" \\ \n");
    LIBTRACE_OP("aten::mm");
  }
  profiler.step();
  profiler.stop();
  ASSERT_EQ(folder.names().size(), 1U);
  std::ifstream file(folder.path() / folder.names()[0]);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  EXPECT_NE(text.find("\"rank\": 1"), std::string::npos);
  EXPECT_NE(text.find("\"traceEvents\": [\n{"), std::string::npos);
  for (const char c : text) EXPECT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= 0x20);

  const auto doc = nlohmann::ordered_json::parse(text);
  Names keys;
  for (const auto& [key, value] : doc.items()) keys.push_back(key);
  EXPECT_EQ(keys,
            (Names{"schemaVersion", "deviceProperties", "distributedInfo", "trace_id", "host_name",
                   "displayTimeUnit", "baseTimeNanoseconds", "traceEvents", "traceName"}));
  double last = -1;
  for (const auto& e : doc.at("traceEvents")) {
    EXPECT_TRUE(e.at("name").is_string());
    if (e.at("ph") != "X") continue;
    EXPECT_TRUE(e.at("cat").is_string());
    EXPECT_GE(e.at("dur").get<double>(), 0);
    EXPECT_GE(e.at("ts").get<double>(), last);
    last = e.at("ts");
    if (e.at("cat") != "Trace") {
      EXPECT_EQ(e.at("pid"), getpid());
      EXPECT_TRUE(e.at("tid").is_number_integer());
      EXPECT_FALSE(e.at("args").contains("stream"));
    }
  }
  EXPECT_EQ(doc.at("traceEvents").back().at("name"), "Record Window End");
}

TEST(TensorBoardTraceHandler, GzipAndWorkerName) {
  const TemporaryFolder folder;
  record_two_cycles(tensorboard_trace_handler(folder.path(), "rank-0", true));
  ASSERT_EQ(folder.names().size(), 2U);
  for (const std::string& name : folder.names()) {
    EXPECT_TRUE(name.starts_with("rank-0.")) << name;
    EXPECT_TRUE(name.ends_with(".pt.trace.json.gz")) << name;
    std::ifstream file(folder.path() / name, std::ios::binary);
    EXPECT_EQ(file.get(), 0x1F);
    EXPECT_EQ(file.get(), 0x8B);
  }
}

TEST(TensorBoardTraceHandler, AWorkerNameIsPartOfAFileName) {
  EXPECT_THROW(tensorboard_trace_handler("d", "a/b"), std::invalid_argument);
  EXPECT_THROW(tensorboard_trace_handler("d", std::string("a\0b", 3)), std::invalid_argument);
}

TEST(TensorBoardTraceHandler, AFolderThatCannotBeMadeThrowsAndRecordingGoesOn) {
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "file") << "in the way";
  const fs::path dir = folder.path() / "file" / "sub";
  Profiler profiler({.schedule = Schedule::make({.active = 1}),
                     .on_trace_ready = tensorboard_trace_handler(dir)});
  profiler.start();
  try {
    profiler.step();
    FAIL();
  } catch (const std::runtime_error& e) {
    EXPECT_EQ(e.what(), "Can't create directory: " + dir.string() + ": Not a directory");
  }
  fs::remove(folder.path() / "file");
  profiler.step();
  profiler.stop();
  EXPECT_EQ(std::distance(fs::directory_iterator(dir), {}), 2);
}

TEST(TensorBoardTraceHandler, TheChildOfAForkHasItsOwnName) {
  const TemporaryFolder folder;
  const TraceHandler handler = tensorboard_trace_handler(folder.path());
  record_two_cycles(handler);
  const pid_t child = fork();
  if (child == 0) {
    try {
      record_two_cycles(handler);
      _exit(0);
    } catch (...) {
      _exit(1);
    }
  }
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  int own = 0, childs = 0;
  for (const std::string& name : folder.names()) {
    own += name.starts_with(host_name() + "_" + std::to_string(getpid()) + ".") ? 1 : 0;
    childs += name.starts_with(host_name() + "_" + std::to_string(child) + ".") ? 1 : 0;
  }
  EXPECT_EQ(own, 2);
  EXPECT_EQ(childs, 2);
}

TEST(TensorBoardTraceHandler, RefusesRemotePathsAtSetUp) {
  for (const char* const path :
       {"s3://bucket/logs", "gs://b", "hdfs://host/x", "file:///tmp/x", ""}) {
    EXPECT_THROW(tensorboard_trace_handler(path), std::invalid_argument) << path;
  }
  EXPECT_NO_THROW(tensorboard_trace_handler("logs/a:b//c"));
}

TEST(TensorBoardTraceHandler, AFolderThatVanishesIsMadeAgain) {
  const TemporaryFolder folder;
  const std::filesystem::path dir = folder.path() / "logs" / "run";
  const TraceHandler handler = tensorboard_trace_handler(dir, "w");
  record_two_cycles(handler);
  std::filesystem::remove_all(folder.path() / "logs");
  record_two_cycles(handler);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(dir), {}), 2);
}

TEST(TensorBoardTraceHandler, TwoRanksOfOneNameLoseNothing) {
  const TemporaryFolder folder;
  std::vector<pid_t> ranks;
  for (int rank = 0; rank < 2; ++rank) {
    const pid_t child = fork();
    if (child == 0) {
      record_two_cycles(tensorboard_trace_handler(folder.path(), "same"));
      _exit(0);
    }
    ranks.push_back(child);
  }
  for (const pid_t rank : ranks) {
    int status = 0;
    waitpid(rank, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  EXPECT_EQ(folder.names().size(), 4U);
}

// Killed at whatever point: what bears a trace's name is whole, the rest is cleared away by the
// next.
TEST(TensorBoardTraceHandler, AKilledWriterLeavesNothingTorn) {
  const TemporaryFolder folder;
  TraceBuilder b;
  for (int i = 0; i < 20'000; ++i) {
    b.add_slice({.start = i,
                 .dur = 1,
                 .name = b.intern("op " + std::to_string(i)),
                 .category = b.intern("cpu_op"),
                 .pid = b.intern("1"),
                 .tid = b.intern("1")});
  }
  const TracePtr trace = b.finish();
  for (int i = 0; i < 40; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      const TraceHandler handler = tensorboard_trace_handler(folder.path(), "w", i % 2 == 0);
      for (;;) handler(trace);
    }
    usleep(static_cast<useconds_t>(i) * 700);  // the point of death: anywhere in a few writes
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
  }
  tensorboard_trace_handler(folder.path(), "w")(trace);
  std::size_t whole = 0;
  for (const std::string& name : folder.names()) {
    EXPECT_NE(name.front(), '.') << "left over: " << name;
    EXPECT_FALSE(inflated(folder.path() / name).empty()) << name;
    EXPECT_TRUE(inflated(folder.path() / name).ends_with("}\n")) << name;
    ++whole;
  }
  EXPECT_GE(whole, 1U);
}

// No room for the file: the program goes on, hears of it, and nothing half-written stays.
TEST(TensorBoardTraceHandler, AFullDiskHarmsNobody) {
  const TemporaryFolder folder;
  for (const HandlerPolicy policy : {HandlerPolicy::kInline, HandlerPolicy::kBackground}) {
    const pid_t child = fork();
    if (child == 0) {
      const struct rlimit none{1024, 1024};
      setrlimit(RLIMIT_FSIZE, &none);
      std::string log;
      Options options;
      options.schedule = schedule(0, 0, 1, 2);
      options.handler = policy;
      options.when_behind = WhenBehind::kBlock;
      options.on_error = HandlerError::kLog;
      options.log = [&](std::string_view s) { log += s; };
      options.on_trace_ready = tensorboard_trace_handler(folder.path(), "w");
      Profiler profiler(options);
      profiler.start();
      for (int i = 0; i < 2; ++i) {
        for (int k = 0; k < 1000; ++k) {
          LIBTRACE_SCOPE("more than fits");
        }
        profiler.step();
      }
      profiler.stop();
      const bool told =
          policy == HandlerPolicy::kInline ||
          (!profiler.flush(std::chrono::minutes(1)).ok() && profiler.stats().failed_traces == 2);
      const bool logged = log.find("File too large") != std::string::npos;
      _exit(told && logged && profiler.stats().cycles == 2 ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
    EXPECT_TRUE(folder.names().empty());
  }
}

TEST(TensorBoardTraceHandler, RemovesLeftoversOfDeadWritersOfThisHostOnly) {
  const pid_t dead = fork();
  if (dead == 0) _exit(0);
  waitpid(dead, nullptr, 0);
  const TemporaryFolder folder;
  const auto leave = [&](const std::string& worker, pid_t pid) {
    const std::string name = FileSink::temporary_name({worker + ".1.pt.trace.json", pid, 5});
    std::ofstream(folder.path() / name) << "half";
    return name;
  };
  leave(host_name() + "_1", dead);
  leave("w", dead);
  const Names kept = {leave("another-host_1", dead), leave("w", getppid())};
  record_two_cycles(tensorboard_trace_handler(folder.path(), "w"));
  Names hidden;
  for (const std::string& name : folder.names()) {
    if (name.front() == '.') hidden.push_back(name);
  }
  EXPECT_EQ(hidden, kept);
}

// Of a container that shares our host's name: its process is none of ours, and lives.
TEST(TensorBoardTraceHandler, LeavesWhatIsBeingWrittenInAnotherContainer) {
  const pid_t dead = fork();
  if (dead == 0) _exit(0);
  waitpid(dead, nullptr, 0);
  const TemporaryFolder folder;
  FileSink writer(folder.path() / "w.1.pt.trace.json");
  ASSERT_TRUE(writer.write("half").ok());
  ASSERT_EQ(folder.names().size(), 1U);
  const std::string name = FileSink::temporary_name({"w.1.pt.trace.json", dead, 5});
  std::filesystem::rename(folder.path() / folder.names()[0], folder.path() / name);
  record_two_cycles(tensorboard_trace_handler(folder.path(), "w"));
  EXPECT_TRUE(std::filesystem::exists(folder.path() / name));
}

}  // namespace
}  // namespace libtrace
