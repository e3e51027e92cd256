#include "tb_backend/api/registry.h"

#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "tb_backend/logdir/stable_hash.h"

namespace traceglass {
namespace {

// Two pairs. Whoever waits for a load asks again within a second or two.
constexpr std::size_t kMostHeld = 4;
constexpr std::chrono::seconds kHeldFor{30};

// Changes with every build of the program: answers that a browser keeps for ever are of one build.
std::string program_stamp() {
  struct stat s{};
  if (::stat("/proc/self/exe", &s) != 0) return "1";
  return std::to_string(s.st_size) + '.' + std::to_string(s.st_mtim.tv_sec) + '.' +
         std::to_string(s.st_mtim.tv_nsec);
}

std::string generation_of(const TraceFile& file) {
  static const std::string kProgram = program_stamp();
  const FileStamp& s = file.stamp;
  return stable_hash(file.file + '\n' + std::to_string(s.bytes) + '.' +
                     std::to_string(s.modified_ns) + '.' + std::to_string(s.device) + '.' +
                     std::to_string(s.inode) + '.' + kProgram);
}

}  // namespace

const char* phase_name(LoadPhase phase) {
  switch (phase) {
    case LoadPhase::kNew:
    case LoadPhase::kQueued:
      return "queued";
    case LoadPhase::kReading:
      return "reading";
    case LoadPhase::kBuilding:
      return "building";
    case LoadPhase::kReady:
      return "ready";
    case LoadPhase::kError:
      break;
  }
  return "error";
}

Registry::Registry(Options options) : options_(std::move(options)) {
  for (int i = 0; i < std::max(1, options_.loaders); ++i) loaders_.emplace_back([this] { work(); });
}

Registry::~Registry() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    queue_.clear();
    for (auto& [id, entry] : entries_) {
      if (entry.job) entry.job->progress.cancel = true;
    }
  }
  queued_.notify_all();
  for (std::thread& loader : loaders_) loader.join();
}

bool Registry::needs_load(const Entry& entry, const TraceFile& file) const {
  if (entry.job) return false;
  if (!entry.loaded && !entry.error) return true;
  const auto age = options_.clock() - entry.finished;
  std::chrono::steady_clock::duration rest = options_.reload_after;
  if (rest.count() > 0) rest = std::max(rest, 2 * entry.took);
  // A permission may be given without the file changing.
  const bool again = entry.error && entry.error->code == "unreadable";
  return (entry.stamp != file.stamp || again) && age >= rest;
}

void Registry::start(Entry& entry, const TraceFile& file) {
  entry.job = std::make_shared<Job>();
  entry.job->file = file;
  entry.job->progress.bytes_total = file.stamp.bytes;
  queue_.push_back(entry.job);
}

LoadStatus Registry::ask(const TraceFile& file) {
  std::shared_ptr<const LoadedTrace> stale;  // let go after the lock
  LoadStatus status;
  {
    const std::lock_guard lock(mutex_);
    Entry& entry = entries_[file.id];
    entry.used = ++tick_;
    if (needs_load(entry, file)) {
      stale = std::move(entry.loaded);
      entry.error.reset();
      start(entry, file);
      queued_.notify_one();
    }
    if (entry.job) {
      const IngestProgress& progress = entry.job->progress;
      status.phase = !entry.job->started        ? LoadPhase::kQueued
                     : progress.building.load() ? LoadPhase::kBuilding
                                                : LoadPhase::kReading;
      status.bytes_done = progress.bytes_done;
      status.bytes_total = progress.bytes_total;
      status.events = progress.events;
    } else if (entry.error) {
      status.phase = LoadPhase::kError;
      status.error = entry.error;
      status.bytes_total = entry.stamp.bytes;
    } else {
      status.phase = LoadPhase::kReady;
      status.loaded = entry.loaded;
      status.bytes_done = status.bytes_total = entry.stamp.bytes;
      status.events = entry.loaded->trace->size();
    }
  }
  return status;
}

LoadPhase Registry::peek(const TraceFile& file) {
  const std::lock_guard lock(mutex_);
  const auto it = entries_.find(file.id);
  if (it == entries_.end()) return LoadPhase::kNew;
  const Entry& entry = it->second;
  if (entry.job) return entry.job->started ? LoadPhase::kReading : LoadPhase::kQueued;
  if (needs_load(entry, file)) return LoadPhase::kNew;
  return entry.error ? LoadPhase::kError : LoadPhase::kReady;
}

