// What two traces say differently, by text: ids of strings and lanes may differ.
#include <algorithm>
#include <tuple>

#include "libtrace/trace.h"

namespace libtrace {
namespace {

std::string at(std::string_view what, std::size_t i) {
  return std::string(what) + " " + std::to_string(i);
}

bool same_value(const Value& a, const Value& b) {
  if (a.type != b.type || a.text != b.text) return false;
  if (a.type == Value::Type::kDouble) return a.d == b.d;
  return a.type == Value::Type::kNull || a.i == b.i;
}
bool same_args(const std::vector<Trace::Arg>& a, const std::vector<Trace::Arg>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
    return x.first == y.first && same_value(x.second, y.second);
  });
}

std::string where(const Trace& t, LaneId id) {
  if (id == kNone) return "-";
  const Lane& l = t.lanes()[id];
  return (l.domain == Domain::kHost ? "host " : "device ") + l.pid + "/" + l.tid;
}

// Slices in file order: lanes may stand in another order.
std::vector<EventId> in_order(const Trace& t) {
  std::vector<EventId> ids(t.size());
  for (EventId e = 0; e < t.size(); ++e) ids[e] = e;
  std::sort(ids.begin(), ids.end(), [&](EventId a, EventId b) { return t.order(a) < t.order(b); });
  return ids;
}
std::int64_t order_or_none(const Trace& t, EventId e) {
  return e == kNone ? -1 : static_cast<std::int64_t>(t.order(e));
}

// Less the path that the file was once written to, which says nothing of the trace.
Trace::Metadata lasting_metadata(const Trace& t) {
  Trace::Metadata kept = t.metadata();
  std::erase_if(kept, [](const auto& entry) { return entry.first == "traceName"; });
  return kept;
}

std::string slice_difference(const Trace& a, const Trace& b) {
  const std::vector<EventId> xs = in_order(a), ys = in_order(b);
  for (std::size_t i = 0; i < xs.size(); ++i) {
    const EventId x = xs[i], y = ys[i];
    if (a.name(x) != b.name(y)) return at("name of slice", i);
    if (a.start(x) != b.start(y) || a.dur(x) != b.dur(y)) return at("time of slice", i);
    if (a.kind(x) != b.kind(y) || a.category(x) != b.category(y)) return at("kind of slice", i);
    if (where(a, a.lane_of(x)) != where(b, b.lane_of(y))) return at("lane of slice", i);
    if (a.flags(x) != b.flags(y)) return at("flags of slice", i);
    if (a.self(x) != b.self(y) || a.depth(x) != b.depth(y)) return at("nesting of slice", i);
    for (const auto link : {&Trace::parent, &Trace::launch, &Trace::owner, &Trace::anchor}) {
      if (order_or_none(a, (a.*link)(x)) != order_or_none(b, (b.*link)(y))) {
        return at("link of slice", i);
      }
    }
    if (!same_args(a.args(x), b.args(y))) return at("arguments of slice", i);
  }
  return {};
}

}  // namespace

std::string difference(const Trace& a, const Trace& b) {
  if (a.size() != b.size()) return "number of slices";
  if (std::string d = slice_difference(a, b); !d.empty()) return d;
  if (a.base_unix_ns() != b.base_unix_ns()) return "base time";
  if (a.range() != b.range()) return "range";
  if (a.rank() != b.rank() || a.world_size() != b.world_size()) return "rank";
  if (lasting_metadata(a) != lasting_metadata(b)) return "metadata";
  if (a.instants().size() != b.instants().size()) return "number of instants";
  for (std::size_t i = 0; i < a.instants().size(); ++i) {
    const Instant &x = a.instants()[i], &y = b.instants()[i];
    if (x.at != y.at || x.phase != y.phase || a.text(x.name) != b.text(y.name) ||
        a.text(x.category) != b.text(y.category) || where(a, x.lane) != where(b, y.lane) ||
        !same_args(a.args_at(x.args), b.args_at(y.args))) {
      return at("instant", i);
    }
  }
  if (a.memory().size() != b.memory().size()) return "number of memory events";
  for (std::size_t i = 0; i < a.memory().size(); ++i) {
    const MemoryEvent &x = a.memory()[i], &y = b.memory()[i];
    if (x.at != y.at || x.bytes != y.bytes || x.addr != y.addr ||
        x.total_allocated != y.total_allocated || x.total_reserved != y.total_reserved ||
        x.device_type != y.device_type || x.device_id != y.device_id ||
        x.out_of_memory != y.out_of_memory || where(a, x.lane) != where(b, y.lane) ||
        order_or_none(a, x.op) != order_or_none(b, y.op)) {
      return at("memory event", i);
    }
  }
  if (a.flows().size() != b.flows().size()) return "number of flows";
  for (std::size_t i = 0; i < a.flows().size(); ++i) {
    const Flow &x = a.flows()[i], &y = b.flows()[i];
    if (x.id != y.id || x.at != y.at || x.begin != y.begin || a.text(x.name) != b.text(y.name) ||
        a.text(x.category) != b.text(y.category) || where(a, x.lane) != where(b, y.lane)) {
      return at("flow", i);
    }
  }
  const auto named = [](const Trace& t) {
    std::vector<Lane> lanes;
    for (const Lane& l : t.lanes()) {
      if (l.first == l.last) continue;
      lanes.push_back(l);
      lanes.back().first = lanes.back().last = 0;
    }
    std::sort(lanes.begin(), lanes.end(), [](const Lane& l, const Lane& r) {
      return std::tie(l.domain, l.pid, l.tid) < std::tie(r.domain, r.pid, r.tid);
    });
    return lanes;
  };
  return named(a) == named(b) ? "" : "names of lanes";
}

}  // namespace libtrace
