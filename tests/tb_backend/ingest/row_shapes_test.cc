// Reading by shape against the strict parser: whatever the bytes, what a shape reads the strict
// parser reads too, and as the same.
#include "tb_backend/ingest/row_shapes.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "tb_backend/ingest/inflate.h"

namespace traceglass {
namespace {

const std::string kRows[] = {
    R"({"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 10, "tid": 10, "ts": 120.5, "dur": 50, "args": {"External id": 2, "Input Dims": [[2, 3], [3, 4]], "Concrete Inputs": ["", "[1, 2]"], "finished": false, "note": null}})",
    "{\n    \"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"void gemm<float, 128>(float*)\",\n"
    "    \"pid\": 0, \"tid\": 7, \"ts\": 140.25, \"dur\": 33.003,\n    \"args\": {\n"
    "      \"correlation\": 7, \"occupancy %\": 31.5, \"id\": 18446744073709551615\n    }\n  }",
    R"({"ph":"X","cat":"Kernel","name":"k","pid":0,"tid":"stream 7","ts":1623143089861015,"dur":3,"args":{"external id":-5,"bandwidth":1e400}})",
    R"({"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": 10, "tid": 10, "ts": 125, "args": {"Addr": 140000, "Bytes": -512}})",
    R"({"ph": "s", "id": 7, "pid": 10, "tid": 10, "ts": 130, "cat": "ac2g", "name": "ac2g", "bp": true})",
    R"({"name": "aten::mul", "ph": "X", "ts": 633, "dur": 54, "tid": 1, "pid": "CPU functions", "args": {}})",
    R"({"ph": "E", "ts": 710, "tid": 1, "pid": 2})",
};

struct Keep : EventSink {
  bool event(RawEvent& e) override {
    event_text = text(e);
    return true;
  }
  static std::string text(const RawEvent& e) {
    std::string out;
    for (const std::string_view field : {e.ph, e.name, e.cat, e.pid, e.tid, e.ts, e.dur, e.id}) {
      out += field.data() == nullptr ? "absent" : "'" + std::string(field) + "'";
      out += ' ';
    }
    for (const auto& [key, v] : e.args) {
      out += std::string(key) + "=" + std::to_string(static_cast<int>(v.type)) + ":";
      const bool words =
          v.type == libtrace::Value::Type::kString || v.type == libtrace::Value::Type::kJson;
      out += words ? std::string(v.text) : std::to_string(v.u);  // all numbers share their bits
      out += ' ';
    }
    return out + (e.repaired ? "repaired" : "");
  }
  std::string event_text;
};

class Readers {
 public:
  // Teaches the shape of a row that the strict parser takes; false: it does not.
  bool learn(const std::string& row) {
    if (!strict(row)) return false;
    shapes_.learn(row);
    return true;
  }
  // Whether a shape reads the row that `text` begins with; compares what it reads.
  bool agree(const std::string& text) {
    const std::string padded = text + std::string(Tokenizer::kPadding, '"');
    RawEvent event;
    const char* behind = shapes_.read(padded.data(), padded.data() + text.size(), event);
    if (behind == nullptr) return false;
    const std::string row = text.substr(0, static_cast<std::size_t>(behind - padded.data()));
    EXPECT_TRUE(strict(row)) << row;
    EXPECT_EQ(keep_.event_text, Keep::text(event)) << row;
    return true;
  }

 private:
  bool strict(const std::string& row) {
    const std::string padded = row + std::string(Tokenizer::kPadding, ' ');
    keep_.event_text.clear();
    return tokenizer_.row(padded.data(), row.size(), keep_);
  }

  RowShapes shapes_;
  Tokenizer tokenizer_;
  Keep keep_;
};

TEST(RowShapes, ReadRowsOfAShapeSeenBefore) {
  Readers readers;
  for (const std::string& row : kRows) {
    EXPECT_FALSE(readers.agree(row)) << "not seen yet";
    ASSERT_TRUE(readers.learn(row));
    EXPECT_TRUE(readers.agree(row)) << row;
  }
  for (const std::string& row : kRows) EXPECT_TRUE(readers.agree(row + ", {")) << row;
}

