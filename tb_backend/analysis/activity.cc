#include "tb_backend/analysis/activity.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "libtrace/model/device.h"
#include "tb_backend/analysis/exposed.h"

namespace traceglass {

using libtrace::EventId;
using libtrace::Intervals;
using libtrace::Kind;
using libtrace::TimeRange;
using libtrace::Trace;

namespace {

bool starts_folded(std::string_view text, std::string_view lower) {
  return text.size() >= lower.size() &&
         std::equal(lower.begin(), lower.end(), text.begin(), [](char l, char c) {
           return l == (c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c);
         });
}

// XPU work carries the categories of CUDA; its runtime does not.
bool is_xpu(const Trace& trace) {
  for (const libtrace::Lane& lane : trace.lanes()) {
    for (EventId e = lane.first; e < lane.last; ++e) {
      if (starts_folded(trace.category(e), "xpu_")) return true;
      if (trace.kind(e) == Kind::kRuntime) break;  // one runtime row a lane tells
    }
  }
  return false;
}

// The categories of an event that may be counted; several, since a DataLoader range is also CPU.
template <typename Put>
void sort_into(const Trace& trace, EventId e, bool device_work, Put&& put) {
  const std::uint16_t flags = trace.flags(e);
  switch (trace.kind(e)) {
    case Kind::kKernel:
      put((flags & libtrace::flag::kCommunication) != 0 ? Category::kCommunication
                                                        : Category::kKernel);
      return;
    case Kind::kMemcpy:
      put(Category::kMemcpy);
      return;
    case Kind::kMemset:
      put(Category::kMemset);
      return;
    case Kind::kRuntime:
      put(Category::kRuntime);
      break;
    case Kind::kOp:
    case Kind::kAnnotation:
      if ((flags & libtrace::flag::kStep) == 0) put(Category::kCpu);
      if (!device_work && (flags & libtrace::flag::kHostCollective) != 0) {
        put(Category::kCommunication);
      }
      break;
    default:
      break;
  }
  if ((flags & libtrace::flag::kDataLoader) != 0) put(Category::kDataLoader);
}

bool has_device_work(const Trace& trace) {
  for (EventId e = 0; e < trace.size(); ++e) {
    if (libtrace::is_device_work(trace.kind(e)) && !trace.suspect(e)) return true;
  }
  return false;
}

std::vector<Intervals> by_category(const Trace& trace) {
  std::vector<std::vector<TimeRange>> ranges(kCategoryCount);
  const bool device_work = has_device_work(trace);
  for (EventId e = 0; e < trace.size(); ++e) {
    if (trace.suspect(e)) continue;
    sort_into(trace, e, device_work, [&](Category c) {
      // Nested ranges of a lane come one after another: only what sticks out adds to the union.
      auto& list = ranges[static_cast<std::size_t>(c)];
      const TimeRange r{trace.start(e), trace.end(e)};
      if (!list.empty() && list.back().start <= r.start && r.end <= list.back().end) return;
      list.push_back(r);
    });
  }
  std::vector<Intervals> sets;
  for (auto& list : ranges) sets.push_back(libtrace::united(std::move(list)));
  return sets;
}

}  // namespace

std::vector<DeviceActivity> find_devices(const Trace& trace) {
  std::map<std::pair<std::string_view, std::int64_t>, std::vector<EventId>> work;
  const bool xpu = is_xpu(trace);
  auto last = work.end();  // one lane after another: mostly the same again
  for (EventId e = 0; e < trace.size(); ++e) {
    if (!libtrace::is_device_work(trace.kind(e)) || trace.suspect(e)) continue;
    const std::pair<std::string_view, std::int64_t> key(starts_folded(trace.category(e), "mtia_")
                                                            ? "mtia"
                                                        : xpu ? "xpu"
                                                              : "cuda",
                                                        libtrace::device_id(trace, e).value_or(0));
    if (last == work.end() || last->first != key) last = work.try_emplace(key).first;
    last->second.push_back(e);
  }
  std::vector<DeviceActivity> devices;
  for (auto& [key, events] : work) {
    DeviceActivity d;
    d.type = key.first;
    d.id = key.second;
    for (const libtrace::DeviceProperties& p : trace.devices()) {
      if (p.id != d.id) continue;
      d.properties = &p;
      d.name = p.name;
    }
    std::sort(events.begin(), events.end(), [&](EventId a, EventId b) {
      return trace.start(a) != trace.start(b) ? trace.start(a) < trace.start(b) : a < b;
    });
    std::vector<TimeRange> ranges;
    ranges.reserve(events.size());
    for (const EventId e : events) ranges.push_back({trace.start(e), trace.end(e)});
    d.work = std::move(events);
    d.busy = libtrace::united(std::move(ranges));
    devices.push_back(std::move(d));
  }
  return devices;
}

std::int64_t Breakdown::total() const {
  return std::accumulate(std::begin(ns), std::end(ns), std::int64_t{0});
}

namespace {

Intervals exposed(const std::vector<Intervals>& sets) {
  return libtrace::without(sets[static_cast<std::size_t>(Category::kCommunication)],
                           sets[static_cast<std::size_t>(Category::kKernel)]);
}

}  // namespace

BreakdownMaker::BreakdownMaker(const Trace& trace) {
  std::vector<Intervals> sets = by_category(trace);
  communication_.total_ns =
      libtrace::length(sets[static_cast<std::size_t>(Category::kCommunication)]);
  communication_.exposed_ns = libtrace::length(exposed(sets));
  Intervals covered;
  for (Intervals& set : sets) {
    exclusive_.emplace_back(libtrace::without(set, covered));
    covered = libtrace::united(covered, set);
  }
  exclusive_.pop_back();  // kOther is what is left
}

Breakdown BreakdownMaker::of(TimeRange range) const {
  Breakdown b;
  std::int64_t rest = range.length();
  for (std::size_t c = 0; c < exclusive_.size(); ++c) {
    b.ns[c] = exclusive_[c].within(range);
    rest -= b.ns[c];
  }
  b.ns[static_cast<int>(Category::kOther)] = rest;
  return b;
}

Intervals exposed_communication(const Trace& trace) { return exposed(by_category(trace)); }

}  // namespace traceglass
