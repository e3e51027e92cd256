#include "tb_backend/metrics/store.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>
#include <utility>

namespace traceglass {

MetricRun::MetricRun(std::string name, std::vector<File> files)
    : name_(std::move(name)), files_(std::move(files)), void_from_(files_.size()) {
  for (std::size_t f = 0; f < files_.size(); ++f) {
    for (const TagPoints& points : files_[f].content->tags()) {
      const auto [it, fresh] = by_name_.emplace(points.tag, tags_.size());
      if (fresh) tags_.push_back({points.tag, {}});
      tags_[it->second].parts.push_back({f, &points});
    }
  }
  std::int64_t least = kNever;
  for (std::size_t f = files_.size(); f-- > 0;) {
    const std::vector<std::int64_t>& restarts = files_[f].content->restarts();
    std::vector<std::int64_t>& from = void_from_[f];
    from.assign(restarts.size() + 1, least);
    for (std::size_t r = restarts.size(); r-- > 0;) {
      least = std::min(least, restarts[r]);
      from[r] = least;
      has_restarts_ = true;
    }
  }
}

const MetricRun::Tag* MetricRun::find(std::string_view tag) const {
  const auto it = by_name_.find(tag);
  return it == by_name_.end() ? nullptr : &tags_[it->second];
}

MetricStore::MetricStore(MetricLimits limits, int threads) : limits_(limits), threads_(threads) {}

void MetricStore::update(std::vector<MetricFileRef> files) {
  {
    const std::shared_lock lock(mutex_);
    if (files == last_) return;
  }
  const std::unique_lock lock(mutex_);
  if (files == last_) return;
  // Files grow under the runs' feet: were anything to fail, no run may be left that looks at them.
  runs_.clear();
  last_.clear();
  std::map<std::string, Entry> next;
  std::vector<Entry*> changed;
  for (const MetricFileRef& ref : files) {
    Entry entry{ref, nullptr};
    if (const auto old = files_.find(ref.file); old != files_.end()) {
      const MetricFileRef& was = old->second.ref;
      // Another file under its name. One that was cut finds out when it is read on: `ref` is older
      // than what was read, which went to the file's end.
      const bool same = was.path == ref.path && was.device == ref.device && was.inode == ref.inode;
      if (same) entry.content = old->second.content;
      if (same && was == ref) {
        next.emplace(ref.file, std::move(entry));
        continue;
      }
    }
    if (!entry.content) entry.content = std::make_shared<EventFile>(ref.path, limits_);
    changed.push_back(&next.emplace(ref.file, std::move(entry)).first->second);
  }
  files_ = std::move(next);  // nodes move, so `changed` stays right
  read_files(changed);
  keep_within_limits();
  index();
  last_ = std::move(files);
}

// Largest first, so that the last one to end is short.
void MetricStore::read_files(std::vector<Entry*>& changed) const {
  std::sort(changed.begin(), changed.end(),
            [](const Entry* a, const Entry* b) { return a->ref.bytes > b->ref.bytes; });
  std::atomic<std::size_t> at{0};
  const auto work = [&] {
    for (std::size_t i = at++; i < changed.size(); i = at++) changed[i]->content->read_on();
  };
  std::vector<std::jthread> helpers;  // joined at their end, however that comes
  for (int i = 1; i < threads_ && changed.size() > 1; ++i) helpers.emplace_back(work);
  work();
}

void MetricStore::keep_within_limits() {
  std::size_t points = 0;
  for (const auto& [file, entry] : files_) points += entry.content->points();
  while (points > limits_.points) {
    bool any = false;
    for (auto& [file, entry] : files_) {
      const std::size_t before = entry.content->points();
      any = entry.content->thin() || any;
      points -= before - entry.content->points();
      if (points <= limits_.points) break;
    }
    if (!any) break;
  }
}

void MetricStore::index() {
  std::map<std::string, std::vector<MetricRun::File>> by_run;
  for (const auto& [file, entry] : files_) {
    by_run[entry.ref.run].push_back({file, entry.ref.bytes, entry.content});
  }
  runs_.clear();
  for (auto& [name, files] : by_run) runs_.emplace_back(name, std::move(files));
}

void MetricStore::read(const std::function<void(const Runs&)>& reader) const {
  const std::shared_lock lock(mutex_);
  reader(runs_);
}

}  // namespace traceglass
