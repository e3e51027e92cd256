#include "tb_backend/api/metric_book.h"

#include <algorithm>
#include <utility>

namespace traceglass {
namespace {

constexpr std::size_t kMostClocks = 20'000;

double seconds(std::int64_t ns) { return static_cast<double>(ns) / 1e9; }

}  // namespace

std::vector<ProfiledStep> ProfileClock::joinable() const {
  if (!steps.empty()) return steps;
  if (!start) return {{0, end, end}};
  return {{0, *start, *start}, {1, end, end}};
}

ProfileClock clock_of(const TraceFile& file) {
  ProfileClock clock;
  if (const auto stamp = stamp_seconds(file.span)) {
    clock.source = ProfileClock::Source::kName;
    clock.end = *stamp;
  } else {
    clock.end = seconds(file.stamp.modified_ns);
  }
  return clock;
}

double base_seconds(const TraceFile& file, const libtrace::Trace& trace) {
  if (trace.base_unix_ns()) return seconds(*trace.base_unix_ns());
  return clock_of(file).end - seconds(trace.range().end);
}

ProfileClock clock_of(const LoadedTrace& loaded) {
  ProfileClock clock = clock_of(loaded.file);
  clock.loaded = true;
  const libtrace::Trace& trace = *loaded.trace;
  if (trace.base_unix_ns()) clock.source = ProfileClock::Source::kTrace;
  const double base = base_seconds(loaded.file, trace);
  clock.start = base + seconds(trace.range().start);
  clock.end = base + seconds(trace.range().end);
  for (const Step& step : loaded.steps) {
    if (step.synthetic) continue;
    clock.steps.push_back(
        {step.index, base + seconds(step.host.start), base + seconds(step.host.end)});
  }
  return clock;
}

const MetricStore& MetricBook::follow(const std::shared_ptr<const Snapshot>& snapshot) {
  const auto done = [&] {
    const std::lock_guard lock(mutex_);
    return followed_ == snapshot || std::any_of(left_.begin(), left_.end(), [&](const auto& old) {
             return old.lock() == snapshot;
           });
  };
  if (done()) return store_;
  const std::lock_guard following(following_);
  if (done()) return store_;
  std::vector<MetricFileRef> files;
  files.reserve(snapshot->events.size());
  for (const EventFileFound& found : snapshot->events) {
    files.push_back({found.run, found.file, found.path, found.stamp.bytes, found.stamp.device,
                     found.stamp.inode, found.stamp.modified_ns});
  }
  store_.update(std::move(files));
  const std::lock_guard lock(mutex_);
  std::erase_if(left_, [](const auto& old) { return old.expired(); });
  if (followed_) left_.push_back(followed_);
  followed_ = snapshot;
  return store_;
}

ProfileClock MetricBook::clock(Registry& registry, const TraceFile& file) {
  {
    const std::lock_guard lock(mutex_);
    const auto known = clocks_.find(file.id);
    if (known != clocks_.end() && known->second.first == file.stamp) return known->second.second;
  }
  if (registry.peek(file) != LoadPhase::kReady) return clock_of(file);
  const LoadStatus status = registry.ask(file);
  if (!status.loaded) return clock_of(file);
  ProfileClock clock = clock_of(*status.loaded);
  const std::lock_guard lock(mutex_);
  if (clocks_.size() >= kMostClocks) clocks_.clear();
  clocks_[file.id] = {status.loaded->file.stamp, clock};
  return clock;
}

}  // namespace traceglass
