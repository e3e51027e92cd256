// What the threads of this process recorded in one window, as rows of a trace: times to ns, lanes
// merged into one order, names and arguments as torch writes them.
#pragma once

#include <cstdint>
#include <optional>
#include <queue>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "libtrace/record/clock.h"
#include "libtrace/record/device_source.h"
#include "libtrace/record/range_args.h"
#include "libtrace/record/window.h"
#include "libtrace/trace_builder.h"

namespace libtrace::detail {

class HostRows {
 public:
  // All outlive this. Times of rows are relative to `base`.
  HostRows(const Snapshot& snapshot, const ClockMap& clock, std::int64_t base,
           TraceBuilder& builder, StringId pid);

  void name_threads();
  // Scopes of the user's, with the ids that their rows will have. Before the first add_head().
  [[nodiscard]] std::vector<HostScope> user_scopes();
  // An allocator of its own on top of the device's.
  [[nodiscard]] bool reports_device_memory() const noexcept;

  // Slices in the order of (start, -dur); nullptr after the last.
  [[nodiscard]] const TimeRange* head() const noexcept {
    return heads_.empty() ? nullptr : &heads_.top()->head().time;
  }
  void add_head();
  // Memory, marks, counters and arrows: after the slices.
  void add_moments();

  [[nodiscard]] std::uint64_t ranges() const noexcept { return ranges_; }

 private:
  struct Item {
    TimeRange time;
    const Record* record;
    bool finished;
    pid_t thread = 0;  // that began it; of an async one alone
  };
  struct Moment {
    std::int64_t at;
    const Record* record;
    StringId tid;
  };
  struct Module {
    std::int64_t end, id, row;
    std::string path;
  };
  // The slices of one lane.
  struct Column {
    std::vector<Item> items;
    std::size_t at = 0;
    StringId tid = 0;
    pid_t thread = 0;
    std::string name;  // of the thread; of an async row: what it is
    bool async = false;
    std::vector<Module> modules;  // those around the head
    [[nodiscard]] const Item& head() const { return items[at]; }
  };
  struct Later {
    bool operator()(const Column* a, const Column* b) const noexcept;
  };
  using Heads = std::priority_queue<Column*, std::vector<Column*>, Later>;
  struct Async {
    Item item;
    pid_t thread;
  };
  // An operator with a place in the graph.
  struct GraphOp {
    std::int64_t sequence;
    std::uint64_t thread, forward_thread;
    TimeRange time;
    StringId tid;
  };

  static bool before(const TimeRange& a, const TimeRange& b) noexcept;
  void rewind();
  void collect(const LaneSnapshot& lane);
  std::optional<Item> item_of(const Record& r, const LaneSnapshot& lane) const;
  void place_async();
  void add(const Item& item, Column& column);
  void add_module(const Item& item, Column& column, std::string_view name);
  void remember(const Payload& payload, const Item& item, const Column& column);
  [[nodiscard]] std::pair<StringId, RecordScope> name_of(const Record& r, std::string_view name);
  StringId interned(std::string_view text);
  void add_memory();
  void add_arrows();

  const Snapshot& snapshot_;
  const ClockMap& clock_;
  const std::int64_t base_;
  TraceBuilder& builder_;
  const StringId pid_;
  RangeArgs args_;

  std::vector<Column> columns_;
  Heads heads_;
  std::vector<Async> async_;
  std::vector<Moment> moments_;
  std::vector<GraphOp> graph_;
  struct Site {
    StringId name;
    RecordScope scope;
    const SiteInfo* info;
  };
  std::unordered_map<std::uint32_t, Site> sites_;
  std::unordered_map<std::string, std::int64_t> module_ids_;    // by path
  std::unordered_map<std::string, std::int64_t> module_names_;  // how many paths end in it
  std::unordered_map<std::string, StringId> module_rows_;       // by path
  std::int64_t next_row_ = 0, next_module_row_ = 0;
  std::uint64_t ranges_ = 0;

  const StringId cpu_op_ = builder_.intern("cpu_op");
  const StringId user_annotation_ = builder_.intern("user_annotation");
  const StringId python_function_ = builder_.intern("python_function");
  const StringId key_external_id_ = builder_.intern("External id");
  const StringId key_index_ = builder_.intern("Ev Idx");
  const StringId key_finished_ = builder_.intern("finished");
  const StringId key_modules_ = builder_.intern("Module Hierarchy");
};

}  // namespace libtrace::detail
