// What the metrics routes keep between requests: the event files, followed through the snapshots
// of the log directory, and when each profile seen so far was recorded.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "tb_backend/api/registry.h"
#include "tb_backend/logdir/scan.h"
#include "tb_backend/metrics/join.h"
#include "tb_backend/metrics/store.h"

namespace traceglass {

// When a profile was recorded, by the best source there is.
struct ProfileClock {
  enum class Source : std::uint8_t { kTrace, kName, kModified };
  Source source = Source::kModified;
  std::optional<double> start;      // seconds since 1970
  double end = 0;                   // by the file: when it was written
  bool loaded = false;              // `steps` are known
  std::vector<ProfiledStep> steps;  // in the order of Meta.steps; none where the file has none

  // What is joined: the steps, or both ends where there are none.
  [[nodiscard]] std::vector<ProfiledStep> joinable() const;
};

// Time 0 of a trace in seconds since 1970. Where it does not say, it ends when its file was
// written, as far as anybody knows.
double base_seconds(const TraceFile& file, const libtrace::Trace& trace);

ProfileClock clock_of(const LoadedTrace& loaded);
ProfileClock clock_of(const TraceFile& file);

class MetricBook {
 public:
  // Reads what the snapshot's event files hold by now. One that is older than the last followed, of
  // a request that took long, changes nothing.
  const MetricStore& follow(const std::shared_ptr<const Snapshot>& snapshot);

  // Loads nothing. What was known of a loaded trace stays known when it leaves the memory.
  ProfileClock clock(Registry& registry, const TraceFile& file);

 private:
  MetricStore store_;
  std::mutex following_;  // one snapshot after the other
  std::mutex mutex_;
  std::shared_ptr<const Snapshot> followed_;
  std::deque<std::weak_ptr<const Snapshot>> left_;  // followed before; those that requests hold
  std::map<std::string, std::pair<FileStamp, ProfileClock>> clocks_;  // by id
};

}  // namespace traceglass
