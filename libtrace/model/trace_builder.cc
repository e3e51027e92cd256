#include "libtrace/trace_builder.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "libtrace/model/args.h"
#include "libtrace/model/category.h"
#include "libtrace/model/lane_table.h"
#include "libtrace/model/passes.h"
#include "libtrace/model/pieces.h"
#include "libtrace/model/string_pool.h"

namespace libtrace {
namespace {

constexpr std::int64_t kUnixNs = 100'000'000'000'000'000;  // a start this late is Unix time (1973)
constexpr std::size_t kMostArgBytes = 0xFFFF'0000;         // offsets are 32 bits wide
// Of all durations, and of all bytes, together: no sum of them leaves 64 bits. 146 years, 4 EiB.
constexpr std::int64_t kMostTogether = INT64_MAX / 2;
const Value kNoNumber = Value::null();
constexpr std::int64_t kMostBytes = std::int64_t{1} << 61;  // of one memory event; totals add such

// Takes `amount` from what is `left`; false, and nothing taken, where it does not suffice.
bool spend(std::int64_t amount, std::int64_t& left) {
  if (amount > left) return false;
  left -= std::max<std::int64_t>(amount, 0);
  return true;
}

struct CategoryInfo {
  std::uint16_t index = 0;  // in TraceData::categories
  Kind kind = Kind::kOther;
  bool collective = false;
};

}  // namespace

struct TraceBuilder::Impl {
  Draft draft;
  TraceData& d = draft.data;
  StringPool strings{d.string_data, d.string_offset};

  // The row being added.
  std::size_t arg_mark = 0;  // where its arguments start in arg_bytes
  std::uint64_t arg_count = 0;
  std::int64_t correlation = 0;
  bool unfinished = false, collective = false;
  const StringId key_correlation = strings.intern("correlation");
  const StringId key_finished = strings.intern("finished");
  const StringId key_collective = strings.intern("Collective name");

  std::unordered_map<StringId, CategoryInfo> categories;
  StringId last_category = kNone;
  CategoryInfo last_info;
  std::vector<std::uint16_t> name_flags;  // by name; 0: not looked at
  static constexpr std::uint16_t kSeen = 1U << 15, kRange = 1U << 14, kDeviceCollective = 1U << 13,
                                 kHostCollective = 1U << 12;

  LaneTable lanes{d, strings};
  std::vector<std::pair<StringId, StringId>> flow_lanes;  // of d.flows: (pid, tid)

  struct Open {
    Row row;
    std::int64_t correlation;
    std::uint32_t args, order;
    bool collective;
  };
  std::unordered_map<std::uint64_t, std::vector<Open>> open;  // B without E yet, by (pid, tid)

  bool legacy_array = false;
  std::optional<std::int64_t> base;
  std::uint32_t next_order = 0;
  std::int64_t time_left = kMostTogether, allocated_left = kMostTogether,
               freed_left = kMostTogether;

  Impl() { d.arg_bytes.push_back(0); }

  void arg(StringId key, const Value& given) {
    // JSON has no word for it: what is written of the trace, and served, would be unreadable.
    const bool no_number = given.type == Value::Type::kDouble && !std::isfinite(given.d);
    const Value& value = no_number ? kNoNumber : given;
    if (arg_count == 0) {
      arg_mark = d.arg_bytes.size();
      d.arg_bytes.push_back(0);  // the count; one byte will do nearly always
    }
    ++arg_count;
    if (key == key_correlation && value.type == Value::Type::kInt) correlation = value.i;
    if (key == key_finished && value.type == Value::Type::kBool) unfinished = value.i == 0;
    if (key == key_collective) collective = true;
    const bool text = value.type == Value::Type::kString || value.type == Value::Type::kJson;
    const StringId id = text ? strings.intern(value.text) : 0;
    args::put_varint(d.arg_bytes, key);
    args::put_value(d.arg_bytes, value, id);
  }

  // Ends the row's arguments and returns their offset.
  std::uint32_t take_args() {
    std::uint32_t offset = 0;
    if (arg_count > 0 && arg_mark < kMostArgBytes) {
      offset = static_cast<std::uint32_t>(arg_mark);
      if (arg_count >= 0x80) {
        args::Bytes count;
        args::put_varint(count, arg_count);
        const args::Bytes rest(d.arg_bytes.begin() + offset + 1, d.arg_bytes.end());
        d.arg_bytes.resize(offset);
        d.arg_bytes.append(count.data(), count.size());
        d.arg_bytes.append(rest.data(), rest.size());
      } else {
        d.arg_bytes[arg_mark] = static_cast<std::uint8_t>(arg_count);
      }
    } else {
      if (arg_count > 0) d.report.add("repaired", 1, "arguments beyond 4 GiB are left out");
      drop_args();
    }
    reset_row();
    return offset;
  }
  void drop_args() {
    if (arg_count > 0) d.arg_bytes.resize(arg_mark);
    reset_row();
  }
  void reset_row() {
    arg_count = 0;
    correlation = 0;
    unfinished = collective = false;
  }

