// Trace: the one definition of what a trace is. Immutable once made, columnar, integer
// nanoseconds. The recorder makes it, the handler writes it, ingest reads it back, every
// analysis takes it.
//
// Slices are sorted by (lane, start, -end, order in the file): a lane is one contiguous range of
// EventIds, and a parent always has a smaller id than its children. Times count from
// base_unix_ns(), or from the file's own zero where that is absent.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "libtrace/column.h"
#include "libtrace/event.h"
#include "libtrace/report.h"

namespace libtrace {

enum class Domain : std::uint8_t { kHost, kDevice };

// A thread of a process, or a stream of a device: (domain, pid, tid) as written in the file.
struct Lane {
  Domain domain = Domain::kHost;
  std::string pid, tid;         // text; numbers as decimal
  std::string process, thread;  // names from the file, "" when it gives none
  std::string labels;           // "CPU", "GPU 0", …
  std::int64_t process_sort = 0, thread_sort = 0;
  EventId first = 0, last = 0;  // its slices: [first, last)

  friend bool operator==(const Lane& a, const Lane& b) {
    const auto all = [](const Lane& l) {
      return std::tie(l.domain, l.pid, l.tid, l.process, l.thread, l.labels, l.process_sort,
                      l.thread_sort, l.first, l.last);
    };
    return all(a) == all(b);
  }
};

// Instant and counter rows other than memory ones.
struct Instant {
  std::int64_t at = 0;
  StringId name = 0, category = 0;
  LaneId lane = kNone;
  char phase = 'i';        // 'i' or 'C'
  std::uint32_t args = 0;  // see Trace::args_at
};

// One `[memory]` or `[OutOfMemory]` row.
struct MemoryEvent {
  std::int64_t at = 0;
  std::int64_t bytes = 0;  // + allocated, - freed
  std::optional<std::uint64_t> addr;
  std::optional<std::int64_t> total_allocated, total_reserved;
  std::int32_t device_type = 0, device_id = -1;  // c10::DeviceType; CPU has id -1
  LaneId lane = kNone;
  EventId op = kNone;  // innermost op of its own thread at its time
  bool out_of_memory = false;
};

// Both ends of an arrow other than launches (those are Trace::launch), e.g. "fwdbwd".
struct Flow {
  std::int64_t id = 0, at = 0;
  StringId category = 0, name = 0;
  LaneId lane = kNone;
  bool begin = true;
};

struct DeviceProperties {
  std::int64_t id = 0;
  std::string name;
  std::optional<std::int64_t> total_memory_bytes, sm_count, max_threads_per_sm, compute_major,
      compute_minor;
};

struct TimeRange {
  std::int64_t start = 0, end = 0;
  [[nodiscard]] std::int64_t length() const noexcept { return end - start; }
  friend bool operator==(TimeRange a, TimeRange b) { return a.start == b.start && a.end == b.end; }
  friend bool operator!=(TimeRange a, TimeRange b) { return !(a == b); }
};

// Everything a Trace holds. Filled by TraceBuilder and its passes, const afterwards.
struct TraceData {
  // One entry a slice.
  Column<std::int64_t> start, dur, self;
  Column<StringId> name;
  Column<LaneId> lane;
  Column<EventId> parent, launch, owner, anchor;
  Column<std::uint32_t> order, args;
  Column<std::uint16_t> category, depth, flags;
  Column<Kind> kind;

  Column<std::uint8_t> arg_bytes;  // see model/args.h
  Column<char> string_data;
  Column<std::uint64_t> string_offset{0};
  Column<StringId> categories;
  std::vector<Lane> lanes;
  Column<Instant> instants;
  Column<MemoryEvent> memory;
  Column<Flow> flows;
  std::vector<DeviceProperties> devices;
  std::vector<std::pair<std::string, std::string>> metadata;
  std::optional<std::int64_t> base;
  std::optional<int> rank, world_size;
  bool rank_guessed = false;
  TimeRange range;
  Report report;
};

class Trace {
 public:
  explicit Trace(TraceData&& data) noexcept : d_(std::move(data)) {}

