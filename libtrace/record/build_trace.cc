#include "libtrace/record/build_trace.h"

#include <algorithm>
#include <fstream>
#include <optional>
#include <queue>
#include <unordered_map>

#include "libtrace/record/json.h"
#include "libtrace/record/payload.h"
#include "libtrace/record/site.h"
#include "libtrace/trace_builder.h"

namespace libtrace::detail {
namespace {

constexpr std::int64_t kSecondNs = 1'000'000'000;
constexpr std::int64_t kSpansSort = 0x20000000;  // as Kineto: below every process

struct Item {
  std::int64_t start, dur;
  const Record* record;
  bool finished;
};
bool before(const Item& a, const Item& b) noexcept {
  return a.start != b.start ? a.start < b.start : a.dur > b.dur;
}

std::string comm_of(pid_t tid) {
  std::ifstream file("/proc/self/task/" + std::to_string(tid) + "/comm");
  std::string name;
  std::getline(file, name);
  return name;
}

class Build {
 public:
  Build(const Snapshot& snapshot, const TraceInfo& info)
      : snapshot_(snapshot),
        clock_(snapshot.start_clock, snapshot.stop_clock, ClockMap::process_ns_per_tick()) {
    const std::int64_t start = clock_.unix_ns(snapshot.start_ticks);
    // A round base keeps the file's decimals short.
    base_ = start / kSecondNs * kSecondNs;
    start_ = start - base_;
    end_ = clock_.unix_ns(snapshot.stop_ticks) - base_;
    builder_.set_base_unix_ns(base_);
    if (info.rank >= 0) builder_.set_rank(info.rank, false);
    if (info.world_size >= 0) builder_.set_world_size(info.world_size);
    for (const auto& [key, json] : info.metadata) builder_.add_metadata(key, json);
    for (const auto& [key, json] : snapshot.notes) builder_.add_metadata(key, json);
    pid_ = builder_.intern(std::to_string(snapshot.pid));
  }

  TracePtr run() {
    add_losses();
    add_window();
    name_process();
    collect();
    merge();
    add_mark("Record Window End", "", "", end_);
    return builder_.finish();
  }

 private:
  void add_losses() {
    if (clock_.jump_ns() != 0) {
      builder_.add_metadata("clock_jump_ns", std::to_string(clock_.jump_ns()));
    }
    if (snapshot_.dropped == 0) return;
    builder_.add_metadata("dropped_events", std::to_string(snapshot_.dropped));
    std::uint64_t unplaced = snapshot_.dropped;
    for (const LaneSnapshot& lane : snapshot_.lanes) {
      if (lane.dropped == 0) continue;
      unplaced -= lane.dropped;
      builder_.report().add("dropped_by_recorder", static_cast<std::int64_t>(lane.dropped),
                            "thread " + std::to_string(lane.tid));
    }
    if (unplaced != 0) {
      builder_.report().add("dropped_by_recorder", static_cast<std::int64_t>(unplaced));
    }
  }

  // The window itself, in the rows that viewers of torch's profiles take it from.
  void add_window() {
    const StringId spans = builder_.intern("Spans");
    builder_.set_process_sort(spans, kSpansSort);
    builder_.add_slice({.start = start_,
                        .dur = end_ - start_,
                        .name = builder_.intern("PyTorch Profiler (0)"),
                        .category = builder_.intern("Trace"),
                        .pid = spans,
                        .tid = builder_.intern("PyTorch Profiler")});
    add_mark("Iteration Start: PyTorch Profiler", "Traces", "Trace PyTorch Profiler", start_);
  }

  void add_mark(std::string_view name, std::string_view pid, std::string_view tid,
                std::int64_t at) {
    builder_.add_instant({.start = at,
                          .name = builder_.intern(name),
                          .pid = builder_.intern(pid),
                          .tid = builder_.intern(tid)},
                         'i');
  }

  void name_process() {
    builder_.set_process_name(pid_, valid_utf8(comm_of(snapshot_.pid)));
    builder_.set_process_labels(pid_, "CPU");
    builder_.set_process_sort(pid_, snapshot_.pid);
  }

  void collect() {
    for (const LaneSnapshot& lane : snapshot_.lanes) {
      Column column;
      lane.for_each([&](const Record& r) {
        if (const auto item = item_of(r, lane)) column.items.push_back(*item);
      });
      if (column.items.empty()) continue;
      // In the order of begins already, but for equal times and signal handlers.
      if (!std::is_sorted(column.items.begin(), column.items.end(), before)) {
        std::stable_sort(column.items.begin(), column.items.end(), before);
      }
      const std::string tid = std::to_string(lane.tid);
      column.tid = builder_.intern(tid);
      // A living thread may have got its name after its first scope.
      std::string name = lane.exit_ticks == 0 ? comm_of(lane.tid) : "";
      if (name.empty()) name = lane.thread_name;
      builder_.set_thread_name(pid_, column.tid, "thread " + tid + " (" + valid_utf8(name) + ")");
      builder_.set_thread_sort(pid_, column.tid, lane.tid);
      columns_.push_back(std::move(column));
    }
  }

