#include "tb_backend/api/event_json.h"

#include <algorithm>

#include "tb_backend/timeline/details.h"

namespace traceglass {
namespace {

using libtrace::EventId;
using libtrace::kNone;
using libtrace::Trace;
using nlohmann::json;

constexpr std::size_t kMostLaunched = 100;
constexpr std::size_t kMostParents = 200;
constexpr std::int64_t kExact = std::int64_t{1} << 53;  // integers of a JavaScript number
constexpr int kDeepest = 32;  // levels of a nested argument; more are shown as text

int depth_of(std::string_view text) {
  int depth = 0;
  int deepest = 0;
  for (const char c : text) {  // brackets within strings only make it look deeper
    if (c == '[' || c == '{') deepest = std::max(deepest, ++depth);
    if (c == ']' || c == '}') --depth;
  }
  return deepest;
}

json flows_json(const Timeline& timeline, EventId e) {
  const Trace& trace = timeline.trace();
  json out = json::array();
  const auto add = [&](std::string_view type, const char* direction, EventId other) {
    out.push_back(
        {{"type", type}, {"direction", direction}, {"event", event_ref(timeline, other)}});
  };
  const auto full = [&] { return out.size() >= kMostLaunched; };
  if (trace.launch(e) != kNone) add("launch", "in", trace.launch(e));
  for (const Link& link : timeline.links().launches(e, e + 1)) {
    if (full()) break;
    add("launch", "out", link.to);
  }
  for (const Link& link : timeline.links().flows_to(e)) {
    if (full()) break;
    add(trace.text(link.type), "in", link.from);
  }
  for (const Link& link : timeline.links().flows_from(e)) {
    if (full()) break;
    add(trace.text(link.type), "out", link.to);
  }
  return out;
}

}  // namespace

json value_json(const libtrace::Value& value) {
  using Type = libtrace::Value::Type;
  switch (value.type) {
    case Type::kNull:
      return nullptr;
    case Type::kBool:
      return value.i != 0;
    case Type::kInt:
      if (value.i > kExact || value.i < -kExact) return std::to_string(value.i);
      return value.i;
    case Type::kUint:
      return std::to_string(value.u);
    case Type::kDouble:
      return value.d;
    case Type::kString:
      return value.text;
    case Type::kJson:
      break;
  }
  if (depth_of(value.text) <= kDeepest) {
    json parsed = json::parse(value.text, nullptr, false);
    if (!parsed.is_discarded()) return parsed;
  }
  return value.text;
}

json event_ref(const Timeline& timeline, EventId e) {
  const Trace& trace = timeline.trace();
  const Place place = timeline.place(e);
  return {{"id", e},
          {"name", trace.name(e)},
          {"kind", libtrace::kind_name(trace.kind(e))},
          {"start_ns", trace.start(e)},
          {"dur_ns", trace.dur(e)},
          {"group", place.group},
          {"row", place.row}};
}

json event_json(const Timeline& timeline, EventId e, const std::string& step) {
  const Trace& trace = timeline.trace();
  json out = event_ref(timeline, e);
  const Group& group = timeline.groups()[timeline.place(e).group];
  out["category"] = trace.category(e);
  out["section"] = group.section;
  out["track"] = group.sublabel.empty() ? group.label : group.label + " · " + group.sublabel;
  if (libtrace::is_host_tree(trace.kind(e)) || trace.kind(e) == libtrace::Kind::kPython) {
    out["self_ns"] = trace.self(e);
  }
  if (!step.empty()) out["step"] = step;
  out["notes"] = notes(trace, e);
  out["args"] = json::array();
  for (const auto& [key, value] : trace.args(e)) {
    out["args"].push_back({{"key", key}, {"value", value_json(value)}});
  }
  out["parents"] = json::array();
  for (EventId up = trace.parent(e); up != kNone && out["parents"].size() < kMostParents;
       up = trace.parent(up)) {
    out["parents"].push_back(event_ref(timeline, up));
  }
  out["stack"] = python_stack(timeline, e);
  if (trace.launch(e) != kNone) out["launch"] = event_ref(timeline, trace.launch(e));
  if (trace.owner(e) != kNone) out["owner"] = event_ref(timeline, trace.owner(e));
  const Launched launched = launched_by(timeline, e, kMostLaunched);
  out["launched"] = json::array();
  for (const EventId other : launched.first) {
    out["launched"].push_back(event_ref(timeline, other));
  }
  if (launched.total > 0) out["launched_total"] = launched.total;
  out["flows"] = flows_json(timeline, e);
  const SameName same = same_name(trace, e);
  out["same_name"] = {{"count", same.count},
                      {"index", same.index},
                      {"min_ns", same.shortest},
                      {"max_ns", same.longest}};
  return out;
}

}  // namespace traceglass
