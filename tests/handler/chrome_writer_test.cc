#include "handler/chrome_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "handler/json_text.h"
#include "libtrace/trace_builder.h"
#include "tests/handler/string_sink.h"

namespace libtrace {
namespace {

using nlohmann::json;

std::string written(const Trace& trace) {
  StringSink sink;
  const Status status = write_chrome_trace(trace, sink);
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_TRUE(sink.finished);
  return sink.text;
}

struct Maker {
  TraceBuilder b;
  TraceBuilder::Row row(std::string_view name, std::string_view category, std::int64_t start,
                        std::int64_t dur, std::string_view pid = "10",
                        std::string_view tid = "11") {
    return {start, dur, b.intern(name), b.intern(category), b.intern(pid), b.intern(tid)};
  }
};

// clang-format off
constexpr std::string_view kGolden = R"json({
"schemaVersion": 1,
"distributedInfo": {"backend": "nccl", "rank": 3},
"baseTimeNanoseconds": 1700000000000000000,
"traceEvents": [
{"ph":"M","name":"process_name","ts":1.000,"pid":10,"tid":0,"args":{"name":"python"}},
{"ph":"M","name":"process_labels","ts":1.000,"pid":10,"tid":0,"args":{"labels":"CPU"}},
{"ph":"M","name":"process_sort_index","ts":1.000,"pid":10,"tid":0,"args":{"sort_index":10}},
{"ph":"M","name":"thread_name","ts":1.000,"pid":10,"tid":11,"args":{"name":"thread 11 (main)"}},
{"ph":"M","name":"thread_name","ts":1.000,"pid":0,"tid":7,"args":{"name":"stream 7"}},
{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":10,"tid":11,"ts":1.000,"dur":5.000,"args":{"External id":1,"Input Dims":[[1, 2], []]}},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":10,"tid":11,"ts":2.000,"dur":1.500,"args":{"correlation":42}},
{"ph":"s","id":42,"cat":"ac2g","name":"ac2g","pid":10,"tid":11,"ts":2.000},
{"ph":"X","cat":"kernel","name":"gemm \"<float>\"","pid":0,"tid":7,"ts":4.001,"dur":2000.000,"args":{"correlation":42,"device":0}},
{"ph":"f","id":42,"cat":"ac2g","name":"ac2g","pid":0,"tid":7,"ts":4.001,"bp":"e"},
{"ph":"i","cat":"cpu_instant_event","s":"t","name":"[memory]","pid":10,"tid":11,"ts":1.500,"args":{"Bytes":-512,"Addr":18446744073709551615,"Total Allocated":1024,"Device Type":0,"Device Id":-1}},
{"ph":"C","name":"GPU 0","pid":0,"tid":"","ts":3.000,"args":{"GPU Utilization":0.5}},
{"ph":"i","s":"g","name":"Record Window End","pid":"","tid":"","ts":9.000},
{"ph":"s","id":5,"cat":"fwdbwd","name":"fwdbwd","pid":10,"tid":11,"ts":1.000},
{"ph":"f","id":5,"cat":"fwdbwd","name":"fwdbwd","pid":10,"tid":11,"ts":2.000,"bp":"e"}
]}
)json";
// clang-format on

