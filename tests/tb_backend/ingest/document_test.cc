// Whole documents: shapes, cuts, repairs, foreign files; each also in tiny pieces.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/tb_backend/ingest/pieces.h"

namespace traceglass {
namespace {

using libtrace::Trace;
using testing::ingest_string;

std::string slice(const std::string& name, int ts, const std::string& args = "{}") {
  return R"({"ph": "X", "cat": "cpu_op", "name": ")" + name + R"(", "pid": 1, "tid": 1, "ts": )" +
         std::to_string(ts) + R"(, "dur": 5, "args": )" + args + "}";
}
std::string document(const std::string& rows) {
  return R"({"schemaVersion": 1, "baseTimeNanoseconds": 1000, "traceEvents": [)" + rows + "]}";
}
std::vector<std::string> names(const Trace& t) {
  std::vector<std::string> out;
  for (libtrace::EventId e = 0; e < t.size(); ++e) out.emplace_back(t.name(e));
  return out;
}

// What a row of trace_format's list of malformed input must come to.
struct Malformed {
  const char* what;
  std::string text;
  std::vector<std::string> names;
  std::int64_t repaired = 0, skipped = 0, missing = 0, incomplete = 0;
};

class MalformedTest : public ::testing::TestWithParam<Malformed> {};

TEST_P(MalformedTest, ComesToTheSameInAnyPieces) {
  const Malformed& m = GetParam();
  for (const std::size_t piece : {std::size_t{1} << 20, std::size_t{1}, std::size_t{7}}) {
    SCOPED_TRACE(piece);
    const IngestResult r = ingest_string(m.text, piece);
    ASSERT_TRUE(r.trace) << r.error->message;
    EXPECT_EQ(names(*r.trace), m.names);
    const libtrace::Report& report = r.trace->report();
    EXPECT_EQ(report.count("repaired"), m.repaired);
    EXPECT_EQ(report.count("skipped"), m.skipped);
    EXPECT_EQ(report.count("missing_value"), m.missing);
    EXPECT_EQ(report.count("incomplete"), m.incomplete);
  }
}

std::string with_first(const std::string& row) {
  return document(slice("first", 1) + ",\n" + row + ",\n" + slice("last", 99));
}

INSTANTIATE_TEST_SUITE_P(
    Wild, MalformedTest,
    ::testing::Values(
        Malformed{"valid", with_first(slice("a", 2)), {"first", "a", "last"}},
        Malformed{"inf",
                  with_first(slice("a", 2, R"j({"memory bandwidth (GB/s)": inf})j")),
                  {"first", "a", "last"},
                  0,
                  0,
                  1},
        Malformed{"bare N/A",
                  with_first(slice("a", 2, R"({"x": N/A, "y": -nan(ind)})")),
                  {"first", "a", "last"},
                  0,
                  0,
                  2},
        Malformed{"raw backslashes",
                  with_first(slice(R"(torch\cuda\__init__.py(2): f)", 2)),
                  {"first", R"(torch\cuda\__init__.py(2): f)", "last"},
                  1},
        Malformed{"path escapes that are valid",
                  with_first(slice(R"(D:\new\b\r.py(7): g)", 2)),
                  {"first", R"(D:\new\b\r.py(7): g)", "last"},
                  1},
        Malformed{"escapes behind a path",
                  with_first(slice(R"(a.py(7): \"x\"\n)", 2)),
                  {"first", "a.py(7): \"x\"\n", "last"}},
        Malformed{"quotes",
                  with_first(slice(R"(Library("_t", "IMPL")(1): m)", 2)),
                  {"first", R"(Library("_t", "IMPL")(1): m)", "last"},
                  1},
        Malformed{"a dict in a name",
                  with_first(slice(R"({"device": "cpu", "dtype": "f"}(12): run)", 2)),
                  {"first", R"({"device": "cpu", "dtype": "f"}(12): run)", "last"},
                  1},
        Malformed{
            "raw newline", with_first(slice("two\nlines", 2)), {"first", "two\nlines", "last"}, 1},
        Malformed{"bad bytes",
                  with_first(slice("config.py(0): \x80\xff", 2)),
                  {"first", "config.py(0): \xEF\xBF\xBD\xEF\xBF\xBD", "last"},
                  1},
        Malformed{"stray commas",
                  with_first(slice("a", 2, R"({"x": 1, , "y": 2, })")),
                  {"first", "a", "last"},
                  1},
        Malformed{"an empty value",
                  with_first(slice("a", 2, R"({"x": , "y": 2})")),
                  {"first", "a", "last"},
                  1},
        Malformed{"half a surrogate pair",
                  with_first(slice(R"(a\ud800b)", 2)),
                  {"first",
                   "a\xEF\xBF\xBD"
                   "b",
                   "last"},
                  1},
        Malformed{"the other half, in an argument",
                  with_first(slice("a", 2, R"({"x": "\udc00", "y": "\ud83d\ude80"})")),
                  {"first", "a", "last"},
                  1},
        Malformed{"no comma between rows",
                  document(slice("a", 1) + "\n" + slice("b", 2) + slice("c", 3)),
                  {"a", "b", "c"},
                  2},
        Malformed{"two commas between rows",
                  document(slice("a", 1) + ",\n," + slice("b", 2) + "," + slice("c", 3)),
                  {"a", "b", "c"},
                  1},
        Malformed{"a comma before the first row", document("," + slice("a", 1)), {"a"}, 1},
        Malformed{"trailing comma behind the last row", document(slice("a", 1) + ","), {"a"}},
        Malformed{"negative decimals",
                  document(R"({"ph":"X","name":"a","cat":"cpu_op","ts": -3.-456,"dur": 0.5})"),
                  {"a"},
                  1},
        Malformed{
            "a duplicate key", document(slice("a", 1, R"({"stream": 7, "stream": "x"})")), {"a"}},
        Malformed{"no object", with_first("17, null, \"x\""), {"first", "last"}, 0, 3},
        Malformed{"no duration",
                  with_first(R"({"ph": "X", "name": "a", "ts": 5})"),
                  {"first", "last"},
                  0,
                  1},
        Malformed{"no phase", with_first(R"({"name": "a", "ts": 5})"), {"first", "last"}, 0, 1},
        Malformed{"a colon missing",
                  with_first(R"({"ph": "X", "name" "a", "ts": 5, "dur": 1})"),
                  {"first", "last"},
                  0,
                  1},
        Malformed{"cut in a name",
                  document(slice("a", 1) + ", " + slice("b", 2)).substr(0, 190),
                  {"a"},
                  0,
                  0,
                  0,
                  1},
        Malformed{"cut behind a row",
                  document(slice("a", 1)).substr(0, document(slice("a", 1)).size() - 2),
                  {"a"},
                  0,
                  0,
                  0,
                  1},
        Malformed{"no rows yet", R"({"schemaVersion": 1, "deviceProp)", {}, 0, 0, 0, 1},
        Malformed{
            "a quoted number", document(R"({"ph":"X","name":"a","ts":"5.5","dur":"1"})"), {"a"}},
        Malformed{"an empty profile", document(""), {}},
        Malformed{"quotes in metadata",
                  "{\"note\": \"a /\"quoted/\" value\",\n\"traceEvents\": [" + slice("a", 1) + "]}",
                  {"a"},
                  1},
        Malformed{"keys behind the rows",
                  "{\"traceEvents\": [" + slice("a", 1) +
                      R"(], "traceName": "x", "distributedInfo": {"rank": 3}, "b": [{}, {}]})",
                  {"a"}},
        Malformed{"a legacy array without an end", "[" + slice("a", 1) + ",\n", {"a"}},
        Malformed{"an empty legacy array", "[]", {}}, Malformed{"only a bracket", "[", {}}),
    [](const auto& info) {
      std::string name;
      for (const char c : std::string(info.param.what)) {
        if (std::isalnum(static_cast<unsigned char>(c)) != 0) name += c;
      }
      return name;
    });

TEST(Document, EveryCutKeepsTheRowsBeforeIt) {
  const std::string whole = document(slice("a", 1, R"({"x": [1, {"y": "z"}]})") + ", " +
                                     slice("b", 2) + ", " + slice("c", 3));
  for (std::size_t n = 1; n < whole.size(); ++n) {
    const IngestResult r = ingest_string(whole.substr(0, n), 16);
    ASSERT_TRUE(r.trace) << n << ": " << r.error->message;
    EXPECT_EQ(r.trace->report().count("incomplete"), 1) << n;
    EXPECT_EQ(r.trace->report().count("skipped"), 0) << n;
    for (const std::string& name : names(*r.trace))
      EXPECT_THAT(name, ::testing::AnyOf("a", "b", "c"));
  }
}

TEST(Document, ManyRowsInAnyPiecesAreTheSame) {
  std::string rows;
  for (int i = 1; i <= 3000; ++i) {
    rows += (i > 1 ? ",\n  " : "") +
            slice("op" + std::to_string(i % 7) + (i % 500 == 0 ? "\\d" : ""), i,
                  R"({"External id": )" + std::to_string(i) + R"(, "o": {"p": [{}, {}]}})");
  }
  const std::string text = document(rows);
  const IngestResult whole = ingest_string(text);
  ASSERT_EQ(whole.trace->size(), 3000U);
  for (const std::size_t piece : {1000U, 4096U, 65537U}) {
    const IngestResult r = ingest_string(text, piece);
    EXPECT_EQ(libtrace::difference(*whole.trace, *r.trace), "");
    EXPECT_EQ(whole.trace->report(), r.trace->report());
  }
}

struct Foreign {
  std::string text, code, part;
};
class ForeignTest : public ::testing::TestWithParam<Foreign> {};
TEST_P(ForeignTest, IsNamedForWhatItIs) {
  const IngestResult r = ingest_string(GetParam().text);
  ASSERT_TRUE(r.error);
  EXPECT_EQ(r.error->code, GetParam().code);
  EXPECT_THAT(r.error->message, ::testing::HasSubstr(GetParam().part));
}
INSTANTIATE_TEST_SUITE_P(
    Files, ForeignTest,
    ::testing::Values(Foreign{"", "empty", "empty"}, Foreign{" \n\t ", "empty", "empty"},
                      Foreign{R"({"schema": "1.0.1", "nodes": []})", "not_a_trace", "execution"},
                      Foreign{R"({"a": 1})", "not_a_trace", "traceEvents"},
                      Foreign{"[[1, 2], [3]]", "not_a_trace", "array of arrays"},
                      Foreign{R"([{"key": "x"}])", "not_a_trace", "other things"},
                      Foreign{"\x80\x04\x95", "not_a_trace", "pickle"},
                      Foreign{std::string("\xFF\xFE{\0", 4), "not_a_trace", "UTF-16"},
                      Foreign{std::string("{\0\"\0a\0", 6), "not_a_trace", "UTF-16"},
                      Foreign{std::string("\0{\0\n\0\"", 6), "not_a_trace", "UTF-16"},
                      Foreign{"<html>", "not_a_trace", "web page"},
                      Foreign{std::string("\x0A*@\x80\xA8\x01\x02", 7), "broken", "no packet"},
                      Foreign{R"({"base": 17{"x": 1}, "traceEvents": []})", "broken", "byte 11"},
                      Foreign{"\x1F\x8B\x08", "not_a_trace", "compressed twice"},
                      Foreign{"version https://git-lfs.github.com/spec/v1\n", "not_a_trace", "LFS"},
                      Foreign{R"({"traceEvents": 5})", "broken", "not an array"},
                      Foreign{R"({"traceEvents": null})", "broken", "not an array"}));

TEST(Document, CountsTheDocumentsOfAFile) {
  const std::string one = document(slice("a", 1));
  const IngestResult r = ingest_string(one + "\n" + one + one, 10);
  ASSERT_TRUE(r.trace);
  EXPECT_EQ(r.trace->size(), 1U);
  EXPECT_EQ(r.trace->report().count("documents"), 3);
}

TEST(Document, DeepNestingAndLongNamesAreKept) {
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  const IngestResult r = ingest_string(with_first(slice("a", 2, R"({"x": )" + deep + "}")), 4096);
  ASSERT_TRUE(r.trace);
  EXPECT_EQ(names(*r.trace), (std::vector<std::string>{"first", "a", "last"}));
  // Broken as well, it costs itself: the tolerant path follows no nesting that deep.
  const IngestResult bad =
      ingest_string(with_first(slice("a", 2, R"({"y": inf, "x": )" + deep + "}")), 4096);
  EXPECT_EQ(names(*bad.trace), (std::vector<std::string>{"first", "last"}));
  EXPECT_EQ(bad.trace->report().count("skipped"), 1);
  const std::string name(3 << 20, 'n');
  EXPECT_EQ(ingest_string(with_first(slice(name, 2))).trace->size(), 3U);
}

TEST(Document, AKeyMayHoldAQuote) {
  for (const std::size_t piece : {std::size_t{1} << 20, std::size_t{1}}) {
    const IngestResult r =
        ingest_string(R"({"say \"hi\" \u00e9": 1, "traceEvents": [)" + slice("a", 1) + "]}", piece);
    ASSERT_TRUE(r.trace) << r.error->message;
    ASSERT_EQ(r.trace->metadata().size(), 1U);
    EXPECT_EQ(r.trace->metadata()[0].first, "say \"hi\" \u00e9");
  }
}

TEST(Document, AKeyWithAQuoteBehindATextIsValid) {
  for (const std::size_t piece : {std::size_t{1} << 20, std::size_t{1}}) {
    const IngestResult r = ingest_string(
        R"({"host": "vm", "\"q\" \\": "v", "traceEvents": [)" + slice("a", 1) + "]}", piece);
    ASSERT_TRUE(r.trace) << r.error->message;
    EXPECT_EQ(r.trace->report().entries(), std::vector<libtrace::ReportEntry>());
    const libtrace::Trace::Metadata wanted = {{"host", "\"vm\""}, {"\"q\" \\", "\"v\""}};
    EXPECT_EQ(r.trace->metadata(), wanted);
  }
}

