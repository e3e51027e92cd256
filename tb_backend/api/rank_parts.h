// What is kept of every rank of a run: its summary, which outlives its trace. Made on two threads
// of its own, each of which holds one trace at a time, so that a run of any size costs the memory
// of two traces and of the summaries.
//
// Lock order: one mutex guards everything; nothing is computed or destroyed under it.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "tb_backend/analysis/path_waits.h"
#include "tb_backend/analysis/rank_summary.h"
#include "tb_backend/api/registry.h"
#include "tb_backend/logdir/scan.h"

namespace traceglass {

class RankParts {
 public:
  struct Part {
    TraceFile file;  // as it was when it was read
    std::shared_ptr<const RankSummary> summary;
    std::optional<FileError> error;  // instead of a summary
  };
  // What limits one rank by itself: its largest verdict other than communication.
  struct Limit {
    std::string id, sentence;  // id "": nothing, or nothing known
  };
  struct Answer {
    std::vector<Part> parts;   // of the files that are known, in their order
    std::size_t waiting = 0;   // files that are not known yet
    std::uint64_t limits = 0;  // changes with what is known by limit()
  };

  // Takes a trace from `registry` where it is loaded, else reads it by `options.load`.
  RankParts(Registry& registry, const Registry::Options& options);
  ~RankParts();
  RankParts(const RankParts&) = delete;
  RankParts& operator=(const RankParts&) = delete;

  // What is known of these files; starts on those that are not known or have changed. A file that
  // grows is not read again sooner than the registry would: its last summary stands meanwhile.
  Answer ask(const std::vector<TraceFile>& files);
  // Of a file that was read; absent: it is being worked out, ask again. Of a file that has changed
  // the last one stands until the new one is known.
  std::optional<Limit> limit(const TraceFile& file);
  // What the chains of a file that was read are made of in these windows, in their order; absent:
  // it is being worked out, ask again. An entry is absent where the file cannot be read any more.
  std::optional<std::vector<std::optional<PathParts>>> path_parts(
      const TraceFile& file, const std::vector<PathWindow>& windows);
  // An answer that waits for limit(file): whether it still does, without making it once more.
  void wait_for_limit(const std::string& answer, const TraceFile& file);
  bool waits_for_limit(const std::string& answer);
  // Forgets files that are gone.
  void keep_only(const Snapshot& snapshot);

  [[nodiscard]] std::size_t resident_bytes();

 private:
  struct Entry {
    std::optional<Part> part;
    bool queued = false;
    std::optional<Limit> limit;
    FileStamp limit_stamp;  // of the file as it was then
    std::uint64_t limit_number = 0;
    bool limit_queued = false;
    std::map<PathWindow, std::optional<PathParts>> paths;
    FileStamp paths_stamp;
    bool paths_queued = false;
    std::chrono::steady_clock::time_point finished;
  };

  struct Job {
    enum class Of : std::uint8_t { kSummary, kLimit, kPaths };
    TraceFile file;
    Of of = Of::kSummary;
    std::vector<PathWindow> windows;  // of kPaths
  };

  void work();
  Part make(const TraceFile& file);
  Limit find_limit(const TraceFile& file);
  std::vector<std::optional<PathParts>> find_paths(const Job& job);
  IngestResult read(const TraceFile& file);

  Registry& registry_;
  const Registry::Options options_;
  std::mutex mutex_;
  std::condition_variable queued_;
  std::map<std::string, Entry> entries_;  // by id
  std::deque<Job> queue_;
  std::map<std::string, std::string> waiting_answers_;  // id of the file, by answer
  std::uint64_t limits_ = 0;                            // how many were found
  std::vector<std::shared_ptr<IngestProgress>> running_;
  bool stopping_ = false;
  std::vector<std::thread> workers_;
};

}  // namespace traceglass