  // ---- slices ------------------------------------------------------------------------------
  [[nodiscard]] std::size_t size() const noexcept { return d_.start.size(); }
  [[nodiscard]] std::int64_t start(EventId e) const noexcept { return d_.start[e]; }
  [[nodiscard]] std::int64_t dur(EventId e) const noexcept { return d_.dur[e]; }
  [[nodiscard]] std::int64_t end(EventId e) const noexcept { return d_.start[e] + d_.dur[e]; }
  // Time in which `e` is the innermost active node of its lane; host-tree and Python kinds only.
  [[nodiscard]] std::int64_t self(EventId e) const noexcept { return d_.self[e]; }
  [[nodiscard]] Kind kind(EventId e) const noexcept { return d_.kind[e]; }
  [[nodiscard]] StringId name_id(EventId e) const noexcept { return d_.name[e]; }
  [[nodiscard]] std::string_view name(EventId e) const noexcept { return text(d_.name[e]); }
  // The `cat` as written.
  [[nodiscard]] std::string_view category(EventId e) const noexcept {
    return text(d_.categories[d_.category[e]]);
  }
  [[nodiscard]] LaneId lane_of(EventId e) const noexcept { return d_.lane[e]; }
  // Deepest open node of the same tree that wholly contains `e`; kNone for roots and other kinds.
  [[nodiscard]] EventId parent(EventId e) const noexcept { return d_.parent[e]; }
  [[nodiscard]] int depth(EventId e) const noexcept { return d_.depth[e]; }  // saturates at 65535
  [[nodiscard]] std::uint16_t flags(EventId e) const noexcept { return d_.flags[e]; }
  [[nodiscard]] bool suspect(EventId e) const noexcept {
    return (d_.flags[e] & flag::kSuspect) != 0;
  }
  // Device work only: the runtime or driver call that launched it (kNone: no launch event).
  [[nodiscard]] EventId launch(EventId e) const noexcept { return d_.launch[e]; }
  // Device work only: the op that owns it (kNone: launched in no op, or no launch and no id).
  [[nodiscard]] EventId owner(EventId e) const noexcept { return d_.owner[e]; }
  // Device work only: deepest op or annotation around the launch (== owner unless a range lies
  // between); what device totals of a subtree add up.
  [[nodiscard]] EventId anchor(EventId e) const noexcept { return d_.anchor[e]; }
  // Position among the file's slices; the writer keeps it.
  [[nodiscard]] std::uint32_t order(EventId e) const noexcept { return d_.order[e]; }

  // ---- arguments ---------------------------------------------------------------------------
  using Arg = std::pair<std::string_view, Value>;
  [[nodiscard]] std::vector<Arg> args(EventId e) const { return args_at(d_.args[e]); }
  [[nodiscard]] std::vector<Arg> args_at(std::uint32_t offset) const;
  // The same into a vector used again and again: a walk over all events need not allocate.
  void args(EventId e, std::vector<Arg>& out) const { args_at(d_.args[e], out); }
  void args_at(std::uint32_t offset, std::vector<Arg>& out) const;
  // First value of `key`, or nullopt. Cost: one walk of the event's few arguments.
  [[nodiscard]] std::optional<Value> arg(EventId e, std::string_view key) const;
  // The same as an integer: numbers and text that is a number ("128"); nullopt otherwise.
  [[nodiscard]] std::optional<std::int64_t> int_arg(EventId e, std::string_view key) const;
  [[nodiscard]] std::optional<double> number_arg(EventId e, std::string_view key) const;

  // ---- everything else ---------------------------------------------------------------------
  [[nodiscard]] const std::vector<Lane>& lanes() const noexcept { return d_.lanes; }
  [[nodiscard]] const Column<Instant>& instants() const noexcept { return d_.instants; }
  [[nodiscard]] const Column<MemoryEvent>& memory() const noexcept { return d_.memory; }
  [[nodiscard]] const Column<Flow>& flows() const noexcept { return d_.flows; }
  [[nodiscard]] const std::vector<DeviceProperties>& devices() const noexcept { return d_.devices; }
  // Top-level keys but traceEvents and baseTimeNanoseconds, in file order: name, JSON text.
  using Metadata = std::vector<std::pair<std::string, std::string>>;
  [[nodiscard]] const Metadata& metadata() const noexcept { return d_.metadata; }
  [[nodiscard]] const std::string* metadata(std::string_view key) const noexcept;

  [[nodiscard]] std::optional<std::int64_t> base_unix_ns() const noexcept { return d_.base; }
  [[nodiscard]] std::optional<int> rank() const noexcept { return d_.rank; }
  [[nodiscard]] bool rank_guessed() const noexcept { return d_.rank_guessed; }
  [[nodiscard]] std::optional<int> world_size() const noexcept { return d_.world_size; }
  // First start to last end of unsuspect slices other than spans; {0, 0} when there are none.
  [[nodiscard]] TimeRange range() const noexcept { return d_.range; }
  [[nodiscard]] const Report& report() const noexcept { return d_.report; }

  [[nodiscard]] std::string_view text(StringId id) const noexcept {
    return {d_.string_data.data() + d_.string_offset[id],
            d_.string_offset[id + 1] - d_.string_offset[id]};
  }
  [[nodiscard]] std::size_t string_count() const noexcept { return d_.string_offset.size() - 1; }
  // Bytes of its columns, held or seen.
  [[nodiscard]] std::size_t resident_bytes() const noexcept;
  // The columns as they stand, for what stores a trace.
  [[nodiscard]] const TraceData& data() const noexcept { return d_; }

 private:
  TraceData d_;
};

using TracePtr = std::shared_ptr<const Trace>;

// "" when both say the same (texts, not ids; reports, traceName aside), else the first difference.
std::string difference(const Trace& a, const Trace& b);

}  // namespace libtrace
