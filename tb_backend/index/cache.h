// The directory of saved indexes: one file a trace file, beside each other, of all servers of a
// user. Whoever saves makes a file of its own and renames it; nobody waits for anybody, and a file
// that is mapped stays as it is. What was not opened for longest goes when there are too many
// bytes.
//
// The cache never fails a load: what cannot be read is as if it were not there, what cannot be
// written is said once in the log.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "libtrace/trace.h"
#include "tb_backend/index/layout.h"

namespace traceglass::index {

// $XDG_CACHE_HOME/traceglass/index, else below ~/.cache; empty when neither is known.
std::filesystem::path default_directory();

// What a file is now, by its name and content; nullopt when it cannot be read.
struct Content {
  std::string source;  // its path with links resolved
  Key key;
  bool operator==(const Content&) const = default;
};
std::optional<Content> content_of(const std::filesystem::path& file);

class Cache {
 public:
  struct Options {
    std::filesystem::path directory;
    std::uint64_t most_bytes = std::uint64_t{20} << 30;  // and a tenth of the disk at most
    std::function<void(std::string_view)> log;           // a sentence
  };
  explicit Cache(Options options) : options_(std::move(options)) {}

  // The trace as it was saved; null when there is none of this content.
  libtrace::TracePtr open(const Content& content);

  // Where a trace stands, or will.
  [[nodiscard]] std::filesystem::path place_of(const Content& content) const;

  // "" once saved, else why not. `trace` was read from `content`, which must be what the file still
  // is. False from `keep_on` gives up.
  std::string save(const Content& content, const libtrace::Trace& trace,
                   const std::function<bool()>& keep_on);

  // Removes what was used least recently, beyond the size allowed, and what a program that ended
  // while writing has left. `keep` stays.
  void trim(const std::filesystem::path& keep);

 private:
  std::string write(const Content& content, const libtrace::Trace& trace,
                    const std::function<bool()>& keep_on);
  // Once a sentence: a full disk is full for every trace.
  void say(const std::string& sentence);

  const Options options_;
  std::mutex mutex_;  // guards said_
  std::set<std::string> said_;
};

}  // namespace traceglass::index
