// Perfetto's protobuf as PyTorch writes it: packets made here, and what becomes of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "proto/perfetto.pb.h"
#include "tests/tb_backend/ingest/pieces.h"

namespace traceglass {
namespace {

using libtrace::EventId;
using libtrace::Kind;
using libtrace::Trace;
using perfetto::TracePacket;
using perfetto::TrackEvent;

constexpr std::uint64_t kBase = 1'790'857'026'000'000'000;

class File {
 public:
  File() {
    TracePacket start;
    auto* clock = start.mutable_clock_snapshot()->add_clocks();
    clock->set_clock_id(6);
    clock->set_timestamp(kBase);
    add(start);
    TracePacket process;
    process.mutable_track_descriptor()->set_uuid(1);
    process.mutable_track_descriptor()->mutable_process()->set_pid(10);
    process.mutable_track_descriptor()->mutable_process()->set_process_name("python");
    add(process);
    TracePacket thread;
    thread.mutable_track_descriptor()->set_uuid(2);
    thread.mutable_track_descriptor()->set_parent_uuid(1);
    thread.mutable_track_descriptor()->mutable_thread()->set_pid(10);
    thread.mutable_track_descriptor()->mutable_thread()->set_tid(11);
    thread.mutable_track_descriptor()->mutable_thread()->set_thread_name("main");
    add(thread);
  }
  void add(const TracePacket& packet) {
    const std::string bytes = packet.SerializeAsString();
    text_ += '\x0A';
    for (std::size_t n = bytes.size();; n >>= 7) {
      text_ += static_cast<char>(n >= 0x80 ? (n & 0x7F) | 0x80 : n);
      if (n < 0x80) break;
    }
    text_ += bytes;
  }
  TracePacket begin(std::uint64_t at, const std::string& name) const {
    TracePacket p = mark(at, TrackEvent::SLICE_BEGIN);
    p.mutable_track_event()->set_name(name);
    p.mutable_track_event()->add_categories("cpu_op");
    return p;
  }
  TracePacket end(std::uint64_t at) const { return mark(at, TrackEvent::SLICE_END); }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  static TracePacket mark(std::uint64_t at, TrackEvent::Type type) {
    TracePacket p;
    p.set_timestamp(kBase + at);
    p.mutable_track_event()->set_track_uuid(2);
    p.mutable_track_event()->set_type(type);
    return p;
  }
  std::string text_;
};

EventId find(const Trace& trace, std::string_view name) {
  for (EventId e = 0; e < trace.size(); ++e) {
    if (trace.name(e) == name) return e;
  }
  ADD_FAILURE() << "no " << name;
  return 0;
}

TEST(Perfetto, SlicesOfAThreadWithTheirArguments) {
  File file;
  TracePacket mm = file.begin(1500, "aten::mm");
  auto* dims = mm.mutable_track_event()->add_debug_annotations();
  dims->set_name("Input Dims");
  auto* shape = dims->add_array_values();
  shape->add_array_values()->set_int_value(2);
  shape->add_array_values()->set_int_value(3);
  dims->add_array_values();
  auto* id = mm.mutable_track_event()->add_debug_annotations();
  id->set_name("External id");
  id->set_int_value(7);
  file.add(mm);
  file.add(file.begin(1600, "a \"quoted\"\n\xFF name"));
  file.add(file.end(1700));
  file.add(file.end(2501));
  const auto result = testing::ingest_string(file.text(), 7);
  ASSERT_TRUE(result.trace);
  const Trace& t = *result.trace;
  EXPECT_TRUE(t.report().entries().empty());
  EXPECT_EQ(t.base_unix_ns(), static_cast<std::int64_t>(kBase));
  ASSERT_EQ(t.size(), 2U);
  EXPECT_EQ(t.start(0), 1500);
  EXPECT_EQ(t.dur(0), 1001);
  EXPECT_EQ(t.kind(0), Kind::kOp);
  EXPECT_EQ(t.parent(1), 0U);
  EXPECT_EQ(t.name(1), "a \"quoted\"\n\xEF\xBF\xBD name");
  EXPECT_EQ(t.arg(0, "Input Dims")->text, "[[2, 3], []]");
  EXPECT_EQ(t.int_arg(0, "External id"), 7);
  EXPECT_EQ(t.lanes()[0].process, "python");
  EXPECT_EQ(t.lanes()[0].thread, "main");
}

TEST(Perfetto, BeginsBeforeTheirEndsInTheSameOrderArePairedEvenWhereTheyCross) {
  File file;
  file.add(file.begin(100, "enter"));  // ends within the step
  file.add(file.begin(150, "step"));
  file.add(file.begin(300, "in the step"));
  file.add(file.end(200));
  file.add(file.end(900));
  file.add(file.end(400));
  const auto result = testing::ingest_string(file.text());
  ASSERT_TRUE(result.trace);
  const Trace& t = *result.trace;
  EXPECT_EQ(t.dur(find(t, "enter")), 100);
  EXPECT_EQ(t.dur(find(t, "step")), 750);
  EXPECT_EQ(t.dur(find(t, "in the step")), 100);
}

TEST(Perfetto, InOrderOfTimeAnEndClosesWhatBeganLast) {
  File file;
  file.add(file.begin(100, "outer"));
  file.add(file.begin(200, "inner"));
  file.add(file.end(300));
  file.add(file.begin(400, "open"));
  const auto result = testing::ingest_string(file.text());
  ASSERT_TRUE(result.trace);
  const Trace& t = *result.trace;
  EXPECT_EQ(t.dur(find(t, "inner")), 100);
  EXPECT_EQ(t.report().count("unfinished"), 2);
}

TEST(Perfetto, KernelsAndTheirLaunches) {
  File file;
  TracePacket launch = file.begin(1000, "cudaLaunchKernel");
  launch.mutable_track_event()->set_categories(0, "cuda_runtime");
  auto* correlation = launch.mutable_track_event()->add_debug_annotations();
  correlation->set_name("correlation");
  correlation->set_int_value(42);
  file.add(file.begin(900, "aten::mm"));
  file.add(launch);
  file.add(file.end(1010));
  file.add(file.end(1100));
  TracePacket words;
  const auto specify = [&](std::uint64_t id, const std::string& name) {
    auto* s = words.mutable_interned_data()->add_gpu_specifications();
    s->set_iid(id);
    s->set_name(name);
  };
  specify(1, "Kernel");
  specify(100, "[7] stream 7");
  auto* name = words.mutable_interned_data()->add_event_names();
  name->set_iid(5);
  name->set_str("gemm");
  file.add(words);
  TracePacket kernel;
  kernel.set_timestamp(kBase + 2000);
  auto* stage = kernel.mutable_gpu_render_stage_event();
  stage->set_duration(3001);
  stage->set_gpu_id(0);
  stage->set_stage_iid(1);
  stage->set_hw_queue_iid(100);
  stage->set_name_iid(5);
  stage->mutable_launch()->mutable_grid_size()->set_x(4);
  const auto extra = [&](const char* key, const char* value) {
    auto* e = stage->add_extra_data();
    e->set_name(key);
    e->set_value(value);
  };
  extra("device id", "0");
  extra("stream id", "7");
  extra("correlation", "42");
  file.add(kernel);
  const auto result = testing::ingest_string(file.text());
  ASSERT_TRUE(result.trace);
  const Trace& t = *result.trace;
  const EventId k = find(t, "gemm");
  EXPECT_EQ(t.kind(k), Kind::kKernel);
  EXPECT_EQ(t.start(k), 2000);
  EXPECT_EQ(t.dur(k), 3001);
  EXPECT_EQ(t.launch(k), find(t, "cudaLaunchKernel"));
  EXPECT_EQ(t.owner(k), find(t, "aten::mm"));
  EXPECT_EQ(t.arg(k, "grid")->text, "[4, 0, 0]");
  EXPECT_EQ(t.int_arg(k, "stream"), 7);
  EXPECT_EQ(t.lanes()[t.lane_of(k)].tid, "7");
  EXPECT_EQ(t.lanes()[t.lane_of(k)].thread, "stream 7");
  EXPECT_EQ(t.lanes()[t.lane_of(k)].labels, "GPU 0");
}

TEST(Perfetto, JsonBehindALineFeedIsJson) {
  for (const char* space : {"\n", "\n\n", "\n ", "\n\t", "\r\n"}) {
    for (const char* inner : {"", "\n", "\n  ", "\t", " ", "\r\n"}) {
      for (const bool bare : {false, true}) {
        std::string text = space;
        text += bare ? "[" : "{";
        text += inner;
        text +=
            bare
                ? R"({"ph": "X", "name": "a", "ts": 1, "dur": 2, "pid": "CPU functions", "tid": 1}])"
                : R"("traceEvents": [{"ph": "X", "name": "a", "cat": "cpu_op", "ts": 1, "dur": 2}]})";
        text += std::string(200, ' ');
        const auto result = testing::ingest_string(text);
        ASSERT_TRUE(result.trace) << text;
        EXPECT_EQ(result.trace->size(), 1U);
      }
    }
  }
}

TEST(Perfetto, ACutFileKeepsWhatIsWhole) {
  File file;
  file.add(file.begin(100, "whole"));
  file.add(file.end(200));
  const std::size_t whole = file.text().size();
  file.add(file.begin(300, "cut away"));
  for (std::size_t n = whole + 1; n < file.text().size(); ++n) {
    const auto result = testing::ingest_string(file.text().substr(0, n));
    ASSERT_TRUE(result.trace) << n;
    EXPECT_EQ(result.trace->size(), 1U);
    EXPECT_EQ(result.trace->report().count("incomplete"), 1);
  }
}

TEST(Perfetto, DamageEndsInATraceOrANamedError) {
  File file;
  for (std::uint64_t i = 0; i < 20; ++i) file.add(file.begin(100 * i, "op"));
  for (std::uint64_t i = 0; i < 20; ++i) file.add(file.end(100 * i + 50));
  std::mt19937 random(5);
  for (int i = 0; i < 5000; ++i) {
    std::string text = file.text();
    for (std::size_t n = 1 + random() % 4; n > 0; --n) {
      text[random() % text.size()] = static_cast<char>(random());
    }
    const auto result = testing::ingest_string(text, 1 + random() % 999);
    EXPECT_NE(result.trace == nullptr, !result.error.has_value());
  }
}

// Where real files are present: PyTorch's own encoder and its JSON of one recording.
TEST(Perfetto, SaysWhatTheJsonOfTheSameRecordingSays) {
  const char* given = std::getenv("TRACEGLASS_SHARED");
  const std::filesystem::path fixtures =
      (given != nullptr ? std::filesystem::path(given)
                        : std::filesystem::path(TRACEGLASS_SOURCE_DIR) / ".." / "shared") /
      "fixtures";
  const std::string name = "traces_h100_gaunernst_bert-small-uncased__1016001";
  std::error_code none;
  if (!std::filesystem::is_directory(fixtures / "torch_2_15", none)) GTEST_SKIP() << "none here";
  const auto packets = ingest_file(fixtures / "torch_2_15" / "pftrace" / (name + ".pftrace"));
  const auto json = ingest_file(fixtures / "TraceLens" / (name + ".json.gz"));
  ASSERT_TRUE(packets.trace && json.trace);
  const auto rows = [](const Trace& t) {
    std::vector<std::tuple<std::int64_t, std::int64_t, std::string, Kind, std::string>> out;
    for (EventId e = 0; e < t.size(); ++e) {
      if (t.kind(e) > Kind::kPython) continue;  // what the other format has no row for
      const EventId owner = t.owner(e);
      const bool copy = t.kind(e) == Kind::kMemcpy;  // packets do not say from where to where
      out.emplace_back(t.start(e), t.dur(e), copy ? "Memcpy" : t.name(e), t.kind(e),
                       owner == libtrace::kNone ? "" : t.name(owner));
    }
    std::sort(out.begin(), out.end());
    return out;
  };
  const auto ours = rows(*packets.trace), theirs = rows(*json.trace);
  ASSERT_EQ(ours.size(), theirs.size());
  for (std::size_t i = 0; i < ours.size(); ++i) ASSERT_EQ(ours[i], theirs[i]);
}

}  // namespace
}  // namespace traceglass
