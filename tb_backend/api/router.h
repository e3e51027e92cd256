// Paths of openapi.yaml → functions. Two sorts: about the log directory, and about one loaded
// trace. For the second the router does what all share: the id, the load (202 with its status),
// the file's error, the entity tag (a trace is immutable, so path and query tell the answer).
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tb_backend/api/call.h"
#include "tb_backend/api/metric_book.h"
#include "tb_backend/api/note_feed.h"
#include "tb_backend/api/rank_parts.h"
#include "tb_backend/api/registry.h"
#include "tb_backend/logdir/watch.h"

namespace traceglass {

struct Notes {
  explicit Notes(NoteStore::Options options) : store(std::move(options)), feed(store) {}
  NoteStore store;
  NoteFeed feed;
};

// What routes may use.
struct Services {
  Watcher& watcher;
  Registry& registry;
  RankParts& ranks;
  MetricBook& metrics;
  Notes& notes;
};

// The variable parts of a path, in order: "traces/{id}/events/{event}" gives id and event.
using PathArgs = std::vector<std::string>;

struct LogdirRoute {
  const char* pattern;
  Reply (*answer)(Services& services, const Call& call, const PathArgs& args);
  const char* method = "GET";
};

struct TraceRoute {
  const char* pattern;
  Reply (*answer)(const LoadedTrace& trace, const Call& call, const PathArgs& args);
  const char* type = "application/json";  // of a 304
  const char* cache = kRevalidate;
};

// `path` below "/api/".
Reply route(Services& services, const Call& call, std::string_view path);

// Of a trace that is not there yet, by openapi's Status.
Reply status_reply(const TraceFile& file, const LoadStatus& status, int http_status);
// Of a file that cannot be loaded.
Reply file_error_reply(const TraceFile& file, const FileError& error);

// The steps that the query asks for; throws BadRequest where the trace has no such step.
Selection selection_of(const LoadedTrace& loaded, const Call& call);

// The one step of these that the query's `step` names; SIZE_MAX: none named. Throws BadRequest for
// one that is not chosen.
std::size_t step_of(const LoadedTrace& loaded, const Selection& selection, const Call& call);

// One list a topic, in routes_<topic>.cc.
std::vector<LogdirRoute> logdir_routes();
std::vector<LogdirRoute> distributed_routes();
std::vector<LogdirRoute> path_ranks_routes();
std::vector<LogdirRoute> metrics_routes();
std::vector<LogdirRoute> notes_routes();
std::vector<LogdirRoute> compare_routes();
std::vector<TraceRoute> trace_routes();
std::vector<TraceRoute> timeline_routes();
std::vector<TraceRoute> track_routes();
std::vector<TraceRoute> event_routes();
std::vector<TraceRoute> view_routes();
std::vector<TraceRoute> module_routes();
std::vector<TraceRoute> roofline_routes();
std::vector<TraceRoute> path_routes();

}  // namespace traceglass
