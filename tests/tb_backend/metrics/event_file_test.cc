// What is read of an event file: frames, growth, damage, values in each of their forms.
#include "tb_backend/metrics/event_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <random>

#include "handler/event_file_writer.h"
#include "tests/tb_backend/logdir/temp_dir.h"
#include "tests/tb_backend/metrics/event_bytes.h"

namespace traceglass {
namespace {

using ::testing::ElementsAre;
using testing::event;
using testing::field;
using testing::plugin;
using testing::record;
using testing::scalar;
using testing::summary;
using testing::TempDir;
using testing::tensor;

std::filesystem::path write(const TempDir& folder, const std::string& bytes) {
  const auto path = folder.path() / "events.out.tfevents.1";
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

std::vector<double> values(const TagPoints& tag) {
  std::vector<double> out;
  for (const MetricPoint& p : tag.points) out.push_back(p.value);
  return out;
}

EventFile read(const TempDir& folder, const std::string& bytes, MetricLimits limits = {}) {
  EventFile file(write(folder, bytes), limits);
  file.read_on();
  return file;
}

// ten steps of two tags
std::string ten_steps() {
  std::string out = testing::version(1000);
  for (int i = 0; i < 10; ++i) {
    out += scalar(1000 + i, i, "loss", static_cast<float>(10 - i));
    out += scalar(1000.5 + i, i, "lr", 0.5F);
  }
  return out;
}

TEST(EventFile, ReadsWhatOurWriterWrote) {
  const TempDir folder;
  libtrace::EventFileWriter writer(folder.path());
  ASSERT_TRUE(writer.add_scalar("loss", 0.25, 7, 1234.5).ok());
  ASSERT_TRUE(writer.add_scalar("loss", std::nan(""), 8, 1235.5).ok());
  EventFile file(writer.path(), {});
  EXPECT_TRUE(file.read_on());
  ASSERT_EQ(file.tags().size(), 1U);
  const TagPoints& loss = file.tags()[0];
  EXPECT_EQ(loss.tag, "loss");
  EXPECT_EQ(loss.kind, MetricKind::kScalar);
  ASSERT_EQ(loss.points.size(), 2U);
  EXPECT_EQ(loss.points[0].step, 7);
  EXPECT_EQ(loss.points[0].wall_time, 1234.5);
  EXPECT_EQ(loss.points[0].value, 0.25);
  EXPECT_TRUE(std::isnan(loss.points[1].value));
  EXPECT_EQ(loss.not_finite, 1U);
  EXPECT_EQ(file.trouble().records.records, 3U);
}

TEST(EventFile, ScalarsInEveryForm) {
  const TempDir folder;
  const auto one = [](const char* tag, std::string_view value) {
    return event(1, 1, summary(tag, value));
  };
  const std::string none = field(2, std::string_view());  // a shape of no dimensions
  const std::string two = field(2, field(2, field(1, std::uint64_t{2})));
  const std::string bytes =
      one("simple", field(2, 0.5F)) +
      one("float content",
          tensor(1, none + field(4, testing::little_endian(1.5F))) + plugin("scalars")) +
      one("float val", tensor(1, none + field(5, testing::little_endian(2.5F)))) +
      one("float val, not packed", tensor(1, none + field(5, 2.25F))) +
      one("double", tensor(2, none + field(6, testing::little_endian(1e300)))) +
      one("int32", tensor(3, none + field(7, testing::varint(static_cast<std::uint64_t>(-3))))) +
      one("int64 content", tensor(9, none + field(4, testing::little_endian(std::int64_t{-9})))) +
      one("half", tensor(19, none + field(13, testing::varint(0xC200)))) +
      one("half content", tensor(19, none + field(4, testing::little_endian(std::uint16_t{1})))) +
      one("bfloat16", tensor(14, none + field(13, testing::varint(0x3FC0)))) +
      one("bool", tensor(10, none + field(11, testing::varint(1)))) +
      one("two numbers", tensor(1, two + field(4, std::string(8, 'x')))) +
      one("text", tensor(7, field(8, std::string_view("hello"))) + plugin("text")) +
      one("a curve of another plugin", tensor(1, none + field(5, 1.0F)) + plugin("hparams")) +
      one("old histogram", field(5, std::string_view())) +
      one("picture", field(4, std::string_view())) + one("sound", field(6, std::string_view()));
  const EventFile file = read(folder, bytes);
  std::vector<std::string> told;
  for (const TagPoints& tag : file.tags()) {
    std::string line = tag.tag + ": ";
    if (tag.kind == MetricKind::kScalar) {
      line += std::to_string(tag.points.at(0).value).substr(0, 5);
    } else {
      line += "kind " + std::to_string(static_cast<int>(tag.kind)) + ' ' + tag.plugin;
    }
    told.push_back(line);
  }
  EXPECT_THAT(told, ElementsAre("simple: 0.500", "float content: 1.500", "float val: 2.500",
                                "float val, not packed: 2.250", "double: 10000", "int32: -3.00",
                                "int64 content: -9.00", "half: -3.00", "half content: 0.000",
                                "bfloat16: 1.500", "bool: 1.000", "two numbers: kind 4 ",
                                "text: kind 4 text", "a curve of another plugin: kind 4 hparams",
                                "old histogram: kind 1 ", "picture: kind 2 ", "sound: kind 3 "));
  EXPECT_EQ(file.tags()[8].points[0].value, std::ldexp(1.0, -24));
}

// However a file comes in, byte by byte, what is read is the same; nothing half is ever read.
TEST(EventFile, GrowsByteByByte) {
  const TempDir folder;
  const std::string bytes = ten_steps();
  const auto path = folder.path() / "events.out.tfevents.1";
  std::ofstream out(path, std::ios::binary);
  out.flush();
  EventFile file(path, {});
  std::size_t news = 0;
  for (const char c : bytes) {
    out << c << std::flush;
    if (file.read_on()) ++news;
    ASSERT_EQ(file.trouble().records.damaged, 0U);
  }
  EXPECT_EQ(news, 21U);
  EXPECT_EQ(file.trouble().waiting, 0U);
  EXPECT_THAT(values(file.tags()[0]), ElementsAre(10, 9, 8, 7, 6, 5, 4, 3, 2, 1));
}

TEST(EventFile, EndsInsideARecord) {
  const TempDir folder;
  const std::string bytes = ten_steps();
  const EventFile file = read(folder, bytes.substr(0, bytes.size() - 5));
  EXPECT_EQ(file.trouble().records.records, 20U);
  EXPECT_EQ(file.trouble().records.damaged, 0U);
  EXPECT_GT(file.trouble().waiting, 0U);
}

TEST(EventFile, DamageCostsItself) {
  const TempDir folder;
  std::string bytes = ten_steps();
  const std::size_t size = scalar(1000, 0, "loss", 1).size();
  bytes[testing::version(1000).size() + size - 6] ^= 1;  // data of the first record
  EventFile file = read(folder, bytes);
  EXPECT_EQ(file.trouble().records.records, 20U);
  EXPECT_EQ(file.trouble().records.damaged, 1U);
  EXPECT_EQ(file.trouble().records.skipped_bytes, size);
  EXPECT_THAT(values(file.tags()[1]), ElementsAre(9, 8, 7, 6, 5, 4, 3, 2, 1));

  bytes = ten_steps();
  bytes[testing::version(1000).size()] ^= 1;  // a length
  file = read(folder, bytes);
  EXPECT_EQ(file.trouble().records.records, 20U);
  EXPECT_EQ(file.trouble().records.damaged, 1U);
}

// A program was killed while it wrote, and another one appended to the file.
TEST(EventFile, TornRecordBeforeOthers) {
  const TempDir folder;
  const std::string torn = scalar(1000, 0, std::string(500, 'x'), 1).substr(0, 40);
  const EventFile file = read(folder, torn + ten_steps());
  EXPECT_EQ(file.trouble().records.records, 21U);
  EXPECT_EQ(file.trouble().records.damaged, 1U);
  EXPECT_EQ(file.trouble().records.skipped_bytes, 40U);
}

TEST(EventFile, AbsurdLengths) {
  const TempDir folder;
  for (const std::uint64_t length : {std::uint64_t{1} << 31U, UINT64_MAX, UINT64_MAX - 15}) {
    const std::string head = testing::little_endian(length);
    const EventFile file =
        read(folder, head + testing::little_endian(proto::masked_crc32c(head)) + ten_steps());
    EXPECT_EQ(file.trouble().records.records, 21U);
    EXPECT_EQ(file.trouble().records.damaged, 1U);
  }
}

// Longer than anything that plots: passed over without holding it, whole or not yet.
TEST(EventFile, OversizedRecord) {
  const TempDir folder;
  const std::string head = testing::little_endian(RecordSplitter::kMaxRecord + 1);
  const std::string start = head + testing::little_endian(proto::masked_crc32c(head));
  const auto path = write(folder, start);
  EventFile file(path, {});
  EXPECT_TRUE(file.read_on());
  EXPECT_EQ(file.trouble().records.oversized, 1U);
  std::filesystem::resize_file(path, start.size() + RecordSplitter::kMaxRecord + 1 + 4);
  EXPECT_TRUE(file.read_on());
  std::ofstream(path, std::ios::binary | std::ios::app) << ten_steps();
  EXPECT_TRUE(file.read_on());
  EXPECT_EQ(file.trouble().records.records, 21U);
  EXPECT_EQ(file.trouble().records.damaged, 0U);
}

TEST(EventFile, NoEventFileAtAll) {
  const TempDir folder;
  MetricLimits limits;
  limits.foreign_after = 1000;
  const EventFile file = read(folder, std::string(2'000'000, 'x'), limits);
  EXPECT_TRUE(file.trouble().foreign);
  EXPECT_TRUE(file.tags().empty());
  EXPECT_EQ(EventFile(folder.path() / "nothing", {}).read_on(), false);
}

TEST(EventFile, WholeRecordsThatAreNoEvents) {
  const TempDir folder;
  const EventFile file =
      read(folder, record("\xFF\xFF\xFF") + record(field(5, std::string_view("\x0A\xFF\x01"))) +
                       record("") + event(1, 1, field(999, std::string_view("unknown"))) +
                       event(NAN, 1, summary("a", field(2, 1.0F))) + ten_steps());
  EXPECT_EQ(file.trouble().unreadable, 2U);
  EXPECT_EQ(file.trouble().timeless, 1U);
  EXPECT_EQ(file.trouble().records.damaged, 0U);
  EXPECT_EQ(file.points(), 20U);
}

TEST(EventFile, HostileTags) {
  const TempDir folder;
  MetricLimits limits;
  limits.tags = 3;
  const EventFile file = read(folder,
                              scalar(1, 1, "a\xFFz\xC0\xAF", 1) + scalar(1, 1, "<script>", 2) +
                                  scalar(1, 1, std::string(5000, 'x'), 3) + scalar(1, 1, "", 4) +
                                  scalar(1, 1, "one too many", 5),
                              limits);
  ASSERT_EQ(file.tags().size(), 3U);
  EXPECT_EQ(file.tags()[0].tag, "a\\xffz\\xc0\\xaf");
  EXPECT_EQ(file.tags()[1].tag, "<script>");
  EXPECT_EQ(file.tags()[2].tag, "");
  EXPECT_EQ(file.trouble().refused_tags, 2U);
}

// Heads that each claim half the file: each one's data would be checked, byte by byte.
TEST(EventFile, HeadsThatClaimHalfTheFile) {
  const TempDir folder;
  constexpr std::size_t kSize = std::size_t{4} << 20U;
  const std::string length = testing::little_endian(std::uint64_t{kSize / 2});
  const std::string head = length + testing::little_endian(proto::masked_crc32c(length));
  std::string bytes = ten_steps();
  while (bytes.size() < kSize) bytes += head;
  bytes += std::string(kSize, 'x') + ten_steps();  // ends all that the heads claim
  RecordSplitter splitter;
  std::size_t at = 0;
  while (at < bytes.size()) {
    const std::size_t used = splitter.split(std::string_view(bytes).substr(at), [](auto) {});
    if (used == 0) break;
    at += used;
  }
  EXPECT_EQ(splitter.counts().records, 42U);
  EXPECT_EQ(splitter.counts().damaged, 1U);
  EXPECT_LE(splitter.checked_in_vain(),
            RecordSplitter::kVain + RecordSplitter::kVainPerByte * bytes.size());
  const EventFile file = read(folder, bytes);
  EXPECT_EQ(file.trouble().records.records, 42U);
}

TEST(EventFile, AnEventOfTooManyValues) {
  const TempDir folder;
  std::string values;
  for (std::size_t i = 0; i < kMostValues + 7; ++i) values += field(1, std::string_view());
  const EventFile file = read(folder, event(1, 1, field(5, values)) + ten_steps());
  EXPECT_EQ(file.trouble().refused_values, 7U);
  EXPECT_EQ(file.trouble().records.records, 22U);
  EXPECT_EQ(file.points(), 20U);
}

TEST(EventFile, TimesThatCannotBe) {
  const TempDir folder;
  const EventFile file = read(folder, scalar(1.7e308, 1, "a", 1) + scalar(-1.7e308, 2, "a", 2) +
                                          scalar(INFINITY, 3, "a", 3) + scalar(1e12, 4, "a", 4) +
                                          scalar(-1e12, 5, "a", 5) + scalar(1.1e12, 6, "a", 6));
  EXPECT_EQ(file.trouble().timeless, 4U);
  EXPECT_THAT(values(file.tags().at(0)), ElementsAre(4, 5));
}

TEST(EventFile, RandomDamageNeverCosts) {
  std::mt19937 random(1);
  const std::string whole = ten_steps();
  for (int round = 0; round < 300; ++round) {
    const TempDir folder;
    std::string bytes = whole;
    const std::size_t at = random() % bytes.size();
    if (round % 3 == 0) {
      bytes[at] = static_cast<char>(random());
    } else if (round % 3 == 1) {
      bytes.erase(at, random() % 100);
    } else {
      bytes.insert(at, std::string(random() % 100, static_cast<char>(random())));
    }
    const EventFile file = read(folder, bytes + whole);
    // One place is damaged: at most the records around it are gone (100 bytes are three records).
    EXPECT_GE(file.trouble().records.records, 42U - 4) << round;
    EXPECT_LE(file.trouble().records.damaged, 2U) << round;
  }
}

// Beyond its limit a curve keeps the extremes of each stretch.
TEST(EventFile, ThinsWithoutLosingExtremes) {
  const TempDir folder;
  std::string bytes;
  for (int i = 0; i < 20'000; ++i) {
    const float value = i == 777 ? -100.F : i == 15'003 ? 100.F : i == 9000 ? NAN : 0.F;
    bytes += scalar(i, i, "loss", value);
  }
  MetricLimits limits;
  limits.points = 3000;
  const EventFile file = read(folder, bytes, limits);
  const TagPoints& loss = file.tags().at(0);
  EXPECT_LE(file.points(), 12'000U);  // checked once a MiB
  EXPECT_EQ(loss.count, 20'000U);
  EXPECT_EQ(loss.points.size() + file.trouble().thinned, 20'000U);
  EXPECT_EQ(loss.points.front().step, 0);
  EXPECT_EQ(loss.points.back().step, 19'999);
  std::vector<std::int64_t> odd;
  for (const MetricPoint& p : loss.points) {
    if (!(p.value == 0)) odd.push_back(p.step);
  }
  EXPECT_THAT(odd, ElementsAre(777, 9000, 15'003));
}

}  // namespace
}  // namespace traceglass