TEST(RowShapes, LeaveToTheStrictParserWhatNeedsCare) {
  Readers readers;
  const auto row = [](const std::string& name, const std::string& value) {
    return R"({"ph": "X", "ts": 1, "dur": 2, "name": ")" + name + R"(", "args": {"a": )" + value +
           "}}";
  };
  ASSERT_TRUE(readers.learn(row("plain", "1")));
  EXPECT_TRUE(readers.agree(row("other", "-23")));
  for (const char* name : {"a\\\"b", "\\u00e9", "\xC3\xA9", "\xFF", "tab\there", "\x01"}) {
    EXPECT_FALSE(readers.agree(row(name, "1"))) << name;
  }
  for (const char* value :
       {"{}", "\"1\"", "[1]", "tru", "1 2", "1,", "--1", "\"", "", "+1", ".5"}) {
    EXPECT_FALSE(readers.agree(row("n", value))) << value;
  }
}

TEST(RowShapes, ManyShapesOfWhichEachComesSeldom) {
  Readers readers;
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 200; ++i) {
      const std::string row = R"({"ph": "X", "ts": 1, "dur": 2, "name": "n", "args": {"k)" +
                              std::to_string(i) + R"(": 5}})";
      if (readers.agree(row)) continue;
      ASSERT_TRUE(readers.learn(row));
    }
  }
}

TEST(RowShapes, AgreeWithTheStrictParserOnDamagedRows) {
  std::mt19937 random(3);
  const auto below = [&](std::size_t n) {
    return std::uniform_int_distribution<std::size_t>(0, n - 1)(random);
  };
  Readers readers;
  for (const std::string& row : kRows) ASSERT_TRUE(readers.learn(row));
  constexpr char kBytes[] = "\"\\{}[]:,0-.eE\n\0\x80\xFFnN/ \x01+tru1";
  int taken = 0;
  for (int i = 0; i < 60'000; ++i) {
    std::string text = kRows[below(std::size(kRows))];
    for (std::size_t n = below(3); n > 0; --n) {
      const std::size_t at = below(text.size());
      switch (below(4)) {
        case 0:
          text[at] = kBytes[below(sizeof kBytes - 1)];
          break;
        case 1:
          text.erase(at, 1 + below(6));
          break;
        case 2:
          text.insert(at, 1, kBytes[below(sizeof kBytes - 1)]);
          break;
        default:
          text.insert(at, text.substr(below(text.size()), below(30)));
          break;
      }
      if (text.empty()) text = "{";
    }
    taken += readers.agree(text) ? 1 : 0;
    if (::testing::Test::HasFailure()) return;
    if (i % 16 == 0) readers.learn(text);
  }
  EXPECT_GT(taken, 10'000);
}

// Every row of real traces, where they are present.
TEST(RowShapes, AgreeWithTheStrictParserOnRealTraces) {
  const char* given = std::getenv("TRACEGLASS_SHARED");
  const std::filesystem::path shared =
      given != nullptr ? std::filesystem::path(given)
                       : std::filesystem::path(TRACEGLASS_SOURCE_DIR) / ".." / "shared";
  std::error_code none;
  if (!std::filesystem::is_directory(shared / "fixtures", none)) GTEST_SKIP() << "none here";
  std::size_t rows = 0, taken = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(shared / "fixtures")) {
    const std::string name = entry.path().filename().string();
    if (name.find(".json") == std::string::npos) continue;
    std::vector<char> bytes;
    TextStream stream(entry.path(), nullptr);
    while (bytes.size() < (std::size_t{6} << 20) && stream.read(bytes)) {
    }
    const std::string_view text(bytes.data(), bytes.size());
    Readers readers;
    std::size_t at = text.find("\"traceEvents\"");
    while (at != std::string_view::npos && (at = text.find('{', at)) != std::string_view::npos) {
      const std::size_t n = object_end(text.substr(at, 1 << 16));
      if (n == 0) break;
      const std::string row(text.substr(at, n));
      ++rows;
      if (readers.agree(row)) {
        ++taken;
      } else {
        readers.learn(row);
      }
      if (::testing::Test::HasFailure()) FAIL() << entry.path();
      at += n;
    }
  }
  EXPECT_GT(taken, rows * 8 / 10) << rows;
}

}  // namespace
}  // namespace traceglass
