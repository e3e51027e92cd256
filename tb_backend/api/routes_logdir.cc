// What the log directory holds, and how far a load is: runs, status.
#include "tb_backend/api/encoding.h"
#include "tb_backend/api/json.h"
#include "tb_backend/api/problem.h"
#include "tb_backend/api/router.h"
#include "tb_backend/logdir/stable_hash.h"

namespace traceglass {
namespace {

using json = Json;

const char* state_name(LoadPhase phase) {
  switch (phase) {
    case LoadPhase::kNew:
      return "new";
    case LoadPhase::kReady:
      return "ready";
    case LoadPhase::kError:
      return "error";
    case LoadPhase::kQueued:
    case LoadPhase::kReading:
    case LoadPhase::kBuilding:
      break;
  }
  return "loading";
}

json span_json(const TraceFile& file, LoadPhase phase) {
  return {{"span", file.span},
          {"index", file.index},
          {"id", file.id},
          {"file", file.file},
          {"bytes", file.stamp.bytes},
          {"modified_unix_ms", file.stamp.modified_ns / 1'000'000},
          {"state", state_name(phase)}};
}

Reply runs(Services& services, const Call& call, const PathArgs&) {
  const auto snapshot = services.watcher.snapshot();
  services.registry.keep_only(*snapshot);
  services.ranks.keep_only(*snapshot);
  json out = {{"logdir", snapshot->logdir},
              {"runs", json::array()},
              {"ignored", json::array()},
              {"event_files", snapshot->events.size()}};
  if (!snapshot->message.empty()) out["message"] = snapshot->message;
  const TraceFile* last = nullptr;  // files come sorted by run and worker
  for (const TraceFile& file : snapshot->files) {
    json& all = out["runs"];
    if (last == nullptr || last->run != file.run) {
      all.push_back({{"name", file.run}, {"workers", json::array()}});
    }
    json& workers = all.back()["workers"];
    if (last == nullptr || last->run != file.run || last->worker != file.worker) {
      workers.push_back({{"name", file.worker}, {"spans", json::array()}});
    }
    workers.back()["spans"].push_back(span_json(file, services.registry.peek(file)));
    last = &file;
  }
  for (const IgnoredFile& file : snapshot->ignored) {
    out["ignored"].push_back({{"run", file.run},
                              {"file", file.file},
                              {"worker", file.worker},
                              {"span", file.span},
                              {"reason", file.reason}});
  }
  Reply reply = json_reply(out);
  reply.etag = stable_hash(*reply.body);
  reply.cache = kRevalidate;
  if (has_etag(call, reply.etag)) {
    reply.status = 304;
    reply.body = std::make_shared<const std::string>();
  }
  return reply;
}

Reply status(Services& services, const Call&, const PathArgs& args) {
  const auto snapshot = services.watcher.snapshot();
  const TraceFile* file = snapshot->find(args[0]);
  if (file == nullptr) {
    return problem_reply(
        {404, "not_found", "There is no such trace in the log directory (any more).", "", {}});
  }
  return status_reply(*file, services.registry.ask(*file), 200);
}

// Every load that runs or waits, whoever asked for it.
Reply loads(Services& services, const Call&, const PathArgs&) {
  Json out = Json::array();
  for (const Load& load : services.registry.loads()) {
    Json one = Json::parse(*status_reply(load.file, load.status, 200).body);
    one["file"] = load.file.file;
    out.push_back(std::move(one));
  }
  return json_reply({{"loads", std::move(out)}});
}

}  // namespace

std::vector<LogdirRoute> logdir_routes() {
  return {{"runs", runs}, {"loads", loads}, {"traces/{id}/status", status}};
}

}  // namespace traceglass