  const CategoryInfo& category(StringId id) {
    if (id == last_category) return last_info;
    const auto [it, fresh] = categories.try_emplace(id);
    if (fresh) {
      const std::string_view text = strings.view(id);
      it->second.kind = kind_of_category(text);
      it->second.collective = text == "collective_comm";
      it->second.index =
          static_cast<std::uint16_t>(std::min<std::size_t>(d.categories.size(), 0xFFFF));
      if (d.categories.size() <= 0xFFFF) d.categories.push_back(id);
    }
    last_category = id;
    return last_info = it->second;
  }

  std::uint16_t traits(StringId name) {
    if (name >= name_flags.size())
      name_flags.resize(std::max<std::size_t>(name + 1, std::size_t{2} * name));
    if (name_flags[name] == 0) {
      const NameTraits t = name_traits(strings.view(name));
      std::uint16_t f = kSeen;
      if (t.step) f |= flag::kStep;
      if (t.range) f |= kRange;
      if (t.data_loader) f |= flag::kDataLoader;
      if (t.device_collective) f |= kDeviceCollective;
      if (t.host_collective) f |= kHostCollective;
      name_flags[name] = f;
    }
    return name_flags[name];
  }

  Kind kind_of(const Row& row, const CategoryInfo& info) {
    if (!legacy_array || row.category != 0) return info.kind;
    const std::string_view pid = strings.view(row.pid);
    if (pid == "CPU functions") return Kind::kOp;
    return pid == "CUDA functions" ? Kind::kKernel : Kind::kOther;
  }

  void push_slice(const Row& row, std::int64_t id, bool is_unfinished, bool is_collective,
                  std::uint32_t args_offset, std::uint32_t order) {
    if (!spend(row.dur, time_left)) {
      d.report.add("skipped", 1, "an impossible duration");
      return;
    }
    const CategoryInfo info = category(row.category);
    const std::uint16_t name = traits(row.name);
    Kind kind = kind_of(row, info);
    if (kind == Kind::kOp && (name & kRange) != 0) kind = Kind::kAnnotation;

    std::uint16_t flags = 0;
    if (row.start == 0 && row.dur <= 1) {
      flags |= flag::kZeroTime;
    } else if (row.dur < 0) {
      flags |= flag::kNegative;
    }
    if (is_unfinished) flags |= flag::kUnfinished;
    if (kind == Kind::kAnnotation) flags |= name & flag::kStep;
    if (!is_on_device(kind)) flags |= name & flag::kDataLoader;
    if (kind <= Kind::kAnnotation && (name & kHostCollective) != 0) flags |= flag::kHostCollective;
    if (kind == Kind::kKernel &&
        (info.collective || is_collective || (name & kDeviceCollective) != 0)) {
      flags |= flag::kCommunication;
    }
    d.start.push_back(row.start);
    d.dur.push_back(row.dur);
    d.name.push_back(row.name);
    d.lane.push_back(
        lanes.lane(is_on_device(kind) ? Domain::kDevice : Domain::kHost, row.pid, row.tid));
    d.order.push_back(order);
    d.args.push_back(args_offset);
    d.category.push_back(info.index);
    d.flags.push_back(flags);
    d.kind.push_back(kind);
    draft.correlation.push_back(id);
  }

  void close_open_slices() {
    std::int64_t last = INT64_MIN;
    for (std::size_t e = 0; e < d.start.size(); ++e) last = std::max(last, d.start[e] + d.dur[e]);
    for (const auto& [key, stack] : open) {
      for (const Open& o : stack) last = std::max(last, o.row.start);
    }
    for (auto& [key, stack] : open) {
      for (Open& o : stack) {
        o.row.dur = last - o.row.start;
        push_slice(o.row, o.correlation, true, o.collective, o.args, o.order);
      }
    }
    open.clear();
  }

  void place_flows() {
    for (std::size_t i = 0; i < d.flows.size(); ++i) {
      d.flows[i].lane = lanes.find(flow_lanes[i].first, flow_lanes[i].second);
    }
  }

