// What a finished trace says about its own faults: metrics of trust, no changes but flags.
#include <algorithm>
#include <cstring>
#include <unordered_map>
#include <unordered_set>

#include "libtrace/model/args.h"
#include "libtrace/model/passes.h"
#include "libtrace/model/plain_text.h"

namespace libtrace {
namespace {

constexpr std::int64_t kOverrunNs = 100'000'000;           // 100 ms
constexpr std::int64_t kFarMarkerNs = 86'400'000'000'000;  // 24 h

bool is_launch_name(std::string_view name) {
  return name.find("Launch") != std::string_view::npos ||
         name.find("MemcpyAsync") != std::string_view::npos ||
         name.find("MemsetAsync") != std::string_view::npos;
}

std::string_view arg_bytes(const TraceData& d, EventId e) {
  const std::uint8_t* begin = d.arg_bytes.data() + d.args[e];
  const std::uint8_t* p =
      args::each(d.arg_bytes, d.args[e], [](StringId, const Value&, StringId) { return false; });
  return {reinterpret_cast<const char*>(begin), static_cast<std::size_t>(p - begin)};
}

void count_duplicates(TraceData& d) {
  Tally duplicates("duplicate_rows");
  std::vector<EventId> same_time;
  const auto key = [&](EventId e) { return std::tuple(d.name[e], d.category[e], arg_bytes(d, e)); };
  for (const Lane& lane : d.lanes) {
    for (EventId e = lane.first; e < lane.last;) {
      same_time.clear();
      const EventId first = e;
      while (e < lane.last && d.start[e] == d.start[first] && d.dur[e] == d.dur[first]) {
        same_time.push_back(e++);
      }
      if (same_time.size() < 2) continue;
      std::stable_sort(same_time.begin(), same_time.end(),
                       [&](EventId a, EventId b) { return key(a) < key(b); });
      for (std::size_t i = 1; i < same_time.size(); ++i) {
        if (key(same_time[i]) == key(same_time[i - 1])) {
          duplicates.hit(d, same_time[i]);
        }
      }
    }
  }
  duplicates.into(d.report);
}

void count_overlaps(TraceData& d) {
  Tally overlaps("overlap");
  for (const Lane& lane : d.lanes) {
    if (lane.domain != Domain::kDevice) continue;
    std::int64_t end = INT64_MIN;
    for (EventId e = lane.first; e < lane.last; ++e) {
      if (!is_device_work(d.kind[e]) || suspect(d, e)) continue;
      if (d.start[e] < end) overlaps.hit(d, e);
      end = std::max(end, end_of(d, e));
    }
  }
  overlaps.into(d.report);
}

void count_launches_without_kernel(Draft& draft) {
  TraceData& d = draft.data;
  std::unordered_set<std::int64_t> on_device;
  bool device_work = false;
  for (EventId e = 0; e < d.start.size(); ++e) {
    if (!is_device_work(d.kind[e])) continue;
    device_work = true;
    if (draft.correlation[e] != 0) on_device.insert(draft.correlation[e]);
  }
  std::unordered_map<StringId, bool> launch_names;  // names repeat; look at each once
  std::int64_t launches = 0;
  Tally no_kernel("no_kernel");
  for (EventId e = 0; e < d.start.size(); ++e) {
    if (d.kind[e] != Kind::kRuntime || suspect(d, e)) continue;
    const auto [it, fresh] = launch_names.try_emplace(d.name[e], false);
    if (fresh) it->second = is_launch_name(text_of(d, d.name[e]));
    if (!it->second) continue;
    ++launches;
    if (device_work && !on_device.contains(draft.correlation[e])) {
      no_kernel.hit(d, e);
    }
  }
  no_kernel.into(d.report);
  if (device_work) return;
  std::string why;
  bool refused = false;  // our recorder was asked for the device and could not
  for (const auto& [name, json] : d.metadata) {
    refused = refused || name == "cupti_error";
    for (const char* key : {"cupti_error", "cupti_advice", "WARNING", "ERROR"}) {
      if (name == key) why += (why.empty() ? "" : " ") + plain_text(json);
    }
  }
  if (launches == 0 && !refused) return;
  d.report.add("no_device_events", std::max<std::int64_t>(launches, 1), {}, why);
}

}  // namespace

std::string place_of(const TraceData& d, EventId e) {
  constexpr std::size_t kMost = 120;  // a place is a hint, names can be megabytes
  std::string_view name = text_of(d, d.name[e]);
  if (name.size() <= kMost) return std::string(name);
  std::size_t cut = kMost;
  while (cut > 0 && (static_cast<unsigned char>(name[cut]) & 0xC0) == 0x80) --cut;
  return std::string(name.substr(0, cut)) + "…";
}

void mark_overruns(TraceData& d) {
  // Latest and second latest end of each device's work. The device of a lane is its pid here:
  // the two agree wherever both are written, and a copy between devices stands on one of them.
  struct Latest {
    std::int64_t first = INT64_MIN, second = INT64_MIN;
  };
  std::unordered_map<std::string_view, Latest> latest;
  const auto counts = [&](EventId e) { return is_device_work(d.kind[e]) && !suspect(d, e); };
  for (const Lane& lane : d.lanes) {
    for (EventId e = lane.first; e < lane.last; ++e) {
      if (!counts(e)) continue;
      Latest& l = latest[lane.pid];
      const std::int64_t end = end_of(d, e);
      l.second = std::max(l.second, std::min(l.first, end));
      l.first = std::max(l.first, end);
    }
  }
  for (const Lane& lane : d.lanes) {
    EventId previous = kNone;
    for (EventId e = lane.first; e < lane.last; ++e) {
      if (!counts(e)) continue;
      if (previous != kNone && end_of(d, previous) >= end_of(d, e)) {
        const Latest& l = latest[lane.pid];
        if (end_of(d, previous) == l.first && l.first - l.second > kOverrunNs) {
          d.flags[previous] |= flag::kOverrun;
        }
      }
      previous = e;
    }
  }
}

void check(Draft& draft) {
  TraceData& d = draft.data;
  bool any = false;
  std::pair<std::uint16_t, Tally> by_flag[] = {{flag::kUnfinished, Tally("unfinished")},
                                               {flag::kZeroTime, Tally("zero_time")},
                                               {flag::kNegative, Tally("negative_duration")},
                                               {flag::kOverrun, Tally("overrun")}};
  for (EventId e = 0; e < d.start.size(); ++e) {
    const std::uint16_t flags = d.flags[e];
    for (auto& [bit, tally] : by_flag) {
      if ((flags & bit) != 0) tally.hit(d, e);
    }
    if ((flags & flag::kSuspect) != 0 || d.kind[e] == Kind::kSpan) continue;
    d.range.start = any ? std::min(d.range.start, d.start[e]) : d.start[e];
    d.range.end = any ? std::max(d.range.end, end_of(d, e)) : end_of(d, e);
    any = true;
  }
  for (const auto& [bit, tally] : by_flag) tally.into(d.report);
  for (const Instant& instant : d.instants) {
    if (any && instant.at > d.range.end + kFarMarkerNs) {
      d.report.add("far_marker", 1, std::string(text_of(d, instant.name)));
    }
  }
  count_overlaps(d);
  count_duplicates(d);
  count_launches_without_kernel(draft);
  if (d.rank_guessed) d.report.add("guessed_rank");
}

}  // namespace libtrace