// One of everything, byte by byte.
TEST(ChromeWriter, Golden) {
  Maker m;
  m.b.set_base_unix_ns(1'700'000'000'000'000'000);
  m.b.add_metadata("schemaVersion", "1");
  m.b.add_metadata("distributedInfo", R"({"backend": "nccl", "rank": 3})");
  m.b.set_process_name(m.b.intern("10"), "python");
  m.b.set_process_labels(m.b.intern("10"), "CPU");
  m.b.set_process_sort(m.b.intern("10"), 10);
  m.b.set_thread_name(m.b.intern("10"), m.b.intern("11"), "thread 11 (main)");
  m.b.set_thread_name(m.b.intern("0"), m.b.intern("7"), "stream 7");
  m.b.arg("External id", Value::integer(1));
  m.b.arg("Input Dims", Value::json("[[1, 2], []]"));
  m.b.add_slice(m.row("aten::mm", "cpu_op", 1'000, 5'000));
  m.b.arg("correlation", Value::integer(42));
  m.b.add_slice(m.row("cudaLaunchKernel", "cuda_runtime", 2'000, 1'500));
  m.b.arg("correlation", Value::integer(42));
  m.b.arg("device", Value::integer(0));
  m.b.add_slice(m.row("gemm \"<float>\"", "kernel", 4'001, 2'000'000, "0", "7"));
  MemoryEvent memory;
  memory.at = 1'500;
  memory.bytes = -512;
  memory.addr = 0xFFFF'FFFF'FFFF'FFFF;
  memory.total_allocated = 1024;
  m.b.add_memory(memory, m.b.intern("10"), m.b.intern("11"));
  m.b.arg("GPU Utilization", Value::real(0.5));
  m.b.add_instant(m.row("GPU 0", "", 3'000, 0, "0", ""), 'C');
  m.b.add_instant(m.row("Record Window End", "", 9'000, 0, "", ""), 'i');
  const Flow flow{.id = 5,
                  .at = 1'000,
                  .category = m.b.intern("fwdbwd"),
                  .name = m.b.intern("fwdbwd"),
                  .begin = true};
  m.b.add_flow(flow, m.b.intern("10"), m.b.intern("11"));
  m.b.add_flow({.id = 5, .at = 2'000, .category = flow.category, .name = flow.name, .begin = false},
               m.b.intern("10"), m.b.intern("11"));
  EXPECT_EQ(written(*m.b.finish()), kGolden);
}

TEST(ChromeWriter, AnEmptyTraceIsValid) {
  const json doc = json::parse(written(*TraceBuilder().finish()));
  EXPECT_TRUE(doc.at("traceEvents").empty());
  EXPECT_FALSE(doc.contains("baseTimeNanoseconds"));
}

TEST(ChromeWriter, AwkwardNamesComeBackAsTheyWere) {
  const std::string names[] = {"quo\"te",
                               "back\\slash",
                               "new\nline\ttab",
                               std::string("nu\0l", 4),
                               "\x01\x1F\x7F",
                               "emoji \xF0\x9F\x98\x80",
                               "</script>",
                               "",
                               std::string(1'000'000, 'm')};
  Maker m;
  std::int64_t at = 0;
  for (const std::string& name : names) {
    m.b.arg(name, Value::string(name));
    m.b.add_slice(m.row(name, "cpu_op", at += 10, 5));
  }
  const json doc = json::parse(written(*m.b.finish()));
  std::size_t i = 0;
  for (const json& e : doc.at("traceEvents")) {
    if (e.at("ph") != "X") continue;
    EXPECT_EQ(e.at("name").get<std::string>(), names[i]);
    EXPECT_EQ(e.at("args").at(names[i]).get<std::string>(), names[i]);
    ++i;
  }
  EXPECT_EQ(i, std::size(names));
}

TEST(ChromeWriter, BytesThatAreNoTextBecomeReplacements) {
  StringSink sink;
  JsonText text(sink);
  text.string(
      "a\xFF"
      "b\xC0\x80"
      "c\xED\xA0\x80"
      "d\xE2\x82");
  ASSERT_TRUE(text.finish().ok());
  const std::string r = "\xEF\xBF\xBD";
  EXPECT_EQ(sink.text, "\"a" + r + "b" + r + r + "c" + r + r + r + "d" + r + r + "\"");
}

TEST(ChromeWriter, NumbersAndIds) {
  const auto text_of = [](auto&& write) {
    StringSink sink;
    JsonText text(sink);
    write(text);
    EXPECT_TRUE(text.finish().ok());
    return sink.text;
  };
  const auto us = [&](std::int64_t ns) {
    return text_of([&](JsonText& t) { t.microseconds(ns); });
  };
  EXPECT_EQ(us(0), "0.000");
  EXPECT_EQ(us(1), "0.001");
  EXPECT_EQ(us(-1), "-0.001");
  EXPECT_EQ(us(-1'234'056), "-1234.056");
  EXPECT_EQ(us(INT64_MAX), "9223372036854775.807");
  EXPECT_EQ(us(INT64_MIN), "-9223372036854775.808");
  const auto id = [&](std::string_view s) { return text_of([&](JsonText& t) { t.id(s); }); };
  for (const char* const number : {"0", "7", "-1", "9223372036854775807"}) {
    EXPECT_EQ(id(number), number);
  }
  for (const char* const text :
       {"", "-", "-0", "007", "+1", "1.0", "Spans", "stream 7", "9223372036854775808", " 1"}) {
    EXPECT_EQ(id(text), '"' + std::string(text) + '"');
  }
  const auto real = [&](double v) { return text_of([&](JsonText& t) { t.real(v); }); };
  EXPECT_EQ(real(0.1), "0.1");
  EXPECT_EQ(real(3), "3.0");
  EXPECT_EQ(real(1e300), "1e+300");
  EXPECT_EQ(real(-0.0), "-0.0");
  EXPECT_EQ(real(std::numeric_limits<double>::denorm_min()), "5e-324");
}

TEST(ChromeWriter, ALegacyArrayGetsCategoriesThatReadersExpect) {
  Maker m;
  m.b.set_legacy_array();
  m.b.add_slice(m.row("aten::mm", "", 10, 5, "CPU functions", "1"));
  m.b.add_slice(m.row("gemm", "", 20, 5, "CUDA functions", "0"));
  const json doc = json::parse(written(*m.b.finish()));
  std::vector<std::string> categories;
  for (const json& e : doc.at("traceEvents")) categories.push_back(e.at("cat"));
  EXPECT_EQ(categories, (std::vector<std::string>{"cpu_op", "kernel"}));
}

TEST(ChromeWriter, OneArrowOfALaunchToEachStream) {
  Maker m;
  m.b.arg("correlation", Value::integer(9));
  m.b.add_slice(m.row("cudaGraphLaunch", "cuda_runtime", 10, 5));
  m.b.arg("correlation", Value::integer(10));
  m.b.add_slice(m.row("cudaEventQuery", "cuda_runtime", 16, 1));
  for (int i = 0; i < 3; ++i) {
    m.b.arg("correlation", Value::integer(9));
    m.b.add_slice(m.row("k", "kernel", 100 + 10 * i, 5, "0", "7"));
    m.b.arg("correlation", Value::integer(9));
    m.b.add_slice(m.row("k", "kernel", 104 + 10 * i, 9, "0", "8"));
  }
  m.b.arg("correlation", Value::integer(77));
  m.b.add_slice(m.row("lost", "kernel", 200, 5, "0", "7"));
  const json doc = json::parse(written(*m.b.finish()));
  std::string arrows;
  for (const json& e : doc.at("traceEvents")) {
    const std::string ph = e.at("ph");
    if (ph != "s" && ph != "f") continue;
    arrows += ph + std::to_string(e.at("id").get<int>()) + "@" +
              std::to_string(static_cast<int>(1000 * e.at("ts").get<double>())) + " ";
  }
  EXPECT_EQ(arrows, "s9@10 f9@100 f9@104 ");
}

TEST(ChromeWriter, DevicesAndRankAreWrittenWhereNoTextOfThemIsKept) {
  Maker m;
  m.b.set_rank(3, false);
  m.b.set_world_size(8);
  DeviceProperties device;
  device.name = "H200";
  device.sm_count = 132;
  m.b.add_device(device);
  const std::string text = written(*m.b.finish());
  // HTA looks for the rank by this expression, line by line.
  EXPECT_THAT(text, testing::ContainsRegex("\"rank\":[ ]+3"));
  const json doc = json::parse(text);
  EXPECT_EQ(doc.at("deviceProperties")[0].at("numSms"), 132);
  EXPECT_EQ(doc.at("distributedInfo").at("world_size"), 8);
}

TEST(ChromeWriter, AnErrorOfTheSinkComesBack) {
  Maker m;
  for (int i = 0; i < 50'000; ++i) m.b.add_slice(m.row("aten::mm", "cpu_op", i, 1));
  const TracePtr trace = m.b.finish();
  StringSink sink;
  sink.limit = 2'000'000;
  const Status status = write_chrome_trace(*trace, sink);
  EXPECT_FALSE(status.ok());
  EXPECT_EQ(status.message(), "disk full");
  EXPECT_FALSE(sink.finished);
}

}  // namespace
}  // namespace libtrace
