#include "tb_backend/analysis/operators.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>

#include "tb_backend/analysis/by_name.h"
#include "tb_backend/analysis/stacks.h"

namespace traceglass {

using libtrace::EventId;
using libtrace::Kind;
using libtrace::kNone;
using libtrace::Lane;
using libtrace::Trace;
using libtrace::Value;

namespace {

std::string_view shapes_of(const Trace& trace, EventId e) {
  auto value = trace.arg(e, "Input Dims");
  if (!value) value = trace.arg(e, "Input dims");  // 1.8
  return value ? value->text : std::string_view();
}

// What makes two instances of one name different rows.
struct GroupKey {
  libtrace::StringId name = 0;
  std::uint32_t stack = 0;
  std::string_view shapes;
  bool operator==(const GroupKey&) const = default;
};
struct GroupHash {
  std::size_t operator()(const GroupKey& k) const {
    return std::hash<std::string_view>{}(k.shapes) ^
           (std::size_t{k.name} << 32 | k.stack) * 0x9E3779B97F4A7C15ULL;
  }
};

class Grouping {
 public:
  Grouping(const Trace& trace, OperatorGroup group)
      : trace_(trace), group_(group), first_row_(trace.string_count(), kNoRow) {
    if (group == OperatorGroup::kStack) stacks_.emplace(trace);
  }

  GroupKey key(EventId e) {
    GroupKey k;
    k.name = trace_.name_id(e);
    if (group_ == OperatorGroup::kShape) k.shapes = shapes_of(trace_, e);
    if (stacks_) k.stack = stacks_->id_of(e);
    return k;
  }

  // The row of a key, numbered as they come, and whether it is new.
  std::pair<std::size_t, bool> row_of(const GroupKey& k) {
    std::uint32_t& first = first_row_[k.name];
    if (group_ == OperatorGroup::kName && first != kNoRow) return {first, false};
    const auto [it, fresh] = rows_.try_emplace(k, rows_.size());
    if (first == kNoRow) first = static_cast<std::uint32_t>(it->second);
    return {it->second, fresh};
  }

  void describe(const GroupKey& k, OperatorRow& row) const {
    row.name = trace_.text(k.name);
    if (group_ == OperatorGroup::kShape) row.input_shapes = k.shapes;
    if (stacks_) row.stack = stacks_->frames(k.stack);
  }

  // Whether no ancestor belongs to the same row: exact by name; for finer rows ancestors of the
  // name are looked at one by one.
  bool outermost(EventId e, const GroupKey& k) {
    if ((trace_.flags(e) & libtrace::flag::kOutermost) != 0) return true;
    if (group_ == OperatorGroup::kName) return false;
    constexpr int kMostLevels = 4096;  // deeper recursion than any program's: counted as nested
    EventId a = trace_.parent(e);
    for (int level = 0; a != kNone && level < kMostLevels; a = trace_.parent(a), ++level) {
      if (trace_.name_id(a) == k.name && trace_.kind(a) == trace_.kind(e) && key(a) == k) {
        return false;
      }
    }
    return a == kNone;
  }

