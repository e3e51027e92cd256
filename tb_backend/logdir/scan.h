// What exists: walks the directories and sorts what it finds into run, worker and span, from
// names and `stat` alone; no file is opened.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "tb_backend/logdir/spec.h"

namespace traceglass {

// What tells one content of a file from the next without reading it.
struct FileStamp {
  std::uint64_t bytes = 0;
  std::int64_t modified_ns = 0;  // since 1970
  std::uint64_t device = 0, inode = 0;

  bool operator==(const FileStamp&) const = default;
};

struct TraceFile {
  std::string id;  // 16 hex digits, a hash of `file`: stable over restarts
  std::string run, worker, span;
  int index = 0;     // 1, 2, … by the span's number among the worker's spans in the run
  std::string file;  // relative to the log directory, the root's name in front
  std::filesystem::path path;
  FileStamp stamp;

  bool operator==(const TraceFile&) const = default;
};

// Found and not offered, with the reason as a sentence. `file` is a folder when it is unreadable.
struct IgnoredFile {
  std::string run, file, worker, span, reason;

  bool operator==(const IgnoredFile&) const = default;
};

// TensorBoard's scalars and the like: a name that contains "tfevents". Not opened here either.
struct EventFileFound {
  std::string run;   // its folder, as a trace's
  std::string file;  // relative to the log directory, the root's name in front
  std::filesystem::path path;
  FileStamp stamp;

  bool operator==(const EventFileFound&) const = default;
};

struct Snapshot {
  std::string logdir;            // as given
  std::string message;           // why there is nothing, and what to do; "" if there is something
  std::vector<TraceFile> files;  // by run, worker, index
  std::vector<IgnoredFile> ignored;
  std::vector<EventFileFound> events;  // by file
  std::vector<std::uint32_t> by_id;    // places in `files`, for find

  [[nodiscard]] const TraceFile* find(std::string_view id) const;
  bool operator==(const Snapshot&) const = default;
};

Snapshot scan(const LogdirSpec& spec);

}  // namespace traceglass