  std::optional<Item> item_of(const Record& r, const LaneSnapshot& lane) const {
    const std::uint64_t t0 = r.t0.load(std::memory_order_relaxed);
    std::uint64_t t1 = r.t1.load(std::memory_order_acquire);
    // A scope that began as the window opened or closed may stand just outside.
    if (t0 < snapshot_.start_ticks || t0 > snapshot_.stop_ticks) return std::nullopt;
    const bool finished = t1 != 0 && t1 <= snapshot_.stop_ticks;
    if (!finished) {
      t1 = snapshot_.stop_ticks;
      if (lane.exit_ticks != 0) t1 = std::clamp(lane.exit_ticks, t0, t1);
    }
    if (t1 < t0) t1 = t0;  // ended on a core whose counter is behind
    const std::int64_t start = clock_.unix_ns(t0) - base_;
    return Item{start, clock_.unix_ns(t1) - base_ - start, &r, finished};
  }

  struct Column {
    std::vector<Item> items;
    std::size_t at = 0;
    StringId tid = 0;
    [[nodiscard]] const Item& head() const { return items[at]; }
  };

  void merge() {
    const auto later = [](const Column* a, const Column* b) {
      if (before(a->head(), b->head())) return false;
      return before(b->head(), a->head()) || a > b;
    };
    std::priority_queue<Column*, std::vector<Column*>, decltype(later)> heads(later);
    for (Column& column : columns_) heads.push(&column);
    while (!heads.empty()) {
      Column& column = *heads.top();
      heads.pop();
      add(column.head(), column.tid);
      if (++column.at < column.items.size()) heads.push(&column);
    }
  }

  void add(const Item& item, StringId tid) {
    builder_.arg(key_external_id_, Value::integer(index_ + 1));
    builder_.arg(key_index_, Value::integer(index_));
    ++index_;
    if (!item.finished) builder_.arg(key_finished_, Value::boolean(false));
    const auto [name, scope] = name_of(*item.record);
    builder_.add_slice({.start = item.start,
                        .dur = item.dur,
                        .name = name,
                        .category = scope == RecordScope::kFunction ? cpu_op_ : user_annotation_,
                        .pid = pid_,
                        .tid = tid});
  }

  std::pair<StringId, RecordScope> name_of(const Record& r) {
    const std::uint32_t site = r.site.load(std::memory_order_relaxed) & ~site_bit::kAll;
    if (site == kStepSite) {
      const std::uint64_t number = r.arg.load(std::memory_order_relaxed);
      return {builder_.intern("ProfilerStep#" + std::to_string(number)), RecordScope::kUserScope};
    }
    if (site < kFirstSite) {
      const std::string_view name = Payload::of(r).name;
      return {is_ascii(name) ? builder_.intern(name) : builder_.intern(valid_utf8(name)),
              site == kDynamicFunction ? RecordScope::kFunction : RecordScope::kUserScope};
    }
    const auto [it, fresh] = sites_.try_emplace(site);
    if (fresh) {
      const SiteInfo& info = site_info(site);
      it->second = {builder_.intern(valid_utf8(info.name)), info.scope};
    }
    return it->second;
  }

  static bool is_ascii(std::string_view s) noexcept {
    return std::all_of(s.begin(), s.end(),
                       [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  }

  const Snapshot& snapshot_;
  ClockMap clock_;
  std::int64_t base_ = 0, start_ = 0, end_ = 0;
  TraceBuilder builder_;
  StringId pid_ = 0;
  const StringId cpu_op_ = builder_.intern("cpu_op");
  const StringId user_annotation_ = builder_.intern("user_annotation");
  const StringId key_external_id_ = builder_.intern("External id");
  const StringId key_index_ = builder_.intern("Ev Idx");
  const StringId key_finished_ = builder_.intern("finished");
  std::vector<Column> columns_;
  std::unordered_map<std::uint32_t, std::pair<StringId, RecordScope>> sites_;
  std::int64_t index_ = 0;
};

}  // namespace

TracePtr build_trace(const Snapshot& snapshot, const TraceInfo& info) {
  return Build(snapshot, info).run();
}

}  // namespace libtrace::detail
