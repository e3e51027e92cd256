// Trace → file on demand: repeatable, compressed by suffix, whole or not at all.
#include "libtrace/exports.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "handler/local_path.h"
#include "libtrace/trace_builder.h"
#include "tests/handler/temporary_folder.h"

namespace libtrace {
namespace {

namespace fs = std::filesystem;

TracePtr one_slice() {
  TraceBuilder b;
  TraceBuilder::Row row;
  row.dur = 1500;
  row.name = b.intern("a \"name\"");
  row.category = b.intern("cpu_op");
  row.pid = row.tid = b.intern("7");
  b.set_base_unix_ns(0);
  b.add_slice(row);
  return b.finish();
}

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(Export, WritesTheSameFileAsOftenAsWanted) {
  const TemporaryFolder folder;
  const TracePtr trace = one_slice();
  const fs::path path = folder.path() / "trace.json";
  ASSERT_TRUE(export_chrome_trace(*trace, path.string()).ok());
  const std::string first = read_file(path);
  EXPECT_EQ(nlohmann::json::parse(first).at("traceEvents").at(0).at("name"), "a \"name\"");
  ASSERT_TRUE(export_chrome_trace(*trace, path.string()).ok());
  EXPECT_EQ(read_file(path), first);
  EXPECT_EQ(folder.names().size(), 1U);
}

TEST(Export, TheSuffixDecidesOnCompression) {
  const TemporaryFolder folder;
  ASSERT_TRUE(export_chrome_trace(*one_slice(), (folder.path() / "trace.json.gz").string()).ok());
  EXPECT_TRUE(read_file(folder.path() / "trace.json.gz").starts_with("\x1F\x8B"));
}

TEST(Export, ToTensorBoard) {
  const TemporaryFolder folder;
  ASSERT_TRUE(export_to_tensorboard(*one_slice(), (folder.path() / "logs").string()).ok());
  int files = 0;
  for (const auto& entry : fs::directory_iterator(folder.path() / "logs")) {
    EXPECT_TRUE(entry.path().string().ends_with(".pt.trace.json")) << entry.path();
    EXPECT_NE(entry.path().string().find("_" + std::to_string(getpid()) + "."), std::string::npos);
    ++files;
  }
  EXPECT_EQ(files, 1);
}

TEST(Export, ErrorsAreToldAndLeaveNothing) {
  const TemporaryFolder folder;
  const TracePtr trace = one_slice();
  EXPECT_EQ(export_chrome_trace(*trace, "s3://bucket/trace.json").code(),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(export_chrome_trace(*trace, "").code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(export_to_tensorboard(*trace, "s3://bucket").code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(export_chrome_trace(*trace, (folder.path() / "missing" / "t.json").string()).code(),
            StatusCode::kIoError);
  EXPECT_EQ(export_chrome_trace(*trace, folder.path().string()).code(), StatusCode::kIoError)
      << "a folder of that name is there";
  std::ofstream(folder.path() / "file") << "x";
  EXPECT_EQ(export_to_tensorboard(*trace, (folder.path() / "file").string()).code(),
            StatusCode::kIoError);
  EXPECT_EQ(folder.names(), std::vector<std::string>{"file"});
  if (geteuid() != 0) {  // nothing is unwritable to root
    chmod(folder.path().c_str(), 0500);
    EXPECT_EQ(export_chrome_trace(*trace, (folder.path() / "t.json").string()).code(),
              StatusCode::kIoError);
    chmod(folder.path().c_str(), 0700);
  }
}

TEST(Export, LocalPaths) {
  for (const char* const path : {"a", "/tmp/x", "a:b", "C:/x", "://x", "a b://c", "./s3://x"}) {
    EXPECT_TRUE(check_local_path(path).ok()) << path;
  }
  EXPECT_FALSE(check_local_path("hdfs://x").ok());
  EXPECT_FALSE(check_local_path(std::string("a\0b", 3)).ok());
}

}  // namespace
}  // namespace libtrace
