#include "libtrace/record/host_rows.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>

#include "libtrace/record/json.h"
#include "libtrace/record/process.h"

namespace libtrace::detail {
namespace {

// Of rows for asynchronous ranges: viewers want a number, and no thread has such a one.
constexpr std::int64_t kFirstAsyncTid = 1'000'000'000;

bool is_ascii(std::string_view s) noexcept {
  return std::all_of(s.begin(), s.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

MemoryReport report_behind(const Record& r) noexcept {
  MemoryReport report;
  std::memcpy(static_cast<void*>(&report), bytes_behind(r).data(), sizeof report);
  return report;
}

}  // namespace

bool HostRows::before(const TimeRange& a, const TimeRange& b) noexcept {
  return a.start != b.start ? a.start < b.start : a.end > b.end;
}
bool HostRows::Later::operator()(const Column* a, const Column* b) const noexcept {
  if (before(a->head().time, b->head().time)) return false;
  return before(b->head().time, a->head().time) || a > b;
}

HostRows::HostRows(const Snapshot& snapshot, const ClockMap& clock, std::int64_t base,
                   TraceBuilder& builder, StringId pid)
    : snapshot_(snapshot),
      clock_(clock),
      base_(base),
      builder_(builder),
      pid_(pid),
      args_(builder) {
  for (const LaneSnapshot& lane : snapshot_.lanes) collect(lane);
  place_async();
  std::stable_sort(moments_.begin(), moments_.end(),
                   [](const Moment& a, const Moment& b) { return a.at < b.at; });
  for (const Column& column : columns_) ranges_ += column.items.size();
  rewind();
}

void HostRows::collect(const LaneSnapshot& lane) {
  Column column;
  column.thread = lane.tid;
  column.tid = builder_.intern(std::to_string(lane.tid));
  lane.for_each([&](const Record& r) {
    const std::uint32_t site = r.site.load(std::memory_order_relaxed);
    if ((site & site_bit::kHasDetails) != 0) args_.learn_stack(Payload::of(r));
    const auto item = item_of(r, lane);
    if (!item) return;
    const std::uint32_t id = site & ~site_bit::kAll;
    if (id >= kMemorySite && id <= kCounterSite) {
      moments_.push_back({item->time.start, &r, column.tid});
    } else if ((site & site_bit::kAsync) != 0) {
      async_.push_back({*item, lane.tid});
    } else {
      column.items.push_back(*item);
    }
  });
  if (column.items.empty()) return;
  // In the order of begins already, but for equal times and signal handlers.
  const auto earlier = [](const Item& a, const Item& b) { return before(a.time, b.time); };
  if (!std::is_sorted(column.items.begin(), column.items.end(), earlier)) {
    std::stable_sort(column.items.begin(), column.items.end(), earlier);
  }
  // A living thread may have got its name after its first scope.
  std::string name = lane.exit_ticks == 0 ? thread_name(lane.tid) : "";
  if (name.empty()) name = lane.thread_name;
  column.name = "thread " + std::to_string(lane.tid) + " (" + valid_utf8(name) + ")";
  columns_.push_back(std::move(column));
}

std::optional<HostRows::Item> HostRows::item_of(const Record& r, const LaneSnapshot& lane) const {
  const std::uint64_t t0 = r.t0.load(std::memory_order_relaxed);
  std::uint64_t t1 = r.t1.load(std::memory_order_acquire);
  // A scope that began as the window opened or closed may stand just outside.
  if (t0 < snapshot_.start_ticks || t0 > snapshot_.stop_ticks) return std::nullopt;
  const bool finished = t1 != 0 && t1 <= snapshot_.stop_ticks;
  if (!finished) {
    t1 = snapshot_.stop_ticks;
    if (lane.exit_ticks != 0 && (r.site.load(std::memory_order_relaxed) & site_bit::kAsync) == 0) {
      t1 = std::clamp(lane.exit_ticks, t0, t1);
    }
  }
  if (t1 < t0) t1 = t0;  // ended on a core whose counter is behind
  return Item{{clock_.unix_ns(t0) - base_, clock_.unix_ns(t1) - base_}, &r, finished};
}

// Ranges that need not nest: as few rows as hold them side by side.
void HostRows::place_async() {
  std::stable_sort(async_.begin(), async_.end(),
                   [](const Async& a, const Async& b) { return before(a.item.time, b.item.time); });
  const std::size_t first = columns_.size();
  using Free = std::pair<std::int64_t, std::size_t>;  // from when on, which column
  std::priority_queue<Free, std::vector<Free>, std::greater<>> free;
  for (const Async& a : async_) {
    std::size_t at = columns_.size();
    if (!free.empty() && free.top().first <= a.item.time.start) {
      at = free.top().second;
      free.pop();
    } else {
      const auto n = static_cast<std::int64_t>(at - first);
      Column column;
      column.async = true;
      column.tid = builder_.intern(std::to_string(kFirstAsyncTid + n));
      column.name = "async ranges " + std::to_string(n + 1);
      columns_.push_back(std::move(column));
    }
    columns_[at].items.push_back(a.item);
    columns_[at].items.back().thread = a.thread;
    free.emplace(a.item.time.end, at);
  }
}

void HostRows::name_threads() {
  for (const Column& column : columns_) {
    builder_.set_thread_name(pid_, column.tid, column.name);
    std::int64_t sort = column.thread;
    if (column.async) sort = kFirstAsyncTid;
    builder_.set_thread_sort(pid_, column.tid, sort);
  }
}

std::vector<HostScope> HostRows::user_scopes() {
  std::vector<HostScope> scopes;
  // The same walk as that of the rows, so that the ids are theirs.
  for (std::int64_t row = 1; !heads_.empty(); ++row) {
    Column& column = *heads_.top();
    heads_.pop();
    const Item& item = column.head();
    const auto [name, scope] = name_of(*item.record, Payload::of(*item.record).name);
    if (scope == RecordScope::kUserScope && !column.async) {
      scopes.push_back({item.time.start, item.time.end, column.thread, row, name});
    }
    if (++column.at < column.items.size()) heads_.push(&column);
  }
  rewind();
  return scopes;
}

bool HostRows::reports_device_memory() const noexcept {
  return std::any_of(moments_.begin(), moments_.end(), [](const Moment& m) {
    return m.record->site.load(std::memory_order_relaxed) == kMemorySite &&
           report_behind(*m.record).device_type != 0;
  });
}

void HostRows::rewind() {
  for (Column& column : columns_) {
    column.at = 0;
    heads_.push(&column);
  }
}

void HostRows::add_head() {
  Column& column = *heads_.top();
  heads_.pop();
  add(column.head(), column);
  if (++column.at < column.items.size()) heads_.push(&column);
}

void HostRows::add(const Item& item, Column& column) {
  const Record& r = *item.record;
  while (!column.modules.empty() && column.modules.back().end < item.time.end) {
    column.modules.pop_back();
  }
  const std::uint32_t site = r.site.load(std::memory_order_relaxed);
  const Payload payload = Payload::of(r);
  const std::int64_t row = next_row_++;
  if (site == kModuleSite) return add_module(item, column, payload.name);
  const auto [name, scope] = name_of(r, payload.name);

  builder_.arg(key_external_id_, Value::integer(row + 1));
  builder_.arg(key_index_, Value::integer(row));
  if (!item.finished) builder_.arg(key_finished_, Value::boolean(false));
  if (column.async) {
    builder_.arg("async", Value::boolean(true));
    builder_.arg("Begin thread id", Value::integer(item.thread));
    if (item.finished) {
      builder_.arg(
          "End thread id",
          Value::integer(static_cast<std::int64_t>(r.arg.load(std::memory_order_relaxed))));
    }
  }
  if (payload.parts != 0) {
    const auto known = sites_.find(site & ~site_bit::kAll);
    args_.add(payload, known != sites_.end() ? known->second.info : nullptr);
    if ((payload.parts & part::kOrder) != 0) remember(payload, item, column);
  }
  if (!column.modules.empty()) {
    builder_.arg(key_modules_, Value::string(column.modules.back().path));
  }
  TraceBuilder::Row slice;
  slice.start = item.time.start;
  slice.dur = item.time.length();
  slice.name = name;
  slice.category = scope == RecordScope::kFunction ? cpu_op_ : user_annotation_;
  slice.pid = pid_;
  slice.tid = column.tid;
  builder_.add_slice(slice);
}

// As torch writes an nn.Module: a row of Python's, named by the module and the number it has among
// those of its name.
void HostRows::add_module(const Item& item, Column& column, std::string_view name) {
  const std::string text = valid_utf8(name);
  Module module;
  module.path = column.modules.empty() ? text : column.modules.back().path + "." + text;
  const auto [known, fresh] =
      module_ids_.try_emplace(module.path, static_cast<std::int64_t>(module_ids_.size()));
  module.id = known->second;
  if (fresh) {
    const std::int64_t number = module_names_[text]++;
    module_rows_[module.path] =
        builder_.intern("nn.Module: " + text + "_" + std::to_string(number));
  }
  module.end = item.time.end;
  module.row = ++next_module_row_;
  builder_.arg("Python id", Value::integer(module.row));
  if (!column.modules.empty()) {
    builder_.arg("Python parent id", Value::integer(column.modules.back().row));
  }
  builder_.arg("Python module id", Value::integer(module.id));
  builder_.arg(key_index_, Value::integer(next_row_ - 1));
  if (!item.finished) builder_.arg(key_finished_, Value::boolean(false));
  TraceBuilder::Row slice;
  slice.start = item.time.start;
  slice.dur = item.time.length();
  slice.name = module_rows_[module.path];
  slice.category = python_function_;
  slice.pid = pid_;
  slice.tid = column.tid;
  builder_.add_slice(slice);
  column.modules.push_back(std::move(module));
}

StringId HostRows::interned(std::string_view text) {
  return is_ascii(text) ? builder_.intern(text) : builder_.intern(valid_utf8(text));
}

std::pair<StringId, RecordScope> HostRows::name_of(const Record& r, std::string_view name) {
  const std::uint32_t site = r.site.load(std::memory_order_relaxed) & ~site_bit::kAll;
  if (site == kStepSite) {
    const std::uint64_t number = r.arg.load(std::memory_order_relaxed);
    return {builder_.intern("ProfilerStep#" + std::to_string(number)), RecordScope::kUserScope};
  }
  if (site < kFirstSite) {
    return {interned(name),
            site == kDynamicUserScope ? RecordScope::kUserScope : RecordScope::kFunction};
  }
  const auto [it, fresh] = sites_.try_emplace(site);
  if (fresh) {
    const SiteInfo& info = site_info(site);
    it->second = {builder_.intern(valid_utf8(info.name)), info.scope, &info};
  }
  return {it->second.name, it->second.scope};
}

// ---- moments --------------------------------------------------------------------------------

void HostRows::add_moments() {
  add_memory();
  const StringId category = builder_.intern("cpu_instant_event");
  for (const Moment& m : moments_) {
    const std::uint32_t site = m.record->site.load(std::memory_order_relaxed) & ~site_bit::kAll;
    if (site == kMemorySite) continue;
    const Payload payload = Payload::of(*m.record);
    TraceBuilder::Row row;
    row.start = m.at;
    row.name = interned(payload.name);
    row.pid = pid_;
    row.tid = m.tid;
    if (site == kMarkSite) {
      row.category = category;
      if (payload.parts != 0) args_.add(payload, nullptr);
      builder_.add_instant(row, 'i');
      continue;
    }
    double value = 0;
    const std::uint64_t bits = m.record->arg.load(std::memory_order_relaxed);
    std::memcpy(&value, &bits, sizeof value);
    builder_.arg("value", std::isfinite(value) ? Value::real(value) : Value::null());
    builder_.add_instant(row, 'C');
  }
  add_arrows();
}

void HostRows::add_memory() {
  std::unordered_map<std::uint64_t, std::int64_t>
      totals;  // by device; where the allocator has none
  for (const Moment& m : moments_) {
    if (m.record->site.load(std::memory_order_relaxed) != kMemorySite) continue;
    const MemoryReport report = report_behind(*m.record);
    MemoryEvent event;
    event.at = m.at;
    event.bytes = report.bytes;
    if (report.address != 0) event.addr = report.address;
    event.device_type = report.device_type;
    event.device_id = report.device_index;
    event.out_of_memory = report.out_of_memory;
    event.total_allocated = report.total_allocated;
    if (report.total_allocated < 0) {
      std::int64_t& total =
          totals[std::uint64_t{static_cast<std::uint32_t>(report.device_type)} << 32 |
                 static_cast<std::uint32_t>(report.device_index)];
      if (!report.out_of_memory) __builtin_add_overflow(total, report.bytes, &total);
      event.total_allocated = total;
    }
    if (report.total_reserved >= 0) event.total_reserved = report.total_reserved;
    builder_.add_memory(event, pid_, m.tid);
  }
}

void HostRows::remember(const Payload& p, const Item& item, const Column& column) {
  if (p.sequence_number < 0) return;
  const std::uint64_t thread = p.thread != 0 ? p.thread : static_cast<std::uint64_t>(column.thread);
  graph_.push_back({p.sequence_number, thread, p.forward_thread, item.time, column.tid});
}

// Forward operator → backward operator, as torch draws them: in the order of ends, of the forward
// operators of one (thread, number) the one that starts last, and the first backward one.
void HostRows::add_arrows() {
  std::stable_sort(graph_.begin(), graph_.end(),
                   [](const GraphOp& a, const GraphOp& b) { return a.time.end < b.time.end; });
  struct Hash {
    std::size_t operator()(const std::pair<std::uint64_t, std::int64_t>& k) const noexcept {
      return std::hash<std::uint64_t>()(k.first * 0x9E37'79B9'7F4A'7C15 ^
                                        static_cast<std::uint64_t>(k.second));
    }
  };
  std::unordered_map<std::pair<std::uint64_t, std::int64_t>, const GraphOp*, Hash> forward;
  Flow flow;
  flow.category = flow.name = builder_.intern("fwdbwd");
  for (const GraphOp& op : graph_) {
    if (op.forward_thread == 0) {
      const GraphOp*& kept = forward[{op.thread, op.sequence}];
      if (kept == nullptr || op.time.start > kept->time.start) kept = &op;
      continue;
    }
    const auto it = forward.find({op.forward_thread, op.sequence});
    if (it == forward.end()) continue;
    ++flow.id;
    flow.at = it->second->time.start;
    flow.begin = true;
    builder_.add_flow(flow, pid_, it->second->tid);
    flow.at = op.time.start;
    flow.begin = false;
    builder_.add_flow(flow, pid_, op.tid);
    forward.erase(it);
  }
}

}  // namespace libtrace::detail
