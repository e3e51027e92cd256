#include "tb_backend/analysis/modules.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>

#include "tb_backend/analysis/op_work.h"
#include "tb_backend/analysis/work_modules.h"

namespace traceglass {

using libtrace::EventId;
using libtrace::Kind;
using libtrace::kNone;
using libtrace::Trace;

namespace {

void add_totals(ModuleTimes& to, const ModuleTimes& from) {
  to.host_total_ns += from.host_total_ns;
  to.device_total_ns += from.device_total_ns;
  to.backward_host_total_ns += from.backward_host_total_ns;
  to.backward_device_total_ns += from.backward_device_total_ns;
  to.operators += from.operators;
  to.flops += from.flops;
  to.backward_flops += from.backward_flops;
}

// Where every slice belongs, and what that makes for each scope.
class Sums : public WorkModules {
 public:
  explicit Sums(const Trace& trace)
      : WorkModules(trace), times(scopes.scopes.size()), trace_(trace) {}

  void gather(const Selection& selection, Modules& out) {
    out.linked = static_cast<std::int64_t>(links.calls.size());
    out.missing = links.missing;
    out.doubled = links.doubled;
    const OpWork work(trace_);
    for (EventId e = 0; e < trace_.size(); ++e) {
      if (trace_.suspect(e)) continue;
      if (libtrace::is_device_work(trace_.kind(e))) {
        device(e, selection, out);
      } else if (libtrace::is_host_tree(trace_.kind(e))) {
        host(e, selection, work, out);
      }
    }
    for (std::size_t s = 0; s < times.size(); ++s) {
      const ModuleScope& scope = scopes.scopes[s];
      ModuleTimes& t = times[s];
      if (!selection.contains(scope.start)) continue;
      t.host_self_ns = scope.self;
      t.host_total_ns += t.host_self_ns;
      t.device_total_ns += t.device_self_ns;
      t.backward_host_total_ns += t.backward_host_self_ns;
      t.backward_device_total_ns += t.backward_device_self_ns;
    }
    for (std::size_t s = times.size(); s-- > 0;) {
      if (scopes.scopes[s].parent != kNone) add_totals(times[scopes.scopes[s].parent], times[s]);
    }
  }

  std::vector<ModuleTimes> times;  // by scope; of those outside the selection what lies within

 private:
  [[nodiscard]] bool selected(const Selection& selection, std::uint32_t scope) const {
    return selection.contains(scopes.scopes[scope].start);
  }

  void device(EventId e, const Selection& selection, Modules& out) {
    const Place p = place_of_work(e);
    if (p.scope == kNone) {
      if (!selection.contains(trace_.start(e))) return;
      out.no_module_device_ns += trace_.dur(e);
    } else {
      if (!selected(selection, p.scope)) return;
      ModuleTimes& t = times[p.scope];
      (p.backward ? t.backward_device_self_ns : t.device_self_ns) += trace_.dur(e);
    }
    out.device_ns += trace_.dur(e);
  }

  void host(EventId e, const Selection& selection, const OpWork& work, Modules& out) {
    const Place p = place(e);
    if (p.scope == kNone) {
      if (selection.contains(trace_.start(e))) out.no_module_host_ns += trace_.self(e);
      return;
    }
    if (!selected(selection, p.scope)) return;
    ModuleTimes& t = times[p.scope];
    const double flops = work.flops(e);
    out.has_flops = out.has_flops || flops > 0;
    (p.backward ? t.backward_flops : t.flops) += flops;
    if (p.backward) {
      t.backward_host_self_ns += trace_.self(e);
    } else if (trace_.kind(e) == Kind::kOp && called_by_module(e, p.scope)) {
      ++t.operators;
    }
  }

  // No operator of the same scope calls it: annotations and runtime calls between do not hide one.
  [[nodiscard]] bool called_by_module(EventId e, std::uint32_t scope) const {
    const EventId p = trace_.parent(e);
    return p == kNone || trace_.kind(p) != Kind::kOp || scopes.around[p] != scope;
  }

