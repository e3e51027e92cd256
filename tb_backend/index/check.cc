#include "tb_backend/index/check.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <string_view>
#include <vector>

#include "libtrace/model/sums.h"
#include "libtrace/model/utf8.h"
#include "tb_backend/index/blocks.h"

namespace traceglass::index {
namespace {

using libtrace::EventId;
using libtrace::Kind;
using libtrace::kNone;
using libtrace::Lane;
using libtrace::StringId;
using libtrace::TraceData;
namespace flag = libtrace::flag;

// What TraceBuilder holds times and durations to: no sum of them leaves 64 bits.
constexpr std::int64_t kFar = std::int64_t{1} << 62;
constexpr std::int64_t kLatest = std::int64_t{1} << 61;
constexpr std::int64_t kMostBytes = std::int64_t{1} << 61;  // of one memory event
constexpr std::uint16_t kKnownFlags = 2 * flag::kHostCollective - 1;
constexpr std::size_t kSlicesAtATime = 1U << 16;

bool suspect(const TraceData& d, EventId e) { return (d.flags[e] & flag::kSuspect) != 0; }
std::int64_t end_of(const TraceData& d, EventId e) { return d.start[e] + d.dur[e]; }

// What a block of slices adds to the whole.
struct Seen {
  bool good = true;
  std::int64_t longest_sum = 0;  // of positive durations, saturated
  std::int64_t first = INT64_MAX, last = INT64_MIN;
};

class Slices {
 public:
  explicit Slices(const TraceData& d) : d_(d), size_(d.start.size()) {}

  // Slices [from, to), all of `lane`, which is good itself.
  void check(std::uint32_t lane_id, EventId from, EventId to, Seen& seen) const {
    const Lane& lane = d_.lanes[lane_id];
    // Without a way out in the middle: what is right is what is met.
    bool good = true;
    for (EventId e = from; e < to; ++e) {
      const std::int64_t start = d_.start[e], dur = d_.dur[e];
      good &= start >= -kFar && start <= kLatest && dur >= -kFar && dur < kFar;
      good &= d_.lane[e] == lane_id && d_.name[e] < strings() && d_.args[e] < d_.arg_bytes.size() &&
              d_.category[e] < d_.categories.size() && d_.kind[e] <= Kind::kOther &&
              d_.flags[e] <= kKnownFlags;
      good &= d_.self[e] >= 0 && d_.self[e] <= std::max<std::int64_t>(dur, 0);
    }
    seen.good = seen.good && good;
    if (!good) return;
    for (EventId e = from; e < to; ++e) {
      good &= e == lane.first || d_.start[e - 1] <= d_.start[e];
      good &= tree(lane, e) && device(e);
      seen.longest_sum = libtrace::plus(seen.longest_sum, std::max<std::int64_t>(d_.dur[e], 0));
      if (suspect(d_, e) || d_.kind[e] == Kind::kSpan) continue;
      seen.first = std::min(seen.first, d_.start[e]);
      seen.last = std::max(seen.last, end_of(d_, e));
    }
    seen.good = seen.good && good;
  }

 private:
  [[nodiscard]] std::size_t strings() const { return d_.string_offset.size() - 1; }

  // Parents are of the same tree and lane, hold their children, and stand before them.
  [[nodiscard]] bool tree(const Lane& lane, EventId e) const {
    const EventId up = d_.parent[e];
    if (up == kNone) return d_.depth[e] == 0;
    if (up < lane.first || up >= e || suspect(d_, up) || suspect(d_, e)) return false;
    const bool host = is_host_tree(d_.kind[e]) && is_host_tree(d_.kind[up]);
    const bool python = d_.kind[e] == Kind::kPython && d_.kind[up] == Kind::kPython;
    return (host || python) && d_.depth[e] == std::min(d_.depth[up] + 1, 0xFFFF) &&
           libtrace::plus(d_.start[up], d_.dur[up]) >= end_of(d_, e);  // `up` may be bad still
  }

  // Only device work has been launched, by a call; owners and anchors are operators and ranges.
  [[nodiscard]] bool device(EventId e) const {
    const EventId launch = d_.launch[e], owner = d_.owner[e], anchor = d_.anchor[e];
    if ((launch & owner & anchor) == kNone) return true;
    const auto is = [&](EventId of, Kind least, Kind most) {
      return of == kNone || (of < size_ && d_.kind[of] >= least && d_.kind[of] <= most);
    };
    return is_device_work(d_.kind[e]) && is(launch, Kind::kRuntime, Kind::kRuntime) &&
           is(owner, Kind::kOp, Kind::kOp) && is(anchor, Kind::kOp, Kind::kAnnotation);
  }

