#include "tb_backend/api/rank_parts.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "tb_backend/analysis/steps.h"
#include "tb_backend/analysis/verdicts.h"

namespace traceglass {

namespace {

constexpr std::size_t kMostWaiting = 64;  // answers
constexpr std::size_t kMostPaths = 256;   // kept of a rank

}  // namespace

RankParts::RankParts(Registry& registry, const Registry::Options& options)
    : registry_(registry), options_(options) {
  for (int i = 0; i < std::max(1, options_.loaders); ++i) workers_.emplace_back([this] { work(); });
}

RankParts::~RankParts() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    queue_.clear();
    for (const auto& progress : running_) progress->cancel = true;
  }
  queued_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

RankParts::Answer RankParts::ask(const std::vector<TraceFile>& files) {
  Answer answer;
  const std::lock_guard lock(mutex_);
  for (const TraceFile& file : files) {
    Entry& entry = entries_[file.id];
    const bool old = !entry.part || entry.part->file.stamp != file.stamp;
    const bool rested = !entry.part || options_.clock() - entry.finished >= options_.reload_after;
    if (old && rested && !entry.queued) {
      entry.queued = true;
      queue_.push_back({file, Job::Of::kSummary, {}});
      queued_.notify_one();
    }
    answer.limits += entry.limit_number;
    if (entry.part) {
      answer.parts.push_back(*entry.part);
    } else {
      ++answer.waiting;
    }
  }
  return answer;
}

void RankParts::keep_only(const Snapshot& snapshot) {
  std::vector<Entry> dropped;  // destroyed after the lock
  const std::lock_guard lock(mutex_);
  for (auto it = entries_.begin(); it != entries_.end();) {
    if (it->second.queued || snapshot.find(it->first) != nullptr) {
      ++it;
      continue;
    }
    dropped.push_back(std::move(it->second));
    it = entries_.erase(it);
  }
}

std::size_t RankParts::resident_bytes() {
  const std::lock_guard lock(mutex_);
  std::size_t bytes = 0;
  for (const auto& [id, entry] : entries_) {
    if (entry.part && entry.part->summary) bytes += entry.part->summary->resident_bytes();
  }
  return bytes;
}

std::optional<RankParts::Limit> RankParts::limit(const TraceFile& file) {
  const std::lock_guard lock(mutex_);
  Entry& entry = entries_[file.id];
  if (!entry.limit_queued && (!entry.limit || entry.limit_stamp != file.stamp)) {
    entry.limit_queued = true;
    queue_.push_back({file, Job::Of::kLimit, {}});
    queued_.notify_one();
  }
  return entry.limit;
}

std::optional<std::vector<std::optional<PathParts>>> RankParts::path_parts(
    const TraceFile& file, const std::vector<PathWindow>& windows) {
  const std::lock_guard lock(mutex_);
  Entry& entry = entries_[file.id];
  if (entry.paths_queued) return std::nullopt;
  if (entry.paths_stamp != file.stamp || entry.paths.size() > kMostPaths) entry.paths.clear();
  std::vector<std::optional<PathParts>> known;
  for (const PathWindow& w : windows) {
    const auto it = entry.paths.find(w);
    if (it == entry.paths.end()) break;
    known.push_back(it->second);
  }
  if (known.size() == windows.size()) return known;
  entry.paths_queued = true;
  queue_.push_back({file, Job::Of::kPaths, windows});
  queued_.notify_one();
  return std::nullopt;
}

void RankParts::wait_for_limit(const std::string& answer, const TraceFile& file) {
  const std::lock_guard lock(mutex_);
  if (waiting_answers_.size() >= kMostWaiting) waiting_answers_.clear();
  waiting_answers_[answer] = file.id;
}

bool RankParts::waits_for_limit(const std::string& answer) {
  const std::lock_guard lock(mutex_);
  const auto it = waiting_answers_.find(answer);
  if (it == waiting_answers_.end()) return false;
  const auto entry = entries_.find(it->second);
  if (entry != entries_.end() && entry->second.limit_queued && !entry->second.limit) return true;
  waiting_answers_.erase(it);
  return false;
}

