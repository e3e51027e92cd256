#include "tb_backend/timeline/counters.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "libtrace/model/device.h"
#include "tb_backend/timeline/labels.h"

namespace traceglass {
namespace {

using libtrace::EventId;
using libtrace::kNone;
using libtrace::Trace;

using Change = std::pair<std::int64_t, double>;  // time, difference

// Corners from changes in any order; changes at one time make one corner.
void integrate(std::vector<Change>& changes, CounterTrack& track) {
  std::sort(changes.begin(), changes.end());
  double level = 0;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    level += changes[i].second;
    if (i + 1 < changes.size() && changes[i + 1].first == changes[i].first) continue;
    track.at.push_back(changes[i].first);
    track.value.push_back(level);
  }
}

// Corners from values in time order; of several at one time the last counts.
void add_corner(CounterTrack& track, std::int64_t at, double value) {
  if (!track.at.empty() && track.at.back() == at) {
    track.value.back() = value;
  } else {
    track.at.push_back(at);
    track.value.push_back(value);
  }
}

// From the start of the launch to the end of the work: what waits or runs.
void add_queues(const Trace& trace, std::vector<CounterTrack>& out) {
  struct Queue {
    libtrace::LaneId lane = 0;
    std::vector<Change> changes;
  };
  std::map<std::int64_t, Queue> queues;
  for (EventId e = 0; e < trace.size(); ++e) {
    if (!libtrace::is_device_work(trace.kind(e)) || trace.suspect(e)) continue;
    const EventId launch = trace.launch(e);
    if (launch == kNone || trace.suspect(launch)) continue;
    Queue& queue = queues[libtrace::device_id(trace, e).value_or(0)];
    queue.lane = trace.lane_of(e);
    queue.changes.emplace_back(std::min(trace.start(launch), trace.end(e)), 1);
    queue.changes.emplace_back(trace.end(e), -1);
  }
  for (auto& [device, queue] : queues) {
    CounterTrack track;
    track.id = "queue:" + std::to_string(device);
    track.section = section_id(trace, trace.lanes()[queue.lane]);
    track.label = "Launched, not finished";
    track.unit = "kernels";
    integrate(queue.changes, track);
    out.push_back(std::move(track));
  }
}

std::string memory_section(const Trace& trace, std::int32_t type, std::int32_t id,
                           libtrace::LaneId reporting) {
  if (type != 0) return "device:" + std::to_string(id);
  if (reporting != kNone) return section_id(trace, trace.lanes()[reporting]);
  return "host:";
}

void add_memory(const Trace& trace, std::vector<CounterTrack>& out) {
  std::map<std::pair<std::int32_t, std::int32_t>, std::vector<const libtrace::MemoryEvent*>> device;
  for (const libtrace::MemoryEvent& event : trace.memory()) {
    if (!event.out_of_memory) device[{event.device_type, event.device_id}].push_back(&event);
  }
  for (auto& [key, events] : device) {
    std::stable_sort(events.begin(), events.end(),
                     [](const auto* a, const auto* b) { return a->at < b->at; });
    const bool totals = std::any_of(events.begin(), events.end(),
                                    [](const auto* e) { return e->total_allocated.has_value(); });
    CounterTrack track;
    track.id =
        "allocated:" + libtrace::memory_device_type(key.first) + ':' + std::to_string(key.second);
    track.section = memory_section(trace, key.first, key.second, events.front()->lane);
    track.label = totals ? "Allocated" : "Allocated, change";
    track.unit = "bytes";
    std::int64_t sum = 0;
    for (const libtrace::MemoryEvent* event : events) {
      sum += event->bytes;
      if (!totals) {
        add_corner(track, event->at, static_cast<double>(sum));
      } else if (event->total_allocated) {
        add_corner(track, event->at, static_cast<double>(*event->total_allocated));
      }
    }
    out.push_back(std::move(track));
  }
}

std::optional<double> number(const libtrace::Value& value) {
  switch (value.type) {
    case libtrace::Value::Type::kInt:
      return static_cast<double>(value.i);
    case libtrace::Value::Type::kUint:
      return static_cast<double>(value.u);
    case libtrace::Value::Type::kDouble:
      return value.d;
    default:
      return std::nullopt;
  }
}

// "C" rows: one line a lane, name and series.
void add_file_counters(const Trace& trace, std::vector<CounterTrack>& out) {
  std::vector<const libtrace::Instant*> rows;
  for (const libtrace::Instant& row : trace.instants()) {
    if (row.phase == 'C') rows.push_back(&row);
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto* a, const auto* b) { return a->at < b->at; });
  std::map<std::pair<libtrace::LaneId, std::string>, CounterTrack> tracks;
  for (const libtrace::Instant* row : rows) {
    for (const auto& [key, value] : trace.args_at(row->args)) {
      const auto v = number(value);
      if (!v) continue;
      std::string id(trace.text(row->name));
      if (!key.empty() && key != id) id += (id.empty() ? "" : " · ") + std::string(key);
      CounterTrack& track = tracks[{row->lane, id}];
      if (track.id.empty()) {
        track.id = track.label = id;
        if (row->lane != kNone) track.section = section_id(trace, trace.lanes()[row->lane]);
      }
      add_corner(track, row->at, *v);
    }
  }
  for (auto& [key, track] : tracks) out.push_back(std::move(track));
}

}  // namespace

std::vector<CounterTrack> counter_tracks(const Trace& trace) {
  std::vector<CounterTrack> out;
  add_queues(trace, out);
  add_memory(trace, out);
  add_file_counters(trace, out);
  return out;
}

CounterBuckets fold_counter(const CounterTrack& track, std::int64_t t0, std::int64_t t1, int n) {
  CounterBuckets out;
  if (t1 <= t0 || n < 1) return out;
  const std::uint64_t span = static_cast<std::uint64_t>(t1) - static_cast<std::uint64_t>(t0);
  const auto count = static_cast<std::uint64_t>(n);
  const std::uint64_t width = span / count + (span % count != 0 ? 1 : 0);
  auto i = static_cast<std::size_t>(std::upper_bound(track.at.begin(), track.at.end(), t0) -
                                    track.at.begin());
  const auto emit = [&](std::uint64_t bucket, double min, double max, double last) {
    out.at.push_back(static_cast<std::int64_t>(static_cast<std::uint64_t>(t0) + bucket * width));
    out.min.push_back(min);
    out.max.push_back(max);
    out.last.push_back(last);
  };
  std::optional<double> level;
  if (i > 0) level = track.value[i - 1];
  const auto bucket_of = [&](std::size_t j) {
    return (static_cast<std::uint64_t>(track.at[j]) - static_cast<std::uint64_t>(t0)) / width;
  };
  const bool first_changes = i < track.at.size() && track.at[i] < t1 && bucket_of(i) == 0;
  if (level && !first_changes) emit(0, *level, *level, *level);
  while (i < track.at.size() && track.at[i] < t1) {
    const std::uint64_t bucket = bucket_of(i);
    double min = level.value_or(track.value[i]);
    double max = min;
    for (; i < track.at.size() && track.at[i] < t1 && bucket_of(i) == bucket; ++i) {
      min = std::min(min, track.value[i]);
      max = std::max(max, track.value[i]);
      level = track.value[i];
    }
    emit(bucket, min, max, *level);
  }
  return out;
}

}  // namespace traceglass
