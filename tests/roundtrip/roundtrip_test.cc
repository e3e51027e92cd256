// ingest(write(trace)) == trace: for generated traces, for recorded ones, and for every real file.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "handler/chrome_writer.h"
#include "handler/gzip_sink.h"
#include "libtrace/profile.h"
#include "libtrace/range.h"
#include "libtrace/tensorboard_trace_handler.h"
#include "libtrace/trace_builder.h"
#include "tb_backend/ingest/ingest.h"
#include "tests/handler/reader_rules.h"
#include "tests/handler/string_sink.h"
#include "tests/handler/temporary_folder.h"
#include "tests/libtrace/model/generate.h"

namespace libtrace {
namespace {

namespace fs = std::filesystem;

// `name`: a file's name may tell its rank.
TracePtr read_back(const Trace& trace, bool use_gzip, const std::string& name = "trace.json") {
  StringSink text;
  GzipSink gzip(text);
  const Status written = write_chrome_trace(trace, use_gzip ? static_cast<ByteSink&>(gzip) : text);
  EXPECT_TRUE(written.ok()) << written.message();
  const TemporaryFolder folder;
  const fs::path path = folder.path() / (use_gzip ? name + ".gz" : name);
  std::ofstream(path, std::ios::binary) << text.text;
  const traceglass::IngestResult result = traceglass::ingest_file(path);
  EXPECT_FALSE(result.error) << result.error->message;
  return result.trace;
}

void expect_same(const Trace& trace, bool use_gzip = false) {
  const TracePtr back = read_back(trace, use_gzip);
  ASSERT_NE(back, nullptr);
  EXPECT_EQ(difference(trace, *back), "");
  EXPECT_EQ(back->report().count("repaired"), 0);
  EXPECT_EQ(back->report().count("skipped"), 0);
}

TEST(RoundTrip, GeneratedTraces) {
  for (unsigned seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(seed);
    expect_same(*testing::Generator(seed).trace(), seed % 2 == 0);
  }
}

// Everything a row can carry, with texts that try to break out of it.
class Wild {
 public:
  explicit Wild(unsigned seed) : random_(seed) {}