void Registry::hold(const std::vector<std::string>& ids) {
  const std::lock_guard lock(mutex_);
  const auto now = options_.clock();
  std::erase_if(held_, [&](const auto& held) { return held.second <= now; });
  // All or none: half a pair helps nobody.
  std::size_t fresh = 0;
  for (const std::string& id : ids) fresh += held_.contains(id) ? 0 : 1;
  if (held_.size() + fresh > kMostHeld) return;
  for (const std::string& id : ids) held_[id] = now + kHeldFor;
}

void Registry::keep_only(const Snapshot& snapshot) {
  std::vector<Entry> dropped;  // destroyed after the lock
  const std::lock_guard lock(mutex_);
  for (auto it = entries_.begin(); it != entries_.end();) {
    if (snapshot.find(it->first) != nullptr) {
      ++it;
      continue;
    }
    if (it->second.job) {
      it->second.job->progress.cancel = true;
      std::erase(queue_, it->second.job);
    }
    dropped.push_back(std::move(it->second));
    it = entries_.erase(it);
  }
}

std::size_t Registry::resident_bytes() {
  const std::lock_guard lock(mutex_);
  std::size_t bytes = 0;
  for (const auto& [id, entry] : entries_) bytes += entry.loaded ? entry.loaded->bytes : 0;
  return bytes;
}

std::shared_ptr<const LoadedTrace> Registry::build(const TraceFile& file,
                                                   libtrace::TracePtr trace) const {
  auto loaded = std::make_shared<LoadedTrace>();
  loaded->file = file;
  loaded->generation = generation_of(file);
  loaded->trace = trace;
  loaded->timeline = std::make_shared<const Timeline>(trace);
  loaded->steps = find_steps(*trace);
  loaded->bytes = trace->resident_bytes() + loaded->timeline->resident_bytes();
  return loaded;
}

void Registry::work() {
  while (true) {
    std::shared_ptr<Job> job;
    {
      std::unique_lock lock(mutex_);
      queued_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
      if (stopping_) return;
      job = std::move(queue_.front());
      queue_.pop_front();
      job->started = true;
      ++running_;
    }
    const auto begin = options_.clock();
    Outcome outcome = load(*job);
    if (publish(*job, outcome, options_.clock() - begin) && outcome.later) {
      outcome.later([&] { return !stopping_ && !job->progress.cancel; });
    }
    outcome = {};
    const std::lock_guard lock(mutex_);
    if (--running_ == 0 && queue_.empty()) idle_.notify_all();
  }
}

bool Registry::publish(const Job& job, Outcome& outcome, std::chrono::steady_clock::duration took) {
  std::vector<std::shared_ptr<const LoadedTrace>> dropped;  // destroyed after the lock
  const std::lock_guard lock(mutex_);
  const auto it = entries_.find(job.file.id);
  if (it == entries_.end() || it->second.job.get() != &job) return false;
  Entry& entry = it->second;
  entry.job.reset();
  entry.stamp = job.file.stamp;
  entry.loaded = std::move(outcome.loaded);
  entry.error = std::move(outcome.error);
  entry.finished = options_.clock();
  entry.took = took;
  evict(job.file.id, dropped);
  return true;
}

Registry::Outcome Registry::load(Job& job) const {
  Outcome out;
  try {
    LoadResult result = options_.load(job.file.path, &job.progress);
    job.progress.building = true;
    out.error = std::move(result.ingest.error);
    if (result.ingest.trace && !job.progress.cancel) {
      out.loaded = build(job.file, result.ingest.trace);
      out.later = std::move(result.later);
    }
  } catch (const std::exception& e) {  // out of memory: this file fails, the server does not
    out.error = FileError{"broken", std::string("The file could not be loaded: ") + e.what(), 0};
  }
  if (!out.loaded && !out.error) {
    out.error = FileError{"unreadable", "The load was given up.", 0};
  }
  return out;
}

void Registry::wait_idle() {
  std::unique_lock lock(mutex_);
  idle_.wait(lock, [this] { return running_ == 0 && queue_.empty(); });
}

void Registry::evict(const std::string& keep,
                     std::vector<std::shared_ptr<const LoadedTrace>>& dropped) {
  const auto now = options_.clock();
  std::erase_if(held_, [&](const auto& held) { return held.second <= now; });
  std::size_t bytes = 0;
  for (const auto& [id, entry] : entries_) bytes += entry.loaded ? entry.loaded->bytes : 0;
  while (bytes > options_.budget_bytes) {
    Entry* oldest = nullptr;
    for (auto& [id, entry] : entries_) {
      if (!entry.loaded || id == keep || held_.contains(id)) continue;
      if (oldest == nullptr || entry.used < oldest->used) {
        oldest = &entry;
      }
    }
    if (oldest == nullptr) return;
    bytes -= oldest->loaded->bytes;
    dropped.push_back(std::move(oldest->loaded));
    oldest->loaded.reset();
  }
}

}  // namespace traceglass