 private:
  static constexpr std::uint32_t kNoRow = 0xFFFF'FFFF;
  const Trace& trace_;
  OperatorGroup group_;
  std::optional<Stacks> stacks_;
  std::unordered_map<GroupKey, std::size_t, GroupHash> rows_;
  std::vector<std::uint32_t> first_row_;  // by name: spares the hashing where that is the whole key
};

TensorCores combined(std::optional<TensorCores> a, TensorCores b) {
  if (!a || *a == TensorCores::kNo) return b;
  return *a == TensorCores::kYes || b == TensorCores::kYes ? TensorCores::kYes : *a;
}

// By the op that owns the kernels; none where it owns none.
std::vector<std::optional<TensorCores>> tensor_cores_by_op(const Trace& trace) {
  std::vector<std::optional<TensorCores>> by_op(trace.size());
  ByName of_kernel(trace, tensor_cores_of_kernel);
  for (EventId e = 0; e < trace.size(); ++e) {
    if (trace.kind(e) != Kind::kKernel || trace.owner(e) == kNone) continue;
    auto& op = by_op[trace.owner(e)];
    op = combined(op, of_kernel(trace.name_id(e)));
  }
  return by_op;
}

// Device work that no op owns.
void add_ownerless(const Trace& trace, const Selection& selection, std::vector<OperatorRow>& rows) {
  OperatorRow no_launch, no_operator;
  no_launch.name = "(no launch)";
  no_operator.name = "(no operator)";
  for (EventId e = 0; e < trace.size(); ++e) {
    if (!libtrace::is_device_work(trace.kind(e)) || trace.suspect(e)) continue;
    if (trace.owner(e) != kNone || !selection.contains(trace.start(e))) continue;
    OperatorRow& row = trace.launch(e) == kNone ? no_launch : no_operator;
    ++row.calls;
    row.device_self_ns += trace.dur(e);
    row.device_total_ns += trace.dur(e);
    if (row.longest == kNone || trace.dur(e) > trace.dur(row.longest)) row.longest = e;
  }
  if (no_launch.calls > 0) rows.push_back(std::move(no_launch));
  if (no_operator.calls > 0) rows.push_back(std::move(no_operator));
}

void sort_rows(std::vector<OperatorRow>& rows) {
  std::stable_sort(rows.begin(), rows.end(), [](const OperatorRow& a, const OperatorRow& b) {
    return std::tie(b.device_self_ns, b.host_self_ns, a.name) <
           std::tie(a.device_self_ns, a.host_self_ns, b.name);
  });
}

}  // namespace

DeviceTimes::DeviceTimes(const Trace& trace) : self(trace.size()), total(trace.size()) {
  for (EventId e = 0; e < trace.size(); ++e) {
    if (!libtrace::is_device_work(trace.kind(e)) || trace.suspect(e)) continue;
    if (const EventId a = trace.anchor(e); a != kNone) total[a] += trace.dur(e);
    if (const EventId o = trace.owner(e); o != kNone) {
      self[o] += trace.dur(e);
    } else if (const EventId a = trace.anchor(e); a != kNone) {
      self[a] += trace.dur(e);  // an annotation, launched in no op
    }
  }
  // Parents have smaller ids than their children.
  for (EventId e = static_cast<EventId>(trace.size()); e-- > 0;) {
    if (const EventId p = trace.parent(e); p != kNone) total[p] += total[e];
  }
}

std::vector<OperatorRow> find_operators(const Trace& trace, const DeviceTimes& times,
                                        const Selection& selection, Kind kind,
                                        OperatorGroup group) {
  std::vector<std::optional<TensorCores>> tensor_cores;
  if (kind == Kind::kOp) tensor_cores = tensor_cores_by_op(trace);
  Grouping grouping(trace, group);
  std::vector<OperatorRow> rows;
  for (EventId e = 0; e < trace.size(); ++e) {
    if (trace.kind(e) != kind || trace.suspect(e) || !selection.contains(trace.start(e))) continue;
    const GroupKey key = grouping.key(e);
    const auto [index, fresh] = grouping.row_of(key);
    if (fresh) grouping.describe(key, rows.emplace_back());
    OperatorRow& row = rows[index];
    ++row.calls;
    row.host_self_ns += trace.self(e);
    row.device_self_ns += times.self[e];
    if (grouping.outermost(e, key)) {
      row.host_total_ns += trace.dur(e);
      row.device_total_ns += times.total[e];
    }
    if (row.longest == kNone || trace.dur(e) > trace.dur(row.longest)) row.longest = e;
    if (kind == Kind::kOp && tensor_cores[e]) {
      row.tensor_cores = combined(row.tensor_cores, *tensor_cores[e]);
    }
  }
  if (kind == Kind::kOp) add_ownerless(trace, selection, rows);
  sort_rows(rows);
  return rows;
}

std::optional<OperatorDetail> find_operator(const Trace& trace, const DeviceTimes& times,
                                            const Selection& selection, Kind kind,
                                            std::string_view name) {
  const auto rows_of = [&](OperatorGroup group) {
    std::vector<OperatorRow> rows = find_operators(trace, times, selection, kind, group);
    std::erase_if(rows, [&](const OperatorRow& r) { return r.name != name; });
    return rows;
  };
  std::vector<OperatorRow> rows = rows_of(OperatorGroup::kName);
  if (rows.empty()) return std::nullopt;
  OperatorDetail detail;
  detail.row = rows[0];
  detail.shapes = rows_of(OperatorGroup::kShape);
  detail.stacks = rows_of(OperatorGroup::kStack);
  std::vector<EventId> launched;
  HistogramMaker histogram;
  for (EventId e = 0; e < trace.size(); ++e) {
    if (trace.suspect(e)) continue;
    if (trace.kind(e) == kind && trace.name(e) == name && selection.contains(trace.start(e))) {
      histogram.add(trace.dur(e));
    }
    if (!libtrace::is_device_work(trace.kind(e))) continue;
    const EventId o = trace.owner(e);
    const bool owned = o != kNone
                           ? trace.name(o) == name && selection.contains(trace.start(o))
                           : name == (trace.launch(e) == kNone ? "(no launch)" : "(no operator)") &&
                                 selection.contains(trace.start(e));
    if (owned && kind == Kind::kOp) launched.push_back(e);
  }
  detail.kernels = kernel_rows(trace, launched, KernelGroup::kName);
  detail.histogram = histogram.make();
  return detail;
}

}  // namespace traceglass