  TracePtr trace() {
    TraceBuilder b;
    if (chance(80)) b.set_base_unix_ns(1'700'000'000'123'456'789);
    b.add_metadata("schemaVersion", "1");
    b.add_metadata("nested", R"({"a": [1, 2.5, null, {"b": "c\"d"}], "e": "\u0001"})");
    if (chance(50)) {
      b.add_metadata("distributedInfo", R"({"backend": "nccl", "rank": 2, "world_size": 4})");
      b.set_rank(2, false);
      b.set_world_size(4);
    }
    name_lanes(b);
    const std::int64_t rows = number(0, 60);
    for (std::int64_t i = 0; i < rows; ++i) slice(b);
    for (std::int64_t i = number(0, 10); i > 0; --i) instant(b);
    for (std::int64_t i = number(0, 10); i > 0; --i) memory(b);
    for (std::int64_t i = number(0, 10); i > 0; --i) flow(b);
    return b.finish();
  }

 private:
  std::int64_t number(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random_);
  }
  bool chance(int percent) { return number(1, 100) <= percent; }

  std::string text() {
    static const std::string kPieces[] = {
        "a",       "\"",        "\\", "\n", "\t",     "\x01",        "\x7F",
        "{",       "}",         "]",  ",",  ":",      "\xC3\xA9",    "\xF0\x9F\x98\x80",
        "\\u0041", "</script>", " ",  "0",  "aten::", "\xEF\xBF\xBD"};
    std::string out;
    for (std::int64_t i = number(0, 8); i > 0; --i) {
      out += kPieces[static_cast<std::size_t>(number(0, std::size(kPieces) - 1))];
    }
    return out;
  }

  Value value() {
    switch (number(0, 7)) {
      case 0:
        return Value::null();
      case 1:
        return Value::boolean(chance(50));
      case 2:
        return Value::integer(chance(50) ? number(INT64_MIN, INT64_MAX) : number(-9, 9));
      case 3:
        return Value::uinteger(static_cast<std::uint64_t>(number(INT64_MIN, -1)));
      case 4:
        return Value::real(std::ldexp(static_cast<double>(number(-1000, 1000)),
                                      static_cast<int>(number(-300, 300))));
      case 5:
        return Value::json(R"([1, [2, {"k": "v, \"w\""}], null, -0.5e3])");
      default:
        return Value::string(kept_ = text());
    }
  }
  void args(TraceBuilder& b) {
    for (std::int64_t i = number(0, 4); i > 0; --i) {
      const std::string key = "k" + std::to_string(i) + text();
      b.arg(key, value());
    }
  }

  TraceBuilder::Row row(TraceBuilder& b, std::string_view category) {
    static const char* const kThreads[] = {"1", "-7",           "007",
                                           "",  "thread \"x\"", "18446744073709551615"};
    TraceBuilder::Row r;
    r.start = number(-100'000, 1'000'000'000'000);
    r.dur = chance(5) ? -number(1, 9'999) : number(0, 5'000'000);
    r.name = b.intern(text());
    r.category = b.intern(category);
    r.pid = b.intern(chance(80) ? "4242" : "a \"process\"");
    r.tid = b.intern(kThreads[static_cast<std::size_t>(number(0, std::size(kThreads) - 1))]);
    return r;
  }
  void slice(TraceBuilder& b) {
    static const char* const kCategories[] = {
        "cpu_op",    "Operator",   "user_annotation", "cuda_runtime",     "hip_driver",
        "kernel",    "gpu_memcpy", "gpu_memset",      "python_function",  "gpu_user_annotation",
        "cuda_sync", "overhead",   "Trace",           "something \"new\""};
    const TraceBuilder::Row r =
        row(b, kCategories[static_cast<std::size_t>(number(0, std::size(kCategories) - 1))]);
    if (chance(50)) b.arg("correlation", Value::integer(number(0, 20)));
    if (chance(5)) b.arg("finished", Value::boolean(false));
    args(b);
    b.add_slice(r);
  }
  void instant(TraceBuilder& b) {
    const bool counter = chance(40);
    const TraceBuilder::Row r = row(b, chance(50) ? "" : "cat \\");
    args(b);
    b.add_instant(r, counter ? 'C' : 'i');
  }
  void memory(TraceBuilder& b) {
    MemoryEvent m;
    m.at = number(0, 1'000'000);
    m.bytes = number(-1'000'000, 1'000'000);
    if (chance(50)) m.addr = static_cast<std::uint64_t>(number(INT64_MIN, INT64_MAX));
    if (chance(50)) m.total_allocated = number(0, INT64_MAX);
    if (chance(50)) m.total_reserved = number(0, 1 << 30);
    m.device_type = static_cast<std::int32_t>(number(0, 20));
    m.device_id = static_cast<std::int32_t>(number(-1, 7));
    m.out_of_memory = chance(10);
    b.add_memory(m, b.intern("4242"), b.intern("1"));
  }
  void flow(TraceBuilder& b) {
    Flow f;
    f.id = number(INT64_MIN, INT64_MAX);
    f.at = number(0, 1'000'000);
    f.category = b.intern("fwdbwd");
    f.name = b.intern(text());
    f.begin = chance(50);
    b.add_flow(f, b.intern("4242"), b.intern("lane of the arrows"));
  }
  void name_lanes(TraceBuilder& b) {
    b.set_process_name(b.intern("4242"), text() + "p");
    b.set_process_labels(b.intern("4242"), "CPU");
    b.set_process_sort(b.intern("4242"), number(-5, 5));
    b.set_thread_name(b.intern("4242"), b.intern("1"), text() + "t");
    b.set_thread_sort(b.intern("4242"), b.intern("-7"), number(INT64_MIN, INT64_MAX));
    b.add_slice({.start = 1'000,
                 .dur = 10,
                 .name = b.intern("end of arrows"),
                 .category = b.intern("cpu_op"),
                 .pid = b.intern("4242"),
                 .tid = b.intern("lane of the arrows")});
  }

  std::mt19937_64 random_;
  std::string kept_;  // the text of the value just made
};

TEST(RoundTrip, WildTraces) {
  for (unsigned seed = 1; seed <= 500; ++seed) {
    SCOPED_TRACE(seed);
    expect_same(*Wild(seed).trace(), seed % 2 == 0);
    if (HasFailure()) return;
  }
}

TEST(RoundTrip, ATimeOfZeroAmongUnixTimes) {
  TraceBuilder b;
  const auto row = [&](std::int64_t start, std::int64_t dur) {
    return TraceBuilder::Row{start,         dur,          b.intern("k"), b.intern("kernel"),
                             b.intern("0"), b.intern("7")};
  };
  b.add_slice(row(0, 1));
  b.add_slice(row(1'700'000'000'000'000'000, 1'000));
  expect_same(*b.finish());
}

// Every real file and every case that holds a trace. An array of the oldest kind is written as
// today's kind of file: that one comes back as it is.
TEST(RoundTrip, RealFiles) {
  const fs::path shared = fs::path(TRACEGLASS_SOURCE_DIR) / ".." / "shared";
  if (!fs::exists(shared)) GTEST_SKIP() << "no fixtures here";
  constexpr std::uintmax_t kLargest = 1'000'000;  // stored bytes; the test is to be quick
  int files = 0;
  for (const char* const part : {"fixtures", "cases"}) {
    for (const auto& entry : fs::recursive_directory_iterator(shared / part)) {
      const std::string name = entry.path().filename();
      if (!entry.is_regular_file() || entry.file_size() > kLargest) continue;
      if (!name.ends_with(".json") && !name.ends_with(".json.gz")) continue;
      if (entry.path().string().find("/oracle/") != std::string::npos) continue;
      TracePtr trace = traceglass::ingest_file(entry.path()).trace;
      if (!trace) continue;
      SCOPED_TRACE(entry.path().string());
      if (name == "w.pt.trace.json" && entry.path().parent_path().filename() == "legacy_array") {
        trace = read_back(*trace, false, name);
      }
      const TracePtr back = read_back(*trace, false, name);
      ASSERT_NE(back, nullptr);
      EXPECT_EQ(difference(*trace, *back), "");
      ++files;
    }
  }
  EXPECT_GT(files, 50);
}

TEST(RoundTrip, TheEmptyTrace) { expect_same(*TraceBuilder().finish()); }

TEST(RoundTrip, WhatAProfilerRecordedAndItsHandlerWrote) {
  const TemporaryFolder folder;
  std::vector<TracePtr> recorded;
  const TraceHandler write = tensorboard_trace_handler(folder.path(), "w", true);
  Profiler profiler({.schedule = Schedule::make({.wait = 1, .warmup = 1, .active = 2, .repeat = 2}),
                     .on_trace_ready =
                         [&](const TracePtr& trace) {
                           write(trace);
                           recorded.push_back(trace);
                         },
                     .max_bytes = 512 * 1024,
                     .distributed = DistributedInfo{"gloo", 1, 2}});
  profiler.start();
  for (int i = 0; i < 9; ++i) {
    profiler.add_metadata("note", "a \"note\" \\ \n \xFF");
    std::thread([] {
      for (int k = 0; k < 20'000; ++k) {  // more than fits
        LIBTRACE_RECORD_FUNCTION("worker \"" + std::to_string(k) + "\"");
      }
    }).join();
    {
      LIBTRACE_OP("aten::mm");
    }
    profiler.step();
  }
  profiler.stop();
  ASSERT_EQ(recorded.size(), 2U);
  std::vector<std::string> names = folder.names();
  ASSERT_EQ(names.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    const auto result = traceglass::ingest_file(folder.path() / names[i]);
    ASSERT_TRUE(result.trace) << result.error->message;
    EXPECT_EQ(difference(*recorded[i], *result.trace), "");
    EXPECT_GT(recorded[i]->report().count("dropped_by_recorder"), 0);
    StringSink text;
    ASSERT_TRUE(write_chrome_trace(*recorded[i], text).ok());
    for (const std::string& broken : testing::broken_rules(text.text)) ADD_FAILURE() << broken;
    for (const ReportEntry& entry : recorded[i]->report().entries()) {
      EXPECT_EQ(result.trace->report().count(entry.code), entry.count) << entry.code;
    }
    EXPECT_EQ(result.trace->report().entries().size(), recorded[i]->report().entries().size());
  }
}

// Hostile texts in every place that takes one.
TEST(RoundTrip, EverythingARangeCanCarry) {
  constexpr char kWild[] = "quote \" back \\ line \n nul \0 bad \xFF\xC0 \xF0\x9F\x98\x80";
  const std::string wild(kWild, sizeof kWild - 1);
  const std::string huge(1'000'000, '\x01');
  std::array<TracePtr, 2> recorded;
  Options options;
  options.schedule = schedule(0, 0, 1, 2);
  options.record_shapes = options.profile_memory = options.with_stack = options.with_modules = true;
  options.custom_trace_id = [&] { return std::string(wild); };
  std::size_t cycle = 0;
  options.on_trace_ready = [&](const TracePtr& trace) { recorded[cycle++] = trace; };
  Profiler profiler(options);
  profiler.start();
  for (int i = 0; i < 2; ++i) {
    const std::array<std::int64_t, 2> sizes{INT64_MAX, -1};
    Input tensor;
    tensor.kind = Input::Kind::kTensor;
    tensor.dims = 2;
    tensor.sizes = tensor.strides = sizes.data();
    tensor.type = wild;
    Input list;
    list.kind = Input::Kind::kTensorList;
    list.items = &tensor;
    list.item_count = 1;
    Input scalar;
    scalar.kind = Input::Kind::kScalar;
    scalar.value = wild;
    const std::array<Input, 3> inputs{tensor, list, scalar};
    const std::array<RangeArg, 3> args{{{wild, Value::string(wild)},
                                        {"big", Value::uinteger(UINT64_MAX)},
                                        {"real", Value::real(0.1)}}};
    RangeDetails details;
    details.inputs = inputs.data();
    details.input_count = inputs.size();
    details.args = args.data();
    details.arg_count = args.size();
    details.sequence_number = 5;
    details.thread = 1;
    {
      const ModuleScope module(wild);
      const RecordFunction op(wild, RecordScope::kFunction, details);
      const RecordFunction large(huge);
    }
    details.forward_thread = 1;
    AsyncRange async(wild);
    std::thread([&] {
      const RecordFunction backward("backward", RecordScope::kFunction, details);
      async.end();
      const AsyncRange unfinished("never ended");
      (void)begin_async_range("still open");
    }).join();
    MemoryReport report;
    report.address = UINT64_MAX;
    report.bytes = 64;
    report_memory(report);
    report.out_of_memory = true;
    report_memory(report);
    mark(wild);
    count(wild, 1e300);
    profiler.step();
  }
  profiler.stop();
  for (const TracePtr& trace : recorded) {
    ASSERT_NE(trace, nullptr);
    EXPECT_EQ(trace->flows().size(), 2U);
    StringSink text;
    ASSERT_TRUE(write_chrome_trace(*trace, text).ok());
    for (const std::string& broken : testing::broken_rules(text.text)) ADD_FAILURE() << broken;
    const TracePtr back = read_back(*trace, true);
    ASSERT_NE(back, nullptr);
    EXPECT_EQ(difference(*trace, *back), "");
    for (const TracePtr& t : {trace, back}) {
      ASSERT_EQ(t->report().entries().size(), 1U);
      EXPECT_EQ(t->report().count("unfinished"), 1);
    }
  }
}

}  // namespace
}  // namespace libtrace