  // Without a base, starts this late are Unix time: count from the earliest one.
  void rebase() {
    std::optional<std::int64_t> earliest;
    for (EventId e = 0; e < d.start.size(); ++e) {
      if (!suspect(d, e)) earliest = std::min(earliest.value_or(INT64_MAX), d.start[e]);
    }
    d.base = base;
    if (base || !earliest || *earliest < kUnixNs) return;
    d.base = earliest;
    for (EventId e = 0; e < d.start.size(); ++e) {
      // A time written as 0 says nothing, before as after.
      if ((d.flags[e] & flag::kZeroTime) == 0) d.start[e] -= *earliest;
    }
    for (Instant& i : d.instants) i.at -= *earliest;
    for (MemoryEvent& m : d.memory) m.at -= *earliest;
    for (Flow& f : d.flows) f.at -= *earliest;
  }
};

TraceBuilder::TraceBuilder() : impl_(std::make_unique<Impl>()) {}
TraceBuilder::~TraceBuilder() = default;
TraceBuilder::TraceBuilder(TraceBuilder&&) noexcept = default;
TraceBuilder& TraceBuilder::operator=(TraceBuilder&&) noexcept = default;

StringId TraceBuilder::intern(std::string_view text) { return impl_->strings.intern(text); }
void TraceBuilder::arg(StringId key, const Value& value) { impl_->arg(key, value); }

void TraceBuilder::add_slice(const Row& row) {
  Impl& b = *impl_;
  const std::int64_t id = b.correlation;
  const bool unfinished = b.unfinished, collective = b.collective;
  b.push_slice(row, id, unfinished, collective, b.take_args(), b.next_order++);
}

void TraceBuilder::begin_slice(const Row& row) {
  Impl& b = *impl_;
  Impl::Open o{row, b.correlation, 0, b.next_order++, b.collective};
  o.args = b.take_args();
  b.open[lane_key(row.pid, row.tid)].push_back(o);
}

void TraceBuilder::end_slice(std::int64_t at, StringId pid, StringId tid) {
  Impl& b = *impl_;
  b.drop_args();
  const auto it = b.open.find(lane_key(pid, tid));
  if (it == b.open.end() || it->second.empty()) {
    b.d.report.add("skipped", 1, "an end without a begin");
    return;
  }
  Impl::Open o = it->second.back();
  it->second.pop_back();
  o.row.dur = at - o.row.start;
  b.push_slice(o.row, o.correlation, false, o.collective, o.args, o.order);
}

void TraceBuilder::add_instant(const Row& row, char phase) {
  Impl& b = *impl_;
  const LaneId lane = b.lanes.lane(Domain::kHost, row.pid, row.tid);
  b.d.instants.push_back({row.start, row.name, row.category, lane, phase, b.take_args()});
}

void TraceBuilder::add_memory(const MemoryEvent& event, StringId pid, StringId tid) {
  Impl& b = *impl_;
  b.drop_args();
  MemoryEvent kept = event;
  const auto bound = [](std::int64_t& bytes) {
    bytes = std::clamp(bytes, -kMostBytes, kMostBytes);
  };
  bound(kept.bytes);
  if (kept.total_allocated) bound(*kept.total_allocated);
  if (kept.total_reserved) bound(*kept.total_reserved);
  if (!spend(kept.bytes, b.allocated_left) || !spend(-kept.bytes, b.freed_left)) {
    b.d.report.add("skipped", 1, "an impossible size");
    return;
  }
  kept.lane = b.lanes.lane(Domain::kHost, pid, tid);
  b.d.memory.push_back(kept);
}

void TraceBuilder::add_flow(const Flow& flow, StringId pid, StringId tid) {
  Impl& b = *impl_;
  b.drop_args();
  b.d.flows.push_back(flow);
  b.flow_lanes.emplace_back(pid, tid);
}

void TraceBuilder::set_process_name(StringId pid, std::string_view name) {
  impl_->lanes.process(pid).name = name;
}
void TraceBuilder::set_process_labels(StringId pid, std::string_view labels) {
  impl_->lanes.process(pid).labels = labels;
}
void TraceBuilder::set_process_sort(StringId pid, std::int64_t index) {
  impl_->lanes.process(pid).sort = index;
}
void TraceBuilder::set_thread_name(StringId pid, StringId tid, std::string_view name) {
  impl_->lanes.name_thread(pid, tid, name);
}
void TraceBuilder::set_thread_sort(StringId pid, StringId tid, std::int64_t index) {
  impl_->lanes.sort_thread(pid, tid, index);
}

void TraceBuilder::set_base_unix_ns(std::int64_t base) { impl_->base = base; }
void TraceBuilder::set_legacy_array() { impl_->legacy_array = true; }
void TraceBuilder::add_device(DeviceProperties p) { impl_->d.devices.push_back(std::move(p)); }
void TraceBuilder::set_rank(int rank, bool guessed) {
  impl_->d.rank = rank;
  impl_->d.rank_guessed = guessed;
}
void TraceBuilder::set_world_size(int world_size) { impl_->d.world_size = world_size; }
void TraceBuilder::add_metadata(std::string key, std::string json) {
  impl_->d.metadata.emplace_back(std::move(key), std::move(json));
}
Report& TraceBuilder::report() { return impl_->d.report; }
std::size_t TraceBuilder::slice_count() const { return impl_->d.start.size(); }

TracePtr TraceBuilder::finish() {
  Impl& b = *impl_;
  b.close_open_slices();
  b.lanes.adopt_orphans();
  b.place_flows();
  b.lanes.apply_names();
  b.rebase();
  run_as_piece([&] { sort_slices(b.draft); });
  run_as_piece([&] {
    mark_overruns(b.d);
    nest(b.d);
  });
  run_as_piece([&] { link_devices(b.draft); });
  run_as_piece([&] {
    place_memory(b.d);
    check(b.draft);
  });
  auto trace = std::make_shared<const Trace>(std::move(b.d));
  *this = TraceBuilder();
  return trace;
}

}  // namespace libtrace