void RankParts::work() {
  while (true) {
    Job job;
    {
      std::unique_lock lock(mutex_);
      queued_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
      if (stopping_) return;
      job = std::move(queue_.front());
      queue_.pop_front();
    }
    if (job.of == Job::Of::kLimit) {
      Limit limit = find_limit(job.file);
      const std::lock_guard lock(mutex_);
      Entry& entry = entries_[job.file.id];
      entry.limit = std::move(limit);
      entry.limit_stamp = job.file.stamp;
      entry.limit_number = ++limits_;
      entry.limit_queued = false;
      continue;
    }
    if (job.of == Job::Of::kPaths) {
      const std::vector<std::optional<PathParts>> found = find_paths(job);
      const std::lock_guard lock(mutex_);
      Entry& entry = entries_[job.file.id];
      for (std::size_t i = 0; i < job.windows.size(); ++i) entry.paths[job.windows[i]] = found[i];
      entry.paths_stamp = job.file.stamp;
      entry.paths_queued = false;
      continue;
    }
    Part part = make(job.file);
    std::optional<Part> before;  // destroyed after the lock
    const std::lock_guard lock(mutex_);
    Entry& entry = entries_[job.file.id];
    before = std::exchange(entry.part, std::move(part));
    entry.queued = false;
    entry.finished = options_.clock();
  }
}

IngestResult RankParts::read(const TraceFile& file) {
  if (registry_.peek(file) == LoadPhase::kReady) {
    const LoadStatus status = registry_.ask(file);
    if (status.loaded && status.loaded->file.stamp == file.stamp) {
      return {status.loaded->trace, std::nullopt};
    }
  }
  const auto progress = std::make_shared<IngestProgress>();
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) progress->cancel = true;
    running_.push_back(progress);
  }
  IngestResult result;
  try {
    result = options_.load(file.path, progress.get()).ingest;
  } catch (const std::exception& e) {  // out of memory: this rank fails, the server does not
    result.error = FileError{"broken", std::string("The file could not be loaded: ") + e.what(), 0};
  }
  const std::lock_guard lock(mutex_);
  std::erase(running_, progress);
  return result;
}

RankParts::Part RankParts::make(const TraceFile& file) {
  Part part;
  part.file = file;
  IngestResult result = read(file);
  part.error = std::move(result.error);
  try {
    if (result.trace) {
      part.summary = std::make_shared<const RankSummary>(summarize_rank(*result.trace));
    }
  } catch (const std::exception& e) {
    part.error = FileError{"broken", std::string("The rank was not understood: ") + e.what(), 0};
  }
  if (!part.summary && !part.error) {
    part.error = FileError{"unreadable", "The load was given up.", 0};
  }
  return part;
}

RankParts::Limit RankParts::find_limit(const TraceFile& file) {
  try {
    const IngestResult result = read(file);
    if (!result.trace) return {};
    const libtrace::Trace& trace = *result.trace;
    for (Verdict& v : find_verdicts(trace, Selection::everything(find_steps(trace)))) {
      const bool fires = v.severity <= VerdictSeverity::kLow;
      if (fires && v.id != "communication") return {std::move(v.id), std::move(v.sentence)};
    }
  } catch (const std::exception&) {  // out of memory: it stays unknown
  }
  return {};
}

std::vector<std::optional<PathParts>> RankParts::find_paths(const Job& job) {
  std::vector<std::optional<PathParts>> out(job.windows.size());
  try {
    const IngestResult result = read(job.file);
    if (!result.trace) return out;
    const StepGraph graph(*result.trace);
    for (std::size_t i = 0; i < out.size(); ++i) {
      out[i] = traceglass::path_parts(graph, job.windows[i]);
    }
  } catch (const std::exception&) {  // out of memory: it stays unknown
  }
  return out;
}

}  // namespace traceglass
