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

std::size_t expected_load_bytes(const TraceFile& file) {
  // Columns are a third of the text that they are read from, a half while they are made; compressed
  // it is a twelfth of itself. Mapped from an index it is less.
  const std::string name = file.path.filename().string();
  const bool compressed = name.ends_with(".gz") || name.ends_with(".pftrace");
  return compressed ? 6 * file.stamp.bytes : file.stamp.bytes / 2;
}

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
  entry.job->expected = options_.expected(file);
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
      entry.job->asked = options_.clock();
      give_up_abandoned();
      status = status_of(*entry.job);
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

LoadStatus Registry::status_of(const Job& job) {
  const IngestProgress& progress = job.progress;
  LoadStatus status;
  status.phase = !job.started               ? LoadPhase::kQueued
                 : progress.building.load() ? LoadPhase::kBuilding
                                            : LoadPhase::kReading;
  status.bytes_done = progress.bytes_done;
  status.bytes_total = progress.bytes_total;
  status.events = progress.events;
  return status;
}

std::vector<Load> Registry::loads() {
  std::vector<Load> out;
  const std::lock_guard lock(mutex_);
  const auto add = [&](const std::shared_ptr<Job>& job) {
    const auto it = entries_.find(job->file.id);
    // Not those that were given up, nor those that are shown and being saved.
    if (it != entries_.end() && it->second.job == job) out.push_back({job->file, status_of(*job)});
  };
  for (const auto& job : started_) add(job);
  for (const auto& job : queue_) add(job);
  return out;
}

bool Registry::cancel(const std::string& id) {
  const std::lock_guard lock(mutex_);
  const auto it = entries_.find(id);
  if (it == entries_.end() || !it->second.job) return false;
  give_up(it);
  return true;
}

void Registry::give_up(std::map<std::string, Entry>::iterator entry) {
  entry->second.job->progress.cancel = true;
  std::erase(queue_, entry->second.job);
  entry->second.job.reset();
  entries_.erase(entry);
}

void Registry::give_up_abandoned() {
  if (queue_.empty()) return;
  const auto since = options_.clock() - options_.abandoned_after;
  for (auto it = entries_.begin(); it != entries_.end();) {
    const auto entry = it++;
    if (entry->second.job && entry->second.job->asked < since) give_up(entry);
  }
}

bool Registry::has_room() const {
  if (queue_.empty()) return false;
  std::size_t loading = 0;
  for (const auto& job : started_) loading += job->expected;
  return started_.empty() || loading + queue_.front()->expected <= options_.budget_bytes;
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
    std::vector<std::shared_ptr<const LoadedTrace>> dropped;  // destroyed after the lock
    {
      std::unique_lock lock(mutex_);
      queued_.wait(lock, [this] { return stopping_ || has_room(); });
      if (stopping_) return;
      job = std::move(queue_.front());
      queue_.pop_front();
      job->started = true;
      started_.push_back(job);
      evict(job->file.id, dropped);
    }
    dropped.clear();
    const auto begin = options_.clock();
    Outcome outcome = load(*job);
    if (publish(*job, outcome, options_.clock() - begin) && outcome.later) {
      outcome.later([&] { return !stopping_ && !job->progress.cancel; });
    }
    outcome = {};
    const std::lock_guard lock(mutex_);
    std::erase(started_, job);
    if (started_.empty() && queue_.empty()) idle_.notify_all();
    queued_.notify_all();  // there may be room for others
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
  idle_.wait(lock, [this] { return started_.empty() && queue_.empty(); });
}

void Registry::evict(const std::string& keep,
                     std::vector<std::shared_ptr<const LoadedTrace>>& dropped) {
  const auto now = options_.clock();
  std::erase_if(held_, [&](const auto& held) { return held.second <= now; });
  std::size_t bytes = 0;
  for (const auto& [id, entry] : entries_) bytes += entry.loaded ? entry.loaded->bytes : 0;
  for (const auto& job : started_) {
    if (const auto it = entries_.find(job->file.id);
        it != entries_.end() && it->second.job == job) {
      bytes += job->expected;
    }
  }
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
