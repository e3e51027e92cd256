// A file that is either there and whole, or not there: written under a temporary name in the same
// folder, flushed to the disk, and renamed over the target. A crash at any point leaves the target
// as it was, and at most a `.<name>.tmp.<pid>.<random>`.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "handler/byte_sink.h"

namespace libtrace {

class FileSink final : public ByteSink {
 public:
  explicit FileSink(std::filesystem::path target);
  ~FileSink() override;  // unfinished: removes what it wrote
  FileSink(const FileSink&) = delete;
  FileSink& operator=(const FileSink&) = delete;

  Status write(std::string_view bytes) override;
  Status finish() override;

  // What a temporary name says. `random`: processes of two containers may have the same number and
  // write to the same name.
  struct Temporary {
    std::string name;
    pid_t pid = 0;
    std::uint32_t random = 0;
  };
  static std::string temporary_name(const Temporary& temporary);
  static std::optional<Temporary> parse_temporary(const std::string& file_name);
  // By a process that lives, in whatever container.
  static bool is_being_written(const std::filesystem::path& temporary);

 private:
  Status open();
  Status fail(const char* what);
  void discard() noexcept;

  std::filesystem::path target_, temporary_;
  int fd_ = -1;
  bool failed_ = false;
};

}  // namespace libtrace
