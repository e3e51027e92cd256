// Files of exports.h: what is written, what is refused, and, where recorded runs are at hand, what
// torch itself wrote of them.
#include "libtrace/exports.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "libtrace/key_averages.h"
#include "tb_backend/ingest/ingest.h"
#include "tests/handler/temporary_folder.h"
#include "tests/libtrace/averages/builder.h"
#include "tests/libtrace/model/generate.h"

namespace libtrace {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::Rows;

std::string read(const fs::path& path) {
  std::ostringstream out;
  out << std::ifstream(path, std::ios::binary).rdbuf();
  return out.str();
}

std::string read_gzip(const fs::path& path) {
  std::string out;
  gzFile file = gzopen(path.c_str(), "rb");
  char buffer[1 << 16];
  for (int n = 0; (n = gzread(file, buffer, sizeof buffer)) > 0;)
    out.append(buffer, static_cast<std::size_t>(n));
  gzclose(file);
  return out;
}

TracePtr small() {
  Rows r;
  r.flag("record_shapes").flag("profile_memory").flag("with_stack");
  r.text("Call stack", "b.py(2): g;a.py(1): f;").op("aten::mm", 10, 12);
  r.memory(11, 64).memory(12, 32).memory(20, -64);
  return r.finish();
}

TEST(Exports, StacksAreAFile) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "stacks.txt";
  const Status s = export_stacks(*small(), path, "self_cpu_time_total");
  EXPECT_TRUE(s.ok()) << s.message();
  EXPECT_EQ(read(path), "a.py(1):_f;b.py(2):_g 12\n");
  EXPECT_EQ(folder.names(), std::vector<std::string>{"stacks.txt"});
  EXPECT_THROW((void)export_stacks(*small(), path, "self_gpu_time"), std::invalid_argument);
}

TEST(Exports, TheSuffixPicksTheForm) {
  const TemporaryFolder folder;
  const auto write = [&](const char* name) {
    const Status s = export_memory_timeline(*small(), folder.path() / name);
    EXPECT_TRUE(s.ok()) << s.message();
    return folder.path() / name;
  };
  const json sizes = json::parse(read(write("memory.json")));
  EXPECT_EQ(sizes[0], (std::vector<int>{11, 12, 20}));
  EXPECT_EQ(sizes[1][1], (std::vector<int>{0, 0, 0, 0, 0, 0, 0, 0, 96}));
  EXPECT_EQ(json::parse(read_gzip(write("memory.json.gz"))), sizes);
  EXPECT_EQ(json::parse(read(write("memory"))), sizes);
  EXPECT_EQ(json::parse(read_gzip(write("memory.raw.json.gz")))[2],
            (std::vector<int>{20000, 4, -64, 7}));
  EXPECT_NE(read(write("memory.html")).find("<svg"), std::string::npos);
}

TEST(Exports, WhatCannotBeWrittenIsAnError) {
  const TemporaryFolder folder;
  EXPECT_FALSE(export_stacks(*small(), folder.path() / "none" / "x", "self_cpu_time_total").ok());
  EXPECT_FALSE(export_memory_timeline(*small(), folder.path() / "none" / "x.json.gz").ok());
  EXPECT_TRUE(folder.names().empty());
  EXPECT_THROW((void)export_memory_timeline(*Rows().op("x", 0, 1).finish(), folder.path() / "x"),
               std::invalid_argument);
  EXPECT_TRUE(folder.names().empty());
}

// A table is the same of a trace and of its file.
TEST(Exports, TablesOfAFileAreThoseOfTheTrace) {
  const TemporaryFolder folder;
  for (unsigned seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    const TracePtr trace = testing::Generator(seed).trace();
    const std::string path = folder.path() / "trace.json.gz";
    ASSERT_TRUE(export_chrome_trace(*trace, path).ok());
    const traceglass::IngestResult back = traceglass::ingest_file(path);
    ASSERT_FALSE(back.error);
    TableOptions all;
    all.row_limit = -1;
    EXPECT_EQ(key_averages(*trace).table(all), key_averages(*back.trace).table(all));
  }
}

// ---- what torch wrote -----------------------------------------------------------------------

