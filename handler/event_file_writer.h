// Scalars for TensorBoard: one event file in a log directory. A record is
//
//   u64  length of the data, little-endian
//   u32  masked CRC-32C of those 8 bytes
//   ...  data: an Event of proto/event.proto
//   u32  masked CRC-32C of the data
//
// Each record is one write(), so that a reader that follows the file, or a crash, sees whole
// records but for the last.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "libtrace/status.h"

namespace libtrace {

// A file by its very name, replaced if it is there, as if begun at `wall_time`: the same points
// give the same bytes.
struct EventFileName {
  std::filesystem::path path;
  double wall_time = 0;  // seconds since 1970
};

// Not thread-safe.
class EventFileWriter {
 public:
  // `<dir>/events.out.tfevents.<unix s>.<hostname>.<pid>.<n>`; makes the folder.
  explicit EventFileWriter(std::filesystem::path dir);
  explicit EventFileWriter(EventFileName name);
  ~EventFileWriter();
  EventFileWriter(const EventFileWriter&) = delete;
  EventFileWriter& operator=(const EventFileWriter&) = delete;

  // Whether the file could be made; later calls give the same error when not.
  [[nodiscard]] const Status& status() const noexcept { return status_; }
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

  // A point of the curve `tag`. `wall_time`: seconds since 1970, 0: now.
  Status add_scalar(std::string_view tag, double value, std::int64_t step, double wall_time = 0);

 private:
  void open(int flags, double wall_time);
  Status append(std::string_view data);

  std::filesystem::path path_;
  int fd_ = -1;
  Status status_;
};

}  // namespace libtrace
