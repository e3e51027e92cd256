// Launch → device event → owning op, by correlation, then containment, then External id.
#include <algorithm>
#include <unordered_map>

#include "libtrace/model/args.h"
#include "libtrace/model/passes.h"

namespace libtrace {
namespace {

struct Launch {
  std::int64_t correlation;
  std::uint32_t order;
  EventId event;
};

// The first launch in the file of each correlation, sorted by correlation.
std::vector<Launch> first_launches(const Draft& draft) {
  const TraceData& d = draft.data;
  std::vector<Launch> launches;
  for (EventId e = 0; e < d.start.size(); ++e) {
    if (d.kind[e] == Kind::kRuntime && draft.correlation[e] != 0 && !suspect(d, e)) {
      launches.push_back({draft.correlation[e], d.order[e], e});
    }
  }
  std::sort(launches.begin(), launches.end(), [](const Launch& a, const Launch& b) {
    return a.correlation != b.correlation ? a.correlation < b.correlation : a.order < b.order;
  });
  launches.erase(
      std::unique(launches.begin(), launches.end(),
                  [](const Launch& a, const Launch& b) { return a.correlation == b.correlation; }),
      launches.end());
  return launches;
}

// "External id" (1.8: "external id") of a slice; 0 is none.
std::int64_t external_id(const TraceData& d, EventId e) {
  std::int64_t id = 0;
  args::each(d.arg_bytes, d.args[e], [&](StringId key, const Value& value, StringId) {
    const std::string_view name = text_of(d, key);
    const bool found =
        (name == "External id" || name == "external id") && value.type == Value::Type::kInt;
    if (found) id = value.i;
    return found;
  });
  return id;
}

// Owners by External id, for device events without a launch. An id that equals the row's own
// correlation is the defect of 1.11–2.2 (every unlinked row until 2.5), not a link.
void link_by_external_id(Draft& draft, const std::vector<EventId>& unlaunched) {
  TraceData& d = draft.data;
  std::unordered_map<std::int64_t, EventId> wanted;
  std::vector<std::pair<EventId, std::int64_t>> rows;
  for (const EventId e : unlaunched) {
    const std::int64_t id = external_id(d, e);
    if (id == 0 || id == draft.correlation[e]) continue;
    wanted.emplace(id, kNone);
    rows.emplace_back(e, id);
  }
  if (rows.empty()) return;
  for (EventId e = 0; e < d.start.size(); ++e) {
    if (d.kind[e] != Kind::kOp || suspect(d, e)) continue;
    const auto it = wanted.find(external_id(d, e));
    if (it != wanted.end() && (it->second == kNone || d.order[e] < d.order[it->second])) {
      it->second = e;
    }
  }
  for (const auto& [e, id] : rows) d.owner[e] = d.anchor[e] = wanted[id];
}

}  // namespace

void link_devices(Draft& draft) {
  TraceData& d = draft.data;
  const std::size_t n = d.start.size();
  d.launch.assign(n, kNone);
  d.owner.assign(n, kNone);
  d.anchor.assign(n, kNone);

  const std::vector<Launch> launches = first_launches(draft);
  std::vector<EventId> linked, unlaunched;
  for (EventId e = 0; e < n; ++e) {
    if (!is_device_work(d.kind[e])) continue;
    const std::int64_t id = draft.correlation[e];
    const auto it = std::lower_bound(
        launches.begin(), launches.end(), id,
        [](const Launch& launch, std::int64_t wanted) { return launch.correlation < wanted; });
    if (id != 0 && it != launches.end() && it->correlation == id) {
      d.launch[e] = it->event;
      linked.push_back(e);
    } else {
      unlaunched.push_back(e);
    }
  }

  std::sort(linked.begin(), linked.end(),
            [&](EventId a, EventId b) { return d.launch[a] < d.launch[b]; });
  std::vector<InnermostQuery> queries;
  queries.reserve(linked.size());
  for (const EventId e : linked) {
    queries.push_back({d.lane[d.launch[e]], d.start[d.launch[e]]});
  }
  find_innermost(d, queries);
  for (std::size_t i = 0; i < linked.size(); ++i) {
    const InnermostQuery& found = queries[i];
    d.owner[linked[i]] = found.op;
    // A range inside the op takes the launch only where it lies within the op: crossing ones
    // would take it out of the op's own total.
    const bool inside = found.op == kNone || found.op_or_annotation == kNone ||
                        end_of(d, found.op_or_annotation) <= end_of(d, found.op);
    d.anchor[linked[i]] = inside ? found.op_or_annotation : found.op;
  }
  link_by_external_id(draft, unlaunched);

  Tally no_launch("no_launch"), before_launch("before_launch");
  for (const EventId e : unlaunched) {
    if (!suspect(d, e)) no_launch.hit(d, e);
  }
  for (const EventId e : linked) {
    if (!suspect(d, e) && d.start[e] < d.start[d.launch[e]]) before_launch.hit(d, e);
  }
  no_launch.into(d.report);
  before_launch.into(d.report);
}

void place_memory(TraceData& d) {
  std::vector<std::uint32_t> order;
  for (std::uint32_t i = 0; i < d.memory.size(); ++i) {
    if (d.memory[i].lane != kNone) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    const MemoryEvent &x = d.memory[a], &y = d.memory[b];
    return x.lane != y.lane ? x.lane < y.lane : x.at < y.at;
  });
  std::vector<InnermostQuery> queries;
  queries.reserve(order.size());
  for (const std::uint32_t i : order) queries.push_back({d.memory[i].lane, d.memory[i].at});
  find_innermost(d, queries);
  for (std::size_t i = 0; i < order.size(); ++i) d.memory[order[i]].op = queries[i].op;
}

}  // namespace libtrace