TEST(Document, WhatTheRecorderLostIsReported) {
  const IngestResult r = ingest_string(
      R"({"dropped_events": 7, "dropped_traces": 3, "traceEvents": [)" + slice("a", 1) + "]}");
  ASSERT_TRUE(r.trace) << r.error->message;
  EXPECT_EQ(r.trace->report().count("dropped_by_recorder"), 7);
  EXPECT_EQ(r.trace->report().count("dropped_traces"), 3);
}

TEST(Document, RowsWithoutCommasCostNoMoreThanOthers) {
  std::string rows;
  for (int i = 0; i < 60'000; ++i) rows += slice("a", i) + '\n';  // quadratic: minutes
  const IngestResult r = ingest_string(document(rows));
  ASSERT_TRUE(r.trace);
  EXPECT_EQ(r.trace->size(), 60'000U);
  std::string lists = "{";  // the same list of rows, again and again
  for (int i = 0; i < 60'000; ++i) lists += R"("traceEvents": [)" + slice("a", i) + "],";
  EXPECT_EQ(ingest_string(lists + R"("end": 1})").trace->size(), 60'000U);
}

TEST(Document, RowsBrokenBeyondRepairDoNotHoldTheReader) {
  // Each row makes the tolerant path look far ahead for nothing: a minute and more, unbounded.
  for (const std::string row :
       {R"({"ph":[1,)", R"({"ph":"a"x,)", R"({"ph":"X","name":"a" "b","ts":1,)",
        R"({"ph":"X","args":{"x":"a"x"y","q" },)"}) {
    SCOPED_TRACE(row);
    std::string rows = slice("first", 1) + ",";
    for (int i = 0; i < 100'000; ++i) rows += row;
    const IngestResult r = ingest_string(document(rows + slice("last", 2)));
    ASSERT_TRUE(r.trace);
    EXPECT_EQ(r.trace->name(0), "first");
    EXPECT_GT(r.trace->report().count("skipped") + r.trace->report().count("incomplete"), 0);
  }
  std::string long_row = R"({"ph":"X","ts":1,"dur":2,"x":inf,)";
  for (int i = 0; i < 100'000; ++i) long_row += R"("name":"a","z":1,)";
  EXPECT_TRUE(ingest_string(document(long_row + R"("pid":1})")).trace);
}

TEST(Document, ReadsRankAndDevicesWhereverTheyStand) {
  const IngestResult r = ingest_string(
      R"({"traceEvents": [], "distributedInfo": {"backend": "nccl", "rank": 3, "world_size": 8},
          "deviceProperties": [{"id": 1, "name": "G", "totalGlobalMem": 5, "numSms": 80}]})");
  EXPECT_EQ(r.trace->rank(), 3);
  EXPECT_FALSE(r.trace->rank_guessed());
  EXPECT_EQ(r.trace->world_size(), 8);
  ASSERT_EQ(r.trace->devices().size(), 1U);
  EXPECT_EQ(r.trace->devices()[0].id, 1);
  EXPECT_EQ(r.trace->devices()[0].sm_count, 80);
  EXPECT_EQ(ingest_string("[]", 9, "x_rank-12.json").trace->rank(), 12);
  EXPECT_EQ(ingest_string("[]", 9, "prank.json").trace->rank(), std::nullopt);
}

TEST(Document, TimesBeyondTheBoundAreSaidToBe) {
  std::string text = document(slice("near", 1) + "," + slice("far", 2));
  text.replace(text.find("\"ts\": 2"), 7, "\"ts\": 1e25");
  const IngestResult r = ingest_string(text);
  ASSERT_TRUE(r.trace);
  const libtrace::ReportEntry* entry = r.trace->report().find("far_time");
  ASSERT_NE(entry, nullptr);
  EXPECT_EQ(entry->count, 1);
  EXPECT_THAT(entry->first, ::testing::ElementsAre("far"));
}

TEST(Document, APlaceOfTheReportIsText) {
  std::string text = document(slice(std::string(119, 'x') + "ö and more of it", 2));
  text.replace(text.find("\"ts\": 2"), 7, "\"ts\": 1e25");
  const IngestResult r = ingest_string(text);
  ASSERT_TRUE(r.trace);
  const libtrace::ReportEntry* entry = r.trace->report().find("far_time");
  ASSERT_NE(entry, nullptr);
  EXPECT_THAT(entry->first, ::testing::ElementsAre(std::string(119, 'x')));
}

TEST(Document, AMissingFileIsUnreadable) {
  EXPECT_EQ(ingest_file("/no/such/file.json").error->code, "unreadable");
  EXPECT_EQ(ingest_file("/").error->code, "unreadable");
}

}  // namespace
}  // namespace traceglass
