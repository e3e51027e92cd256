// All ranks of a run: the view over them, and their collectives as the summary document has them.
// Both are made of the ranks' summaries, which are read a few at a time and kept.
#include <algorithm>
#include <chrono>
#include <map>
#include <utility>

#include "tb_backend/analysis/collectives.h"
#include "tb_backend/api/distributed_json.h"
#include "tb_backend/api/encoding.h"
#include "tb_backend/api/json.h"
#include "tb_backend/api/problem.h"
#include "tb_backend/api/router.h"
#include "tb_backend/api/run_files.h"
#include "tb_backend/logdir/stable_hash.h"

namespace traceglass {

namespace {

Reply not_found(const char* sentence) {
  return problem_reply({404, "not_found", sentence, "", {}});
}

Reply collectives(Services& services, const Call& call, const PathArgs&) {
  const std::string& run = call.query.required("run");
  const auto snapshot = services.watcher.snapshot();
  const std::vector<TraceFile> files = files_of(*snapshot, run, std::nullopt);
  if (files.empty()) return not_found("There is no such run in the log directory.");
  const RankParts::Answer answer = services.ranks.ask(files);
  if (answer.waiting > 0) return waiting_reply(files, answer);
  std::map<int, std::vector<RankKernels>> spans;
  for (const RankParts::Part& part : answer.parts) {
    if (!part.summary || !part.summary->rank) continue;
    // A rank twice in one span: the first file speaks for it.
    std::vector<RankKernels>& ranks = spans[part.file.index];
    const int rank = *part.summary->rank;
    const bool twice = std::any_of(ranks.begin(), ranks.end(),
                                   [&](const RankKernels& r) { return r.rank == rank; });
    std::vector<CollectiveKernel> kernels = collective_kernels(*part.summary);
    if (!twice && !kernels.empty()) ranks.push_back({rank, std::move(kernels)});
  }
  Json all = Json::array();
  for (auto& [span, ranks] : spans) {
    for (Json& c :
         collectives_json(run, std::to_string(span), match_collectives(std::move(ranks)))) {
      all.push_back(std::move(c));
    }
  }
  return json_reply({{"collectives", std::move(all)}});
}

// One text for one state of the files, in this process: a new program may answer otherwise.
std::string etag_of(const RankParts::Answer& answer, const Call& call) {
  static const std::string kProcess =
      std::to_string(std::chrono::system_clock::now().time_since_epoch().count());
  std::string text = kProcess + call.path + '\n' + call.query.canonical();
  text += '\n' + std::to_string(answer.limits);
  for (const RankParts::Part& part : answer.parts) {
    const FileStamp& s = part.file.stamp;
    text += '\n' + part.file.id + ' ' + std::to_string(s.bytes) + ' ' +
            std::to_string(s.modified_ns) + ' ' + std::to_string(s.inode);
  }
  return stable_hash(text);
}

DistributedOptions options_of(const Call& call) {
  using Columns = DistributedOptions::Columns;
  DistributedOptions options;
  if (call.query.find("steps") != nullptr) options.steps = call.query.range("steps");
  const std::string columns = call.query.choice("columns", {"auto", "collective", "step"});
  options.columns = columns == "step"         ? Columns::kStep
                    : columns == "collective" ? Columns::kCollective
                                              : Columns::kAuto;
  return options;
}

Reply distributed(Services& services, const Call& call, const PathArgs&) {
  const std::string& run = call.query.required("run");
  const auto snapshot = services.watcher.snapshot();
  const std::string* id = call.query.find("id");
  const TraceFile* like = id == nullptr ? nullptr : snapshot->find(*id);
  const auto span =
      static_cast<int>(call.query.integer("span", 1, INT32_MAX, like == nullptr ? 1 : like->index));
  const DistributedOptions options = options_of(call);
  const std::vector<TraceFile> files = files_of(*snapshot, run, span);
  if (files.empty()) return not_found("There is no such run, or no such span of it.");
  RankParts::Answer answer = services.ranks.ask(files);
  if (answer.waiting > 0) return waiting_reply(files, answer);

  Reply reply;
  const std::string etag = etag_of(answer, call);
  if (has_etag(call, etag)) {
    reply.status = 304;
  } else if (services.ranks.waits_for_limit(etag)) {
    return waiting_reply(files, answer);
  } else {
    std::vector<RankInput> inputs;
    std::vector<RankParts::Part> parts;
    Json failed = Json::array();
    for (const RankParts::Part& part : answer.parts) {
      if (part.error) {
        failed.push_back({{"file", part.file.file},
                          {"worker", part.file.worker},
                          {"code", part.error->code},
                          {"message", part.error->message}});
        continue;
      }
      inputs.push_back({part.file.worker, part.summary.get()});
      parts.push_back(part);
    }
    const Distributed found = find_distributed(inputs, options);
    // Why the rank that is late is slow by itself takes its trace once more.
    std::optional<RankParts::Limit> limit;
    if (!found.stragglers.empty()) {
      const TraceFile& late = parts[found.ranks[found.stragglers[0].row].input].file;
      limit = services.ranks.limit(late);
      if (!limit) {
        services.ranks.wait_for_limit(etag, late);
        return waiting_reply(files, answer);
      }
    }
    Json body = distributed_json(found, parts);
    if (limit && !limit->id.empty()) {
      body["stragglers"][0]["limit"] = {{"id", limit->id}, {"sentence", limit->sentence}};
    }
    body["run"] = run;
    body["span"] = span;
    body["failed"] = std::move(failed);
    reply = json_reply(body);
  }
  reply.etag = etag;
  reply.cache = kRevalidate;
  return reply;
}

}  // namespace

std::vector<LogdirRoute> distributed_routes() {
  return {{"collectives", collectives}, {"distributed", distributed}};
}

}  // namespace traceglass
