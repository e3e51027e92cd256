#include "tb_backend/api/router.h"

#include <optional>
#include <utility>

#include "tb_backend/api/encoding.h"
#include "tb_backend/api/json.h"
#include "tb_backend/api/problem.h"
#include "tb_backend/logdir/stable_hash.h"

namespace traceglass {
namespace {

std::string_view next_part(std::string_view& path) {
  const auto slash = path.find('/');
  const std::string_view part = path.substr(0, slash);
  path.remove_prefix(slash == std::string_view::npos ? path.size() : slash + 1);
  return part;
}

std::optional<PathArgs> match(std::string_view pattern, std::string_view path) {
  PathArgs args;
  while (!pattern.empty() && !path.empty()) {
    const std::string_view expected = next_part(pattern);
    const std::string_view part = next_part(path);
    if (expected.starts_with('{') && !part.empty()) {
      args.emplace_back(part);
    } else if (expected != part) {
      return std::nullopt;
    }
  }
  if (!pattern.empty() || !path.empty()) return std::nullopt;
  return args;
}

Reply answer_about(Services& services, const Call& call, const TraceRoute& entry,
                   const PathArgs& args) {
  const auto snapshot = services.watcher.snapshot();
  const TraceFile* file = snapshot->find(args[0]);
  if (file == nullptr) {
    return problem_reply({404,
                          "not_found",
                          "There is no trace " + args[0].substr(0, 32) +
                              " in the log directory (any more): reload the list of runs.",
                          "",
                          {}});
  }
  const LoadStatus status = services.registry.ask(*file);
  if (status.error) return file_error_reply(*file, *status.error);
  if (!status.loaded) return status_reply(*file, status, 202);
  const std::string etag =
      stable_hash(status.loaded->generation + '\n' + call.path + '\n' + call.query.canonical());
  Reply reply;
  if (has_etag(call, etag)) {
    reply.status = 304;
  } else {
    reply = entry.answer(*status.loaded, call, args);
  }
  if (reply.status == 200 || reply.status == 304) {
    if (reply.status == 304) reply.type = entry.type;
    reply.etag = etag;
    reply.cache = entry.cache;
  }
  return reply;
}

}  // namespace

Reply route(Services& services, const Call& call, std::string_view path) {
  static const std::vector<LogdirRoute> kLogdirRoutes = [] {
    std::vector<LogdirRoute> all = logdir_routes();
    for (const LogdirRoute& entry : distributed_routes()) all.push_back(entry);
    for (const LogdirRoute& entry : path_ranks_routes()) all.push_back(entry);
    for (const LogdirRoute& entry : metrics_routes()) all.push_back(entry);
    for (const LogdirRoute& entry : notes_routes()) all.push_back(entry);
    for (const LogdirRoute& entry : compare_routes()) all.push_back(entry);
    return all;
  }();
  static const std::vector<TraceRoute> kTraceRoutes = [] {
    std::vector<TraceRoute> all;
    for (const auto& list : {trace_routes(), view_routes(), timeline_routes(), track_routes(),
                             event_routes(), module_routes(), roofline_routes(), path_routes()}) {
      all.insert(all.end(), list.begin(), list.end());
    }
    return all;
  }();
  try {
    const std::string_view method = call.reads() ? "GET" : std::string_view(call.method);
    for (const LogdirRoute& entry : kLogdirRoutes) {
      if (entry.method != method) continue;
      if (const auto args = match(entry.pattern, path)) return entry.answer(services, call, *args);
    }
    for (const TraceRoute& entry : kTraceRoutes) {
      if (!call.reads()) break;
      if (const auto args = match(entry.pattern, path)) {
        return answer_about(services, call, entry, *args);
      }
    }
  } catch (const BadRequest& bad) {
    return problem_reply({422, "bad_parameter", bad.sentence, "", {}});
  }
  if (call.reads()) {
    return problem_reply({404, "not_found", "The API has no such path; see openapi.yaml.", "", {}});
  }
  Reply reply = problem_reply(
      {405, "method", "The API has no such operation here; see openapi.yaml.", "", {}});
  reply.headers.emplace_back("Allow", "GET, HEAD");
  return reply;
}

Reply status_reply(const TraceFile& file, const LoadStatus& status, int http_status) {
  Json out = {{"id", file.id},
              {"phase", phase_name(status.phase)},
              {"bytes_done", status.bytes_done},
              {"bytes_total", status.bytes_total},
              {"events", status.events}};
  if (status.error) {
    const Reply error = file_error_reply(file, *status.error);
    out["error"] = Json::parse(*error.body);
  }
  Reply reply = json_reply(out);
  reply.status = http_status;
  return reply;
}

Reply file_error_reply(const TraceFile& file, const FileError& error) {
  return problem_reply({422, error.code, error.message, file.file, error.offset});
}

}  // namespace traceglass
