#include "handler/event_file_writer.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <regex>
#include <string>
#include <vector>

#include "proto/event.pb.h"
#include "proto/masked_crc.h"
#include "tests/handler/temporary_folder.h"

namespace libtrace {
namespace {

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::uint64_t little_endian(std::string_view bytes) {
  std::uint64_t v = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) v = v << 8 | static_cast<unsigned char>(bytes[i]);
  return v;
}

// Reads records as TensorFlow's reader does: checks both checksums.
std::vector<traceglass::proto::Event> read_events(std::string_view file) {
  std::vector<traceglass::proto::Event> events;
  while (!file.empty()) {
    const std::uint64_t length = little_endian(file.substr(0, 8));
    EXPECT_EQ(little_endian(file.substr(8, 4)),
              traceglass::proto::masked_crc32c(file.substr(0, 8)));
    const std::string_view data = file.substr(12, length);
    EXPECT_EQ(little_endian(file.substr(12 + length, 4)), traceglass::proto::masked_crc32c(data));
    events.emplace_back();
    EXPECT_TRUE(events.back().ParseFromArray(data.data(), static_cast<int>(data.size())));
    file.remove_prefix(16 + length);
  }
  return events;
}

TEST(MaskedCrc, KnownValues) {
  EXPECT_EQ(traceglass::proto::crc32c(""), 0U);
  EXPECT_EQ(traceglass::proto::crc32c("123456789"), 0xE306'9283U);  // RFC 3720's check value
  EXPECT_EQ(traceglass::proto::crc32c(std::string(32, '\0')), 0x8A91'36AAU);  // RFC 3720 B.4
  EXPECT_EQ(traceglass::proto::crc32c(std::string(32, '\xFF')), 0x62A8'AB43U);
}

TEST(EventFileWriter, WritesWhatTensorBoardReads) {
  const TemporaryFolder folder;
  EventFileWriter writer(folder.path() / "made");
  ASSERT_TRUE(writer.status().ok());
  EXPECT_TRUE(std::regex_match(writer.path().filename().string(),
                               std::regex(R"(events\.out\.tfevents\.\d{10}\..+\.\d+\.\d+)")));
  ASSERT_TRUE(writer.add_scalar("train/loss", 0.25, 7, 1234.5).ok());
  ASSERT_TRUE(writer.add_scalar("train/loss", -1e30, 8).ok());
  const auto events = read_events(read_file(writer.path()));
  ASSERT_EQ(events.size(), 3U);
  EXPECT_EQ(events[0].file_version(), "brain.Event:2");
  EXPECT_EQ(events[1].step(), 7);
  EXPECT_EQ(events[1].wall_time(), 1234.5);
  ASSERT_EQ(events[1].summary().value_size(), 1);
  EXPECT_EQ(events[1].summary().value(0).tag(), "train/loss");
  EXPECT_EQ(events[1].summary().value(0).simple_value(), 0.25F);
  EXPECT_EQ(events[2].summary().value(0).simple_value(), -1e30F);
  EXPECT_GT(events[2].wall_time(), 1.7e9);
}

// The bytes themselves: field numbers and wire types are TensorBoard's, whatever the library.
TEST(EventFileWriter, BytesOnTheWire) {
  const TemporaryFolder folder;
  EventFileWriter writer(folder.path());
  const std::size_t before = read_file(writer.path()).size();
  ASSERT_TRUE(writer.add_scalar("a", 1.0, 3, 2.0).ok());
  const std::string record = read_file(writer.path()).substr(before);
  const std::string data(
      "\x09\0\0\0\0\0\0\0\x40"  // 1: wall_time, double 2.0
      "\x10\x03"                // 2: step, varint 3
      "\x2A\x0A"                // 5: summary, 10 bytes
      "\x0A\x08"                //   1: value, 8 bytes
      "\x0A\x01"
      "a"                  //     1: tag
      "\x15\0\0\x80\x3F",  //     2: simple_value, float 1.0
      23);
  EXPECT_EQ(record.substr(12, record.size() - 16), data);
}

TEST(EventFileWriter, WritersOfOneProcessDoNotMeet) {
  const TemporaryFolder folder;
  const EventFileWriter a(folder.path()), b(folder.path());
  EXPECT_TRUE(a.status().ok());
  EXPECT_TRUE(b.status().ok());
  EXPECT_NE(a.path(), b.path());
}

TEST(EventFileWriter, AFolderThatCannotBeMadeIsAnError) {
  EventFileWriter writer("/proc/nowhere");
  EXPECT_FALSE(writer.status().ok());
  EXPECT_FALSE(writer.add_scalar("a", 1, 1).ok());
}

}  // namespace
}  // namespace libtrace
