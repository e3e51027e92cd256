// One slice, its neighbours, and search.
#include <algorithm>

#include "libtrace/model/whole_number.h"
#include "tb_backend/api/event_json.h"
#include "tb_backend/api/json.h"
#include "tb_backend/api/problem.h"
#include "tb_backend/api/router.h"
#include "tb_backend/timeline/details.h"
#include "tb_backend/timeline/search.h"

namespace traceglass {
namespace {

using libtrace::EventId;
using libtrace::kNone;
using json = Json;

// Of a search, as ids: what the page lights up. More than that lights up everything anyway.
constexpr std::size_t kMostNames = 20000;

// kNone when the path names no slice of the trace.
EventId event_of(const LoadedTrace& trace, const std::string& text) {
  const auto id = libtrace::whole_number(text);
  if (!id || *id < 0 || static_cast<std::uint64_t>(*id) >= trace.trace->size()) return kNone;
  return static_cast<EventId>(*id);
}

Reply no_event(const LoadedTrace& trace) {
  return problem_reply({404,
                        "not_found",
                        "The trace has no such event: its events are 0 to below " +
                            std::to_string(trace.trace->size()) + ".",
                        trace.file.file,
                        {}});
}

json ref_or_null(const Timeline& timeline, EventId e) {
  return e == kNone ? json(nullptr) : event_ref(timeline, e);
}

// Of the step in which `e` starts: host slices by the steps' own intervals (an extended step may
// begin later than its annotation), all others by the extended ones. "" outside them all.
std::string step_of(const libtrace::Trace& trace, const std::vector<Step>& steps, EventId e) {
  const bool host = trace.lanes()[trace.lane_of(e)].domain == libtrace::Domain::kHost;
  const std::int64_t at = trace.start(e);
  for (const Step& step : steps) {
    const libtrace::TimeRange& range = host ? step.host : step.extended;
    if (at >= range.start && at < range.end) return step.name;
  }
  return {};
}

Reply event(const LoadedTrace& trace, const Call&, const PathArgs& args) {
  const EventId e = event_of(trace, args[1]);
  if (e == kNone) return no_event(trace);
  const std::string step = step_of(*trace.trace, trace.steps, e);
  return json_reply(event_json(*trace.timeline, e, step));
}

Reply neighbour(const LoadedTrace& trace, const Call& call, const PathArgs& args) {
  const std::string dir = call.query.choice(
      "dir", {"next", "prev", "parent", "flow_in", "flow_out", "next_same", "prev_same"}, true);
  const EventId e = event_of(trace, args[1]);
  if (e == kNone) return no_event(trace);
  const Timeline& timeline = *trace.timeline;
  const EventId other = dir == "parent"          ? trace.trace->parent(e)
                        : dir == "flow_in"       ? flow_in(timeline, e)
                        : dir == "flow_out"      ? flow_out(timeline, e)
                        : dir.ends_with("_same") ? same_name(*trace.trace, e, dir == "next_same")
                                                 : timeline.beside(e, dir == "next");
  return json_reply({{"event", ref_or_null(timeline, other)}});
}

Reply search_names(const LoadedTrace& trace, const Call& call, const PathArgs&) {
  const std::string& text = call.query.required("q");
  const bool forward = call.query.choice("dir", {"next", "prev"}) == "next";
  if (text.empty()) throw BadRequest{"q", "Parameter q must not be empty."};
  std::optional<EventId> after;
  if (call.query.find("after") != nullptr && trace.trace->size() > 0) {
    const auto most = static_cast<std::int64_t>(trace.trace->size()) - 1;
    after = static_cast<EventId>(call.query.integer("after", 0, most));
  }
  const NamePattern pattern(text);
  if (!pattern.error().empty()) {
    throw BadRequest{"q", "That is no regular expression: " + pattern.error() + "."};
  }
  const SearchHits hits = search(*trace.trace, pattern, after, forward);
  const auto told = static_cast<std::ptrdiff_t>(std::min(hits.names.size(), kMostNames));
  return json_reply({{"total", hits.total},
                     {"position", hits.position},
                     {"hit", ref_or_null(*trace.timeline, hits.hit)},
                     {"bins", hits.bins},
                     {"names", std::vector(hits.names.begin(), hits.names.begin() + told)}});
}

}  // namespace

std::vector<TraceRoute> event_routes() {
  return {{"traces/{id}/events/{event}", event},
          {"traces/{id}/events/{event}/neighbour", neighbour},
          {"traces/{id}/search", search_names}};
}

}  // namespace traceglass
