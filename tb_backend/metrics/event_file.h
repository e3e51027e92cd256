// One event file, read as far as it goes and read on as it grows.
#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tb_backend/metrics/event.h"
#include "tb_backend/metrics/records.h"
#include "tb_backend/metrics/tag_points.h"

namespace traceglass {

struct MetricLimits {
  std::size_t points = 24'000'000;  // 24 bytes each; beyond, curves are thinned to their extremes
  std::size_t tags = 100'000;       // of a file
  std::size_t tag_bytes = 1024;
  // A file whose first so many bytes hold no record is no event file, whatever its name.
  std::uint64_t foreign_after = std::uint64_t{4} << 20U;
};

class EventFile {
 public:
  EventFile(std::filesystem::path path, MetricLimits limits);

  // Reads what is there beyond what was read, whole records only. Returns whether anything new
  // was. A file that is shorter now than what was read of it is read anew. Throws nothing: where
  // memory does not suffice, what was read is given back and the trouble says so.
  bool read_on() noexcept;

  [[nodiscard]] const std::deque<TagPoints>& tags() const { return tags_; }
  // Steps at which sessions began, in order.
  [[nodiscard]] const std::vector<std::int64_t>& restarts() const { return restarts_; }
  [[nodiscard]] std::uint64_t offset() const { return offset_; }
  [[nodiscard]] std::size_t points() const { return points_; }

  // Fewer points, by TagPoints::thin(). False: there is nothing to gain.
  bool thin();

  struct Trouble {
    RecordCounts records;
    std::uint64_t unreadable = 0;      // whole records that are no Event
    std::uint64_t timeless = 0;        // points without a time that can be
    std::uint64_t refused_tags = 0;    // values of tags beyond the limits
    std::uint64_t refused_values = 0;  // of events of more than kMostValues
    std::uint64_t thinned = 0;         // points given up
    std::uint64_t waiting = 0;         // bytes of a record that is not all there yet
    bool foreign = false;
    bool starved = false;  // memory did not suffice: nothing is kept, the next growth tries again
    std::string error;     // of the operating system
  };
  [[nodiscard]] Trouble trouble() const;

 private:
  bool read_to_end();
  void forget() noexcept;  // as if nothing had been read
  void take(std::string_view record);
  void take(const MetricValue& value);
  // Null: refused.
  TagPoints* find(std::string_view tag);

  std::filesystem::path path_;
  MetricLimits limits_;
  RecordSplitter splitter_;
  std::uint64_t offset_ = 0;
  std::deque<TagPoints> tags_;                                  // texts stay where they are
  std::unordered_map<std::string_view, std::uint32_t> by_tag_;  // as they stand in the file
  std::deque<std::string> raw_tags_;
  // Programs write their tags in the same order each step: which came after which the last time.
  std::vector<std::uint32_t> next_tag_;
  std::uint32_t last_tag_ = 0;
  std::vector<std::int64_t> restarts_;
  std::size_t points_ = 0;
  Trouble trouble_;
  MetricEvent event_;
};

}  // namespace traceglass
