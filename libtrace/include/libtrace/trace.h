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
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "libtrace/event.h"
#include "libtrace/report.h"

namespace libtrace {

enum class Domain : std::uint8_t { kHost, kDevice };

// A thread of a process, or a stream of a device: (domain, pid, tid) as written in the file.
struct Lane {
  Domain domain = Domain::kHost;
  std::string pid, tid;        // text; numbers as decimal
  std::string process, thread;  // names from the file, "" when it gives none
  std::string labels;          // "CPU", "GPU 0", …
  std::int64_t process_sort = 0, thread_sort = 0;
  EventId first = 0, last = 0;  // its slices: [first, last)

  bool operator==(const Lane&) const = default;
};

// Instant and counter rows other than memory ones.
struct Instant {
  std::int64_t at = 0;
  StringId name = 0, category = 0;
  LaneId lane = kNone;
  char phase = 'i';       // 'i' or 'C'
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
  bool operator==(const TimeRange&) const = default;
};

class Trace {
 public:
  // ---- slices ------------------------------------------------------------------------------
  [[nodiscard]] std::size_t size() const noexcept { return start_.size(); }
  [[nodiscard]] std::int64_t start(EventId e) const noexcept { return start_[e]; }
  [[nodiscard]] std::int64_t dur(EventId e) const noexcept { return dur_[e]; }
  [[nodiscard]] std::int64_t end(EventId e) const noexcept { return start_[e] + dur_[e]; }
  // Time in which `e` is the innermost active node of its lane; host-tree and Python kinds only.
  [[nodiscard]] std::int64_t self(EventId e) const noexcept { return self_[e]; }
  [[nodiscard]] Kind kind(EventId e) const noexcept { return kind_[e]; }
  [[nodiscard]] StringId name_id(EventId e) const noexcept { return name_[e]; }
  [[nodiscard]] std::string_view name(EventId e) const noexcept { return text(name_[e]); }
  // The `cat` as written.
  [[nodiscard]] std::string_view category(EventId e) const noexcept {
    return text(categories_[category_[e]]);
  }
  [[nodiscard]] LaneId lane_of(EventId e) const noexcept { return lane_[e]; }
  // Deepest open node of the same tree that wholly contains `e`; kNone for roots and other kinds.
  [[nodiscard]] EventId parent(EventId e) const noexcept { return parent_[e]; }
  [[nodiscard]] int depth(EventId e) const noexcept { return depth_[e]; }  // saturates at 65535
  [[nodiscard]] std::uint16_t flags(EventId e) const noexcept { return flags_[e]; }
  [[nodiscard]] bool suspect(EventId e) const noexcept { return (flags_[e] & flag::kSuspect) != 0; }
  // Device work only: the runtime or driver call that launched it (kNone: no launch event).
  [[nodiscard]] EventId launch(EventId e) const noexcept { return launch_[e]; }
  // Device work only: the op that owns it (kNone: launched in no op, or no launch and no id).
  [[nodiscard]] EventId owner(EventId e) const noexcept { return owner_[e]; }
  // Device work only: deepest op or annotation around the launch (== owner unless a range lies
  // between); what device totals of a subtree add up.
  [[nodiscard]] EventId anchor(EventId e) const noexcept { return anchor_[e]; }
  // Position among the file's slices; the writer keeps it.
  [[nodiscard]] std::uint32_t order(EventId e) const noexcept { return order_[e]; }

  // ---- arguments ---------------------------------------------------------------------------
  using Arg = std::pair<std::string_view, Value>;
  [[nodiscard]] std::vector<Arg> args(EventId e) const { return args_at(args_[e]); }
  [[nodiscard]] std::vector<Arg> args_at(std::uint32_t offset) const;
  // First value of `key`, or nullopt. Cost: one walk of the event's few arguments.
  [[nodiscard]] std::optional<Value> arg(EventId e, std::string_view key) const;
  // The same as an integer: numbers and text that is a number ("128"); nullopt otherwise.
  [[nodiscard]] std::optional<std::int64_t> int_arg(EventId e, std::string_view key) const;
  [[nodiscard]] std::optional<double> number_arg(EventId e, std::string_view key) const;

  // ---- everything else ---------------------------------------------------------------------
  [[nodiscard]] std::span<const Lane> lanes() const noexcept { return lanes_; }
  [[nodiscard]] std::span<const Instant> instants() const noexcept { return instants_; }
  [[nodiscard]] std::span<const MemoryEvent> memory() const noexcept { return memory_; }
  [[nodiscard]] std::span<const Flow> flows() const noexcept { return flows_; }
  [[nodiscard]] std::span<const DeviceProperties> devices() const noexcept { return devices_; }
  // Top-level keys other than the ones with a meaning here, in file order: name, JSON text.
  using Metadata = std::vector<std::pair<std::string, std::string>>;
  [[nodiscard]] const Metadata& metadata() const noexcept { return metadata_; }
  [[nodiscard]] const std::string* metadata(std::string_view key) const noexcept;

  [[nodiscard]] std::optional<std::int64_t> base_unix_ns() const noexcept { return base_; }
  [[nodiscard]] std::optional<int> rank() const noexcept { return rank_; }
  [[nodiscard]] bool rank_guessed() const noexcept { return rank_guessed_; }
  [[nodiscard]] std::optional<int> world_size() const noexcept { return world_size_; }
  // First start to last end of unsuspect slices other than spans; {0, 0} when there are none.
  [[nodiscard]] TimeRange range() const noexcept { return range_; }
  [[nodiscard]] const Report& report() const noexcept { return report_; }

  [[nodiscard]] std::string_view text(StringId id) const noexcept {
    return {string_data_.data() + string_offset_[id],
            string_offset_[id + 1] - string_offset_[id]};
  }
  [[nodiscard]] std::size_t string_count() const noexcept { return string_offset_.size() - 1; }
  // Bytes held by this Trace (capacity of its columns).
  [[nodiscard]] std::size_t resident_bytes() const noexcept;

 private:
  friend class TraceBuilder;
  friend struct TraceParts;
  Trace() = default;

  std::vector<std::int64_t> start_, dur_, self_;
  std::vector<StringId> name_;
  std::vector<LaneId> lane_;
  std::vector<EventId> parent_, launch_, owner_, anchor_;
  std::vector<std::uint32_t> order_, args_;
  std::vector<std::uint16_t> category_, depth_, flags_;
  std::vector<Kind> kind_;

  std::vector<std::uint8_t> arg_bytes_;
  std::vector<char> string_data_;
  std::vector<std::uint64_t> string_offset_{0};
  std::vector<StringId> categories_;
  std::vector<Lane> lanes_;
  std::vector<Instant> instants_;
  std::vector<MemoryEvent> memory_;
  std::vector<Flow> flows_;
  std::vector<DeviceProperties> devices_;
  Metadata metadata_;
  std::optional<std::int64_t> base_;
  std::optional<int> rank_, world_size_;
  bool rank_guessed_ = false;
  TimeRange range_;
  Report report_;
};

using TracePtr = std::shared_ptr<const Trace>;

// "" when both say the same (texts, not ids; reports aside), else the first difference.
std::string difference(const Trace& a, const Trace& b);

}  // namespace libtrace