  const TraceData& d_;
  const std::size_t size_;
};

std::string slices_fault(const TraceData& d) {
  struct Piece {
    std::uint32_t lane;
    EventId from, to;
  };
  std::vector<Piece> pieces;
  EventId next = 0;  // lanes follow one another
  for (std::uint32_t i = 0; i < d.lanes.size(); ++i) {
    const Lane& lane = d.lanes[i];
    if (lane.first != next || lane.last < lane.first) return "lanes";
    next = lane.last;
  }
  if (next != d.start.size()) return "lanes";
  for (std::uint32_t i = 0; i < d.lanes.size(); ++i) {
    const Lane& lane = d.lanes[i];
    for (EventId e = lane.first; e < lane.last;) {
      const auto to = static_cast<EventId>(std::min<std::size_t>(lane.last, e + kSlicesAtATime));
      pieces.push_back({i, e, to});
      e = to;
    }
  }
  const Slices slices(d);
  std::vector<Seen> seen(pieces.size());
  for_each_block(pieces.size(), [&](std::size_t i) {
    slices.check(pieces[i].lane, pieces[i].from, pieces[i].to, seen[i]);
  });
  Seen all;
  for (const Seen& piece : seen) {
    if (!piece.good) return "slices";
    all.longest_sum = libtrace::plus(all.longest_sum, piece.longest_sum);
    all.first = std::min(all.first, piece.first);
    all.last = std::max(all.last, piece.last);
  }
  if (all.longest_sum > kFar) return "durations";
  const bool any = all.first != INT64_MAX;
  if (d.range.start != (any ? all.first : 0) || d.range.end != (any ? all.last : 0)) return "range";
  return {};
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    std::uint64_t word = 0;
    while (text.size() >= sizeof word) {  // ASCII, mostly
      __builtin_memcpy(&word, text.data(), sizeof word);
      if ((word & 0x8080'8080'8080'8080U) != 0) break;
      text.remove_prefix(sizeof word);
    }
    if (text.empty()) return true;
    const std::size_t n = libtrace::utf8_sequence(text);
    if (n == 0) return false;
    text.remove_prefix(n);
  }
  return true;
}

// Texts end where the next begins, and are text each.
std::string strings_fault(const TraceData& d) {
  const auto& offset = d.string_offset;
  if (offset.size() < 2 || offset.size() > kNone || offset[0] != 0 || offset[1] != 0 ||
      offset.back() != d.string_data.size()) {
    return "strings";
  }
  const std::size_t texts = offset.size() - 1;
  const std::size_t pieces = (texts + kSlicesAtATime - 1) / kSlicesAtATime;
  std::atomic<bool> good{true};
  for_each_block(pieces, [&](std::size_t i) {
    const std::size_t first = i * kSlicesAtATime, last = std::min(texts, first + kSlicesAtATime);
    for (std::size_t s = first; s < last; ++s) {
      const bool within = offset[s] <= offset[s + 1] && offset[s + 1] <= d.string_data.size();
      if (!within || !is_utf8({d.string_data.data() + offset[s], offset[s + 1] - offset[s]})) {
        good = false;
        return;
      }
    }
  });
  return good ? "" : "strings";
}

bool is_time(std::int64_t at) { return at >= -kFar && at <= kLatest; }

std::string others_fault(const TraceData& d) {
  const std::size_t strings = d.string_offset.size() - 1, lanes = d.lanes.size();
  for (const StringId id : d.categories) {
    if (id >= strings) return "categories";
  }
  for (const libtrace::Instant& i : d.instants) {
    if (!is_time(i.at) || i.name >= strings || i.category >= strings || i.lane >= lanes ||
        (i.phase != 'i' && i.phase != 'C') || i.args >= d.arg_bytes.size()) {
      return "instants";
    }
  }
  for (const libtrace::Flow& f : d.flows) {
    const bool placed = f.lane == kNone || f.lane < lanes;
    if (!is_time(f.at) || f.name >= strings || f.category >= strings || !placed) return "flows";
  }
  const auto size = [](std::int64_t bytes) { return bytes >= -kMostBytes && bytes <= kMostBytes; };
  std::int64_t allocated = 0, freed = 0;
  for (const libtrace::MemoryEvent& m : d.memory) {
    const bool op = m.op == kNone || (m.op < d.start.size() && d.kind[m.op] == Kind::kOp);
    if (!is_time(m.at) || !size(m.bytes) || !size(m.total_allocated.value_or(0)) ||
        !size(m.total_reserved.value_or(0)) || (m.lane != kNone && m.lane >= lanes) || !op) {
      return "memory events";
    }
    libtrace::add(m.bytes > 0 ? allocated : freed, m.bytes > 0 ? m.bytes : -m.bytes);
  }
  return allocated > kFar || freed > kFar ? "memory events" : "";
}

std::string meta_fault(const TraceData& d) {
  const auto good = [](const std::string& text) { return is_utf8(text); };
  for (const Lane& l : d.lanes) {
    if (!good(l.pid) || !good(l.tid) || !good(l.process) || !good(l.thread) || !good(l.labels)) {
      return "lanes";
    }
  }
  for (const auto& device : d.devices) {
    if (!good(device.name)) return "devices";
  }
  for (const auto& [key, json] : d.metadata) {
    if (!good(key) || !good(json)) return "metadata";
  }
  for (const auto& entry : d.report.entries()) {
    if (!good(entry.message) || !std::all_of(entry.first.begin(), entry.first.end(), good)) {
      return "report";
    }
  }
  return {};
}

}  // namespace

std::string fault_of(const TraceData& d) {
  if (d.arg_bytes.empty()) return "arguments";
  if (d.start.size() >= kNone) return "slices";
  for (const auto check : {strings_fault, slices_fault, others_fault, meta_fault}) {
    if (std::string fault = check(d); !fault.empty()) return fault;
  }
  return {};
}

}  // namespace traceglass::index
