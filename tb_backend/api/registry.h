// Which traces are loaded. A request asks by file; the first one queues a load on a few loader
// threads, all others see its progress, and what is loaded is shared and immutable. A file that
// changed is loaded anew under a new generation. Each file fails for itself.
//
// Loads wait for each other where together they would need more memory than there is to be, and the
// least recently used traces make room for them. A load that nobody asks about any more, such as
// that of a page that was closed, is given up when others wait.
//
// Lock order: one mutex guards all entries; nothing is computed or destroyed under it.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "libtrace/trace.h"
#include "tb_backend/analysis/steps.h"
#include "tb_backend/ingest/ingest.h"
#include "tb_backend/logdir/scan.h"
#include "tb_backend/timeline/timeline.h"

namespace traceglass {

struct LoadedTrace {
  TraceFile file;
  std::string generation;  // changes with the file's content and with the program
  libtrace::TracePtr trace;
  std::shared_ptr<const Timeline> timeline;
  std::vector<Step> steps;
  std::size_t bytes = 0;
};

enum class LoadPhase { kNew, kQueued, kReading, kBuilding, kReady, kError };
const char* phase_name(LoadPhase phase);

struct LoadStatus {
  LoadPhase phase = LoadPhase::kNew;
  std::uint64_t bytes_done = 0, bytes_total = 0, events = 0;
  std::shared_ptr<const LoadedTrace> loaded;  // exactly when ready
  std::optional<FileError> error;             // exactly when phase is kError
};

struct Load {
  TraceFile file;
  LoadStatus status;
};

// What reading a file takes at most, by its size and kind.
std::size_t expected_load_bytes(const TraceFile& file);

// What a loader gives: a trace or why there is none, and what is left to do once the trace is shown
// (saving it), which ends early when `keep_on` says so.
struct LoadResult {
  LoadResult(IngestResult result) : ingest(std::move(result)) {}  // NOLINT: it is one
  IngestResult ingest;
  std::function<void(const std::function<bool()>& keep_on)> later;
};

class Registry {
 public:
  using Clock = std::function<std::chrono::steady_clock::time_point()>;
  using Loader = std::function<LoadResult(const std::filesystem::path&, IngestProgress*)>;
  struct Options {
    // Of loaded traces and of loads; the newest always stays, and one load always runs.
    std::size_t budget_bytes = std::size_t{8} << 30U;
    std::function<std::size_t(const TraceFile&)> expected = &expected_load_bytes;
    int loaders = 2;
    // A file that grows is not loaded again sooner than this after a load, nor than twice what
    // that load took. 0: at once.
    std::chrono::milliseconds reload_after{2000};
    std::chrono::seconds abandoned_after{
        150};  // without a question; a hidden page asks each minute
    Clock clock = &std::chrono::steady_clock::now;
    Loader load = &ingest_file;
  };

  explicit Registry(Options options);
  ~Registry();
  Registry(const Registry&) = delete;
  Registry& operator=(const Registry&) = delete;

  // State of a file; starts its load if nothing has.
  LoadStatus ask(const TraceFile& file);
  // State without starting anything.
  LoadPhase peek(const TraceFile& file);
  // What is being loaded or waits for it, in that order.
  std::vector<Load> loads();
  // Gives up the load of a file, if there is one: false when there is none.
  bool cancel(const std::string& id);
  // These are needed at once: for a while none goes for another one, even beyond the budget. Asking
  // again prolongs that. Few files at a time can be held; of more the later ones are not.
  void hold(const std::vector<std::string>& ids);
  // Forgets entries whose file is gone, and gives up their loads.
  void keep_only(const Snapshot& snapshot);

  [[nodiscard]] std::size_t resident_bytes();
  // Returns when nothing is queued or running.
  void wait_idle();

 private:
  struct Job {
    TraceFile file;
    IngestProgress progress;
    // Under mutex_:
    bool started = false;
    std::size_t expected = 0;
    std::chrono::steady_clock::time_point asked;
  };
  struct Entry {
    std::shared_ptr<Job> job;  // null when nothing is queued or running
    FileStamp stamp;           // of what is loaded or failed
    std::shared_ptr<const LoadedTrace> loaded;
    std::optional<FileError> error;
    std::chrono::steady_clock::time_point finished;
    std::chrono::steady_clock::duration took{};
    std::uint64_t used = 0;  // by tick_
  };

  struct Outcome {  // trace or error
    std::shared_ptr<const LoadedTrace> loaded;
    std::optional<FileError> error;
    std::function<void(const std::function<bool()>&)> later;
  };

  void work();
  // Makes it what its entry holds; false when nobody wants it any more.
  bool publish(const Job& job, Outcome& outcome, std::chrono::steady_clock::duration took);
  Outcome load(Job& job) const;
  std::shared_ptr<const LoadedTrace> build(const TraceFile& file, libtrace::TracePtr trace) const;
  bool needs_load(const Entry& entry, const TraceFile& file) const;
  void start(Entry& entry, const TraceFile& file);
  static LoadStatus status_of(const Job& job);
  // Whether the first of the queue may start.
  [[nodiscard]] bool has_room() const;
  void give_up(std::map<std::string, Entry>::iterator entry);
  // Loads that nobody asked about lately, when others wait.
  void give_up_abandoned();
  // Drops the least recently used until the budget holds; `keep` and held ones stay.
  void evict(const std::string& keep, std::vector<std::shared_ptr<const LoadedTrace>>& dropped);

  const Options options_;
  std::mutex mutex_;
  std::condition_variable queued_, idle_;
  std::map<std::string, Entry> entries_;  // by id
  std::deque<std::shared_ptr<Job>> queue_;
  std::vector<std::shared_ptr<Job>> started_;
  std::map<std::string, std::chrono::steady_clock::time_point> held_;  // until when, by id
  std::uint64_t tick_ = 0;
  std::atomic<bool> stopping_ = false;
  std::vector<std::thread> loaders_;
};

}  // namespace traceglass
