// Random damage to documents of several dialects: every outcome is a trace or a named error, in
// any pieces the same; and the tolerant path reads valid JSON as what it is.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>
#include <string>

#include "tb_backend/ingest/repair.h"
#include "tests/tb_backend/ingest/pieces.h"

namespace traceglass {
namespace {

const std::string kDialects[] = {
    // 2.4 and later: decimals, base behind the rows, memory, flows, metadata rows.
    R"json({"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "GPU", "numSms": 80}],
"distributedInfo": {"backend": "nccl", "rank": 1, "world_size": 2}, "displayTimeUnit": "ms",
"traceEvents": [
{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#3", "pid": 10, "tid": 10, "ts": 100.001, "dur": 900.250, "args": {"External id": 1, "Ev Idx": 0}},
{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 10, "tid": 10, "ts": 120.5, "dur": 50, "args": {"External id": 2, "Input Dims": [[2, 3], [3, 4]], "Concrete Inputs": ["", "[1, 2]"], "finished": false}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 10, "tid": 10, "ts": 130, "dur": 5.125, "args": {"cbid": 211, "correlation": 7}},
{"ph": "X", "cat": "kernel", "name": "void gemm<float, 128>(float*)", "pid": 0, "tid": 7, "ts": 140.25, "dur": 33.003, "args": {"device": 0, "stream": 7, "correlation": 7, "grid": [1, 2, 3], "est. achieved occupancy %": 31, "Comms Id": 10159970886766084423, "occupancy": {"limitingFactors": "WARPS|REGS", "n": [1.5e3, null, true]}}},
{"ph": "s", "id": 7, "pid": 10, "tid": 10, "ts": 130, "cat": "ac2g", "name": "ac2g"},
{"ph": "f", "id": 3, "pid": 10, "tid": 10, "ts": 120.5, "cat": "fwdbwd", "name": "fwdbwd", "bp": "e"},
{"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": 10, "tid": 10, "ts": 125, "args": {"Total Allocated": 512, "Addr": 140000, "Bytes": 512, "Device Id": 0, "Device Type": 1}},
{"ph": "M", "name": "process_name", "ts": 100.001, "pid": 10, "tid": 0, "args": {"name": "python"}},
{"ph": "C", "name": "GPU 0", "pid": 0, "ts": 200, "args": {"": 12.5}},
{"name": "Record Window End", "ph": "i", "s": "g", "pid": "", "tid": "", "ts": 1001}
], "baseTimeNanoseconds": 1711964646000000000, "traceName": "/tmp/x.json"
})json",
    // 1.8: capital categories, text tids, ids in lower case.
    R"json({"schemaVersion": 1, "traceEvents": [{"ph": "X", "cat": "Operator", "name": "aten::add", "pid": 1, "tid": "1", "ts": 1623143089861000, "dur": 20, "args": {"Input dims": [[1]], "External id": 5}},
{"ph": "X", "cat": "Kernel", "name": "k", "pid": 0, "tid": "stream 7", "ts": 1623143089861015, "dur": 3, "args": {"external id": 5, "memory bandwidth (GB/s)": "N/A"
}
}]
})json",
    // The legacy exporter, and begin/end rows.
    R"json([{"name": "aten::mul", "ph": "X", "ts": 633, "dur": 54, "tid": 1, "pid": "CPU functions", "args": {}},
{"name": "b", "ph": "B", "ts": 700, "tid": 1, "pid": 2}, {"ph": "E", "ts": 710, "tid": 1, "pid": 2},
{"name": "aten::add", "ph": "X", "ts": 800, "dur": 9, "tid": 0, "pid": "CUDA functions", "args": {}}])json"};

std::string damaged(std::string text, std::mt19937& random) {
  const auto below = [&](std::size_t n) {
    return std::uniform_int_distribution<std::size_t>(0, n - 1)(random);
  };
  constexpr char kBytes[] = "\"\\{}[]:,0-.eE\n\0\x80\xFFnN/ \x01";
  for (std::size_t i = 1 + below(4); i > 0 && !text.empty(); --i) {
    const std::size_t at = below(text.size());
    switch (below(6)) {
      case 0:
        text[at] = kBytes[below(sizeof kBytes - 1)];
        break;
      case 1:
        text.erase(at, 1 + below(40));
        break;
      case 2:
        text.insert(at, 1, kBytes[below(sizeof kBytes - 1)]);
        break;
      case 3:
        text.insert(at, text.substr(below(text.size()), below(200)));
        break;
      case 4:
        text.resize(at);
        break;
      default:
        text.insert(at, std::to_string(random()) + std::to_string(random()));
        break;
    }
  }
  return text;
}

TEST(Mutations, EndInATraceOrANamedErrorWhateverThePieces) {
  std::mt19937 random(7);
  for (int i = 0; i < 6000; ++i) {
    const std::string text = damaged(kDialects[static_cast<std::size_t>(i) % 3], random);
    const IngestResult whole = testing::ingest_string(text);
    const IngestResult pieces = testing::ingest_string(text, 1 + random() % 97);
    ASSERT_EQ(whole.trace == nullptr, whole.error.has_value());
    ASSERT_EQ(whole.error.has_value(), pieces.error.has_value()) << text;
    if (whole.error) {
      EXPECT_EQ(whole.error->code, pieces.error->code) << text;
      EXPECT_FALSE(whole.error->message.empty());
      continue;
    }
    ASSERT_EQ(libtrace::difference(*whole.trace, *pieces.trace), "") << text;
    EXPECT_EQ(whole.trace->report(), pieces.trace->report()) << text;
  }
}

TEST(Mutations, AnUndamagedDocumentIsTakenAsItIs) {
  for (const std::string& text : kDialects) {
    const IngestResult r = testing::ingest_string(text);
    ASSERT_TRUE(r.trace);
    for (const char* code : {"repaired", "skipped", "incomplete"}) {
      EXPECT_EQ(r.trace->report().count(code), 0) << code;
    }
  }
}

TEST(Mutations, TheTolerantPathReadsValidJsonAsWhatItIs) {
  for (const std::string& text : kDialects) {
    const auto document = nlohmann::json::parse(text);
    const auto& rows = document.is_array() ? document : document["traceEvents"];
    for (const auto& row : rows) {
      for (const int indent : {-1, 2}) {
        const std::string json = row.dump(indent);
        const Repaired r = repair_value(json + ", {", RepairContext::kEvent, true);
        ASSERT_EQ(r.status, Repaired::Status::kDone) << json;
        EXPECT_EQ(r.length, json.size());
        EXPECT_EQ(nlohmann::json::parse(r.json), row);
        EXPECT_FALSE(r.strings_changed || r.structure_changed);
      }
    }
  }
}

TEST(Mutations, WhatTheTolerantPathWritesIsValidJson) {
  std::mt19937 random(11);
  for (int i = 0; i < 4000; ++i) {
    const std::string text = damaged(kDialects[0], random);
    const std::size_t row = text.find("{\"ph\"", random() % (text.size() + 1));
    if (row == std::string::npos) continue;
    const Repaired r = repair_value(text.substr(row), RepairContext::kEvent, true);
    if (r.status != Repaired::Status::kDone) continue;
    EXPECT_TRUE(nlohmann::json::accept(r.json)) << r.json;
  }
}

}  // namespace
}  // namespace traceglass