fs::path runs() {
  const char* shared = std::getenv("TRACEGLASS_SHARED");
  const fs::path root =
      shared != nullptr ? fs::path(shared) : fs::path(TRACEGLASS_SOURCE_DIR) / ".." / "shared";
  return root / "fixtures" / "torch_2_15";
}

// A run's second cycle.
TracePtr load(const std::string& run) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(runs() / run)) {
    if (entry.path().string().find(".pt.trace.json.gz") != std::string::npos)
      files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  const traceglass::IngestResult result = traceglass::ingest_file(files.at(1));
  EXPECT_FALSE(result.error);
  return result.trace;
}

class TorchRuns : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (!fs::is_directory(runs() / GetParam())) GTEST_SKIP() << "no recorded runs at hand";
    trace_ = load(GetParam());
    ASSERT_NE(trace_, nullptr);
  }
  [[nodiscard]] fs::path oracle(const std::string& name) const {
    return runs() / GetParam() / "oracle" / ("cycle2." + name);
  }
  TracePtr trace_;
  TemporaryFolder folder_;
};

TEST_P(TorchRuns, StacksAreEqualLineByLine) {
  ASSERT_TRUE(export_stacks(*trace_, folder_.path() / "s", "self_cpu_time_total").ok());
  EXPECT_EQ(read(folder_.path() / "s"), read(oracle("stacks_self_cpu.txt")));
}

// Every allocation and release at its time and of its size. Not compared: what existed before
// (torch knows it from tensors in Python), in-place changes (no row of a trace tells), and
// categories of tensors whose role only Python knows.
TEST_P(TorchRuns, MemoryIsCreatedAndDestroyedAsTorchSaw) {
  ASSERT_TRUE(export_memory_timeline(*trace_, folder_.path() / "m.raw.json.gz", "cpu").ok());
  constexpr int kCreate = 2, kDestroy = 4, kUnknown = 7;
  const auto changes = [](const fs::path& path) {
    std::map<std::vector<std::int64_t>, int> out;
    for (const json& row : json::parse(read_gzip(path))) {
      if (row[1] == kCreate || row[1] == kDestroy) out[{row[0], row[1], row[2]}] = row[3];
    }
    return out;
  };
  const auto ours = changes(folder_.path() / "m.raw.json.gz");
  const auto theirs = changes(oracle("memory_timeline.raw.json.gz"));
  ASSERT_EQ(ours.size(), theirs.size());
  int told = 0, agreed = 0;
  for (auto a = ours.begin(), b = theirs.begin(); a != ours.end(); ++a, ++b) {
    ASSERT_EQ(a->first, b->first);
    if (a->second == kUnknown || b->second == kUnknown) continue;
    ++told;
    agreed += a->second == b->second;
  }
  EXPECT_GT(told, 500);
  EXPECT_GE(agreed, told * 93 / 100) << agreed << " of " << told;
}

// The sum over all categories, at every time of ours, up to what existed before.
TEST_P(TorchRuns, MemoryOverTimeDiffersByAConstant) {
  ASSERT_TRUE(export_memory_timeline(*trace_, folder_.path() / "m.json", "cpu").ok());
  const auto curve = [](const fs::path& path) {
    const json document = json::parse(read(path));
    std::map<std::int64_t, std::int64_t> out;
    for (std::size_t i = 0; i < document[0].size(); ++i) {
      std::int64_t sum = 0;
      for (const json& bytes : document[1][i]) sum += bytes.get<std::int64_t>();
      out[document[0][i]] = sum;
    }
    return out;
  };
  const auto ours = curve(folder_.path() / "m.json"),
             theirs = curve(oracle("memory_timeline.json"));
  ASSERT_FALSE(ours.empty());
  const std::int64_t before = theirs.begin()->second - ours.begin()->second;
  for (const auto& [at, bytes] : ours) {
    const auto it = theirs.find(at);
    ASSERT_NE(it, theirs.end()) << at;
    ASSERT_EQ(it->second - bytes, before) << at;
  }
}

INSTANTIATE_TEST_SUITE_P(Recorded, TorchRuns,
                         ::testing::Values("transformer_verbose", "resnet18_w0"));

}  // namespace
}  // namespace libtrace