  const Trace& trace_;
};

void add_row(ModuleRow& row, const Trace& trace, const ModuleScope& scope, const ModuleTimes& t) {
  ModuleTimes& r = row.times;
  r.host_self_ns += t.host_self_ns;
  r.device_self_ns += t.device_self_ns;
  r.backward_host_self_ns += t.backward_host_self_ns;
  r.backward_device_self_ns += t.backward_device_self_ns;
  add_totals(r, t);
  ++row.calls;
  const auto length = [&](EventId e) { return trace.dur(e); };
  if (row.longest == kNone || length(scope.event) > length(row.longest)) row.longest = scope.event;
}

// Rows of the chosen scopes, by id; a module that is only around a chosen one has 0 calls.
std::vector<ModuleRow> rows_by_id(const Trace& trace, const Selection& selection,
                                  const Sums& sums) {
  const ModuleScopes& s = sums.scopes;
  std::vector<ModuleRow> rows(s.modules.size());
  for (std::size_t i = 0; i < s.scopes.size(); ++i) {
    if (!selection.contains(s.scopes[i].start)) continue;
    add_row(rows[s.scopes[i].module], trace, s.scopes[i], sums.times[i]);
  }
  // A scope outside of the selection hands on what lies within it.
  for (std::size_t i = 0; i < s.scopes.size(); ++i) {
    if (selection.contains(s.scopes[i].start)) continue;
    add_totals(rows[s.scopes[i].module].times, sums.times[i]);
  }
  for (std::uint32_t id = 0; id < rows.size(); ++id) {
    rows[id].id = id;
    rows[id].name = s.modules[id].name;
    rows[id].parent = s.modules[id].parent;
    rows[id].depth = s.modules[id].depth;
  }
  return rows;
}

std::vector<ModuleRow> depth_first(const std::vector<ModuleRow>& rows) {
  std::vector<bool> used(rows.size());  // called, or around one that is
  std::vector<std::vector<std::uint32_t>> children(rows.size() + 1);
  for (std::uint32_t id = static_cast<std::uint32_t>(rows.size()); id-- > 0;) {
    used[id] = used[id] || rows[id].calls > 0;
    if (used[id] && rows[id].parent != kNone) used[rows[id].parent] = true;
  }
  for (const ModuleRow& r : rows) {
    if (used[r.id]) children[r.parent == kNone ? rows.size() : r.parent].push_back(r.id);
  }
  const auto larger = [&](std::uint32_t a, std::uint32_t b) {
    const auto key = [&](std::uint32_t id) {
      const ModuleTimes& t = rows[id].times;
      return std::tuple(-(t.device_total_ns + t.backward_device_total_ns), -t.host_total_ns, id);
    };
    return key(a) < key(b);
  };
  std::vector<ModuleRow> out;
  std::vector<std::uint32_t> open;
  const auto open_children = [&](std::size_t of) {
    std::sort(children[of].begin(), children[of].end(), larger);
    open.insert(open.end(), children[of].rbegin(), children[of].rend());
  };
  open_children(rows.size());
  while (!open.empty()) {
    const std::uint32_t id = open.back();
    open.pop_back();
    out.push_back(rows[id]);
    open_children(id);
  }
  return out;
}

// Keeps the `most` rows of the largest totals. A parent's are never below its children's, and it
// stands before them, so what stays is a tree.
std::int64_t cut(std::vector<ModuleRow>& rows, std::size_t most) {
  if (rows.size() <= most) return 0;
  std::vector<std::uint32_t> order(rows.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto total = [&](std::uint32_t i) {
    const ModuleTimes& t = rows[i].times;
    return t.device_total_ns + t.backward_device_total_ns + t.host_total_ns;
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return total(a) > total(b); });
  order.resize(most);
  std::sort(order.begin(), order.end());
  std::vector<ModuleRow> kept;
  for (const std::uint32_t i : order) kept.push_back(std::move(rows[i]));
  const auto left_out = static_cast<std::int64_t>(rows.size() - kept.size());
  rows = std::move(kept);
  return left_out;
}

}  // namespace

Modules find_modules(const Trace& trace, const Selection& selection, std::size_t most) {
  Modules out;
  Sums sums(trace);
  sums.gather(selection, out);
  out.source = sums.scopes.source;
  out.rows = depth_first(rows_by_id(trace, selection, sums));
  out.left_out = cut(out.rows, most);
  return out;
}

std::optional<ModuleDetail> find_module(const Trace& trace, const Selection& selection,
                                        std::uint32_t id, std::size_t most) {
  Modules all;
  Sums sums(trace);
  sums.gather(selection, all);
  const ModuleScopes& s = sums.scopes;
  if (id >= s.modules.size()) return std::nullopt;
  ModuleDetail detail;
  detail.row = rows_by_id(trace, selection, sums)[id];
  if (detail.row.calls == 0) return std::nullopt;
  for (std::uint32_t m = id; m != kNone; m = s.modules[m].parent) {
    detail.path.push_back(s.modules[m].name);
  }
  std::reverse(detail.path.begin(), detail.path.end());
  detail.instance_count = detail.row.calls;
  std::vector<std::uint32_t> chosen;
  for (std::uint32_t i = 0; i < s.scopes.size(); ++i) {
    if (s.scopes[i].module == id && selection.contains(s.scopes[i].start)) chosen.push_back(i);
  }
  std::stable_sort(chosen.begin(), chosen.end(), [&](std::uint32_t a, std::uint32_t b) {
    return s.scopes[a].start < s.scopes[b].start;
  });
  if (chosen.size() > most) chosen.resize(most);
  for (const std::uint32_t i : chosen) {
    const ModuleTimes& t = sums.times[i];
    detail.instances.push_back({s.scopes[i].event, s.scopes[i].start,
                                s.scopes[i].end - s.scopes[i].start, t.device_total_ns,
                                t.backward_host_total_ns, t.backward_device_total_ns});
  }

  std::unordered_map<libtrace::StringId, ModuleOperator> operators;
  const auto in_module = [&](EventId e) {
    const std::uint32_t scope = s.around[e];
    return scope != kNone && s.scopes[scope].module == id &&
           selection.contains(s.scopes[scope].start);
  };
  for (EventId e = 0; e < trace.size(); ++e) {
    if (trace.suspect(e)) continue;
    if (trace.kind(e) == Kind::kOp && in_module(e)) {
      ModuleOperator& op = operators[trace.name_id(e)];
      ++op.calls;
      op.host_self_ns += trace.self(e);
    } else if (libtrace::is_device_work(trace.kind(e))) {
      const EventId owner = trace.owner(e);
      if (owner != kNone && in_module(owner)) {
        operators[trace.name_id(owner)].device_self_ns += trace.dur(e);
      }
    }
  }
  for (auto& [name, op] : operators) {
    op.name = trace.text(name);
    detail.operators.push_back(std::move(op));
  }
  std::sort(detail.operators.begin(), detail.operators.end(),
            [](const ModuleOperator& a, const ModuleOperator& b) {
              return std::tie(b.device_self_ns, b.host_self_ns, a.name) <
                     std::tie(a.device_self_ns, a.host_self_ns, b.name);
            });
  return detail;
}

}  // namespace traceglass
