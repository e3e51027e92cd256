// Files as streams of text: plain, gzip of several members, cut, damaged, and what is no file.
#include "tb_backend/ingest/inflate.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <zlib.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <utility>

#include "tb_backend/ingest/ingest.h"
#include "tests/tb_backend/logdir/temp_dir.h"

namespace traceglass {
namespace {

using End = TextSource::End;

std::string gzip(const std::string& text) {
  z_stream stream{};
  deflateInit2(&stream, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, static_cast<uLong>(text.size())) + 32, '\0');
  std::string in = text;
  stream.next_in = reinterpret_cast<Bytef*>(in.data());
  stream.avail_in = static_cast<uInt>(in.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

// Several blocks of text, and of file when compressed.
std::string long_text() {
  std::mt19937 random(1);
  std::string text(6'000'000, '\0');
  for (char& c : text) c = static_cast<char>('a' + random() % 26);
  return text;
}

class InflateTest : public ::testing::Test {
 protected:
  std::filesystem::path file(const std::string& bytes) {
    const auto path = folder_.path() / "w.pt.trace.json.gz";
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }

  struct Outcome {
    std::string text;
    End end;
    std::uint64_t bytes_read;
  };
  Outcome read(const std::string& bytes) {
    std::atomic<std::uint64_t> bytes_read{0};
    TextStream stream(file(bytes), &bytes_read);
    std::vector<char> text;
    while (stream.read(text)) {
    }
    EXPECT_EQ(stream.error().empty(), stream.end() == End::kOk);
    return {{text.begin(), text.end()}, stream.end(), bytes_read};
  }

  testing::TempDir folder_;
};

TEST_F(InflateTest, PlainAndGzipGiveTheSameText) {
  const std::string text = long_text();
  for (const std::string& bytes : {text, gzip(text)}) {
    const Outcome r = read(bytes);
    EXPECT_TRUE(r.text == text);
    EXPECT_EQ(r.end, End::kOk);
    EXPECT_EQ(r.bytes_read, bytes.size());
  }
  EXPECT_EQ(read("").text, "");
}

TEST_F(InflateTest, MembersFollowOneAnother) {
  const std::string text = long_text();
  const std::string padding(700, '\0');
  const Outcome r = read(gzip("first ") + gzip("") + padding + gzip(text) + gzip(" last"));
  EXPECT_TRUE(r.text == "first " + text + " last");
  EXPECT_EQ(r.end, End::kOk);
}

TEST_F(InflateTest, WhatIsNoMemberBehindOneIsLeftOutAndSaid) {
  for (const char* behind : {"rubbish", "\n", "{}"}) {
    const Outcome r = read(gzip("text") + behind);
    EXPECT_EQ(r.text, "text");
    EXPECT_EQ(r.end, End::kBehind);
  }
  const std::string text = R"({"traceEvents": [{"ph": "X", "name": "a", "ts": 1, "dur": 2}]})";
  const IngestResult r = ingest_file(file(gzip(text) + "rubbish"));
  ASSERT_TRUE(r.trace);
  EXPECT_EQ(r.trace->size(), 1U);
  EXPECT_EQ(r.trace->report().count("incomplete"), 0);
  const libtrace::ReportEntry* entry = r.trace->report().find("repaired");
  ASSERT_NE(entry, nullptr);
  EXPECT_NE(entry->message.find("no gzip"), std::string::npos);
}

TEST_F(InflateTest, ACutKeepsTheTextBeforeIt) {
  const std::string text = long_text();
  const std::string whole = gzip(text);
  for (const std::size_t size : {whole.size() / 2, whole.size() - 9, whole.size() - 1}) {
    const Outcome r = read(whole.substr(0, size));
    EXPECT_EQ(r.end, End::kCut) << size;
    EXPECT_GT(r.text.size(), text.size() / 3);
    EXPECT_TRUE(text.starts_with(r.text));
  }
  const std::string small = gzip("a few words");
  for (std::size_t size = 2; size < small.size(); ++size) {
    EXPECT_EQ(read(small.substr(0, size)).end, End::kCut) << size;
  }
}

TEST_F(InflateTest, DamageIsNoCut) {
  const std::string text = R"({"traceEvents": [{"ph": "X", "name": "a", "ts": 1, "dur": 2}]})";
  std::string wrong_sum = gzip(text);
  wrong_sum[wrong_sum.size() - 8] = static_cast<char>(~wrong_sum[wrong_sum.size() - 8]);
  EXPECT_EQ(read(wrong_sum).end, End::kChecksum);
  const IngestResult r = ingest_file(file(wrong_sum));
  ASSERT_TRUE(r.trace);
  EXPECT_EQ(r.trace->size(), 1U);
  EXPECT_EQ(r.trace->report().count("checksum"), 1);
  EXPECT_EQ(r.trace->report().count("incomplete"), 0);
  // What follows a member with a wrong sum is read too.
  const Outcome two = read(wrong_sum + gzip("behind"));
  EXPECT_EQ(two.text, text + "behind");
  EXPECT_EQ(two.end, End::kChecksum);

  std::string bad_block = gzip(text);
  bad_block[10] = '\x07';  // a type of block that does not exist
  EXPECT_EQ(read(bad_block).end, End::kDamaged);
  EXPECT_EQ(ingest_file(file(bad_block)).error->code, "broken");
}

TEST_F(InflateTest, AFileThatIsWrittenToMeanwhileIsSaidToBe) {
  const auto path = file(R"({"traceEvents": [{"ph": "X", "name": "a", "ts": 1, "dur": 2})");
  TextStream stream(path, nullptr);
  EXPECT_FALSE(stream.changed());
  std::ofstream(path, std::ios::app) << "]}";
  EXPECT_TRUE(stream.changed());
  IngestProgress progress;
  const IngestResult r = ingest_text(stream, "a.json", progress);
  ASSERT_TRUE(r.trace);
  EXPECT_EQ(r.trace->report().count("changed"), 1);
  EXPECT_EQ(ingest_file(path).trace->report().count("changed"), 0);
}

TEST_F(InflateTest, AFileThatIsReplacedMeanwhileIsReadAsItWas) {
  const std::string text = R"({"traceEvents": [{"ph": "X", "name": "a", "ts": 1, "dur": 2}]})";
  const auto path = file(text);
  TextStream stream(path, nullptr);
  std::ofstream(path.string() + ".new") << "{}";
  std::filesystem::rename(path.string() + ".new", path);
  std::vector<char> read;
  while (stream.read(read)) {
  }
  EXPECT_EQ(std::string(read.begin(), read.end()), text);
  EXPECT_FALSE(stream.changed());
}

TEST_F(InflateTest, ANamedPipeDoesNotHang) {
  const auto path = folder_.path() / "pipe.json";
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  TextStream stream(path, nullptr);
  std::vector<char> text;
  EXPECT_FALSE(stream.read(text));
  EXPECT_EQ(stream.end(), End::kUnreadable);
}

TEST_F(InflateTest, AReaderMayLeaveBeforeTheEnd) {
  const auto path = file(gzip(long_text()));
  TextStream unread(path, nullptr);
  TextStream begun(path, nullptr);
  std::vector<char> text;
  EXPECT_TRUE(begun.read(text));
}

}  // namespace
}  // namespace traceglass
