// The critical path of a step over ranks: for whom each collective on it waited, and what that rank
// did longer. Made of the summaries of the run's ranks, and of the traces of those that are late.
#include <map>

#include "tb_backend/analysis/path_waits.h"
#include "tb_backend/api/graph_cache.h"
#include "tb_backend/api/json.h"
#include "tb_backend/api/problem.h"
#include "tb_backend/api/router.h"
#include "tb_backend/api/run_files.h"

namespace traceglass {

namespace {

constexpr std::size_t kMost = 8;           // waits
constexpr std::int64_t kLeastShare = 200;  // of the step; what is shorter is noise

struct Run {
  std::vector<RankInput> inputs;
  std::vector<TraceFile> files;  // of the inputs, as they were read
};

// The row of the trace itself; match.ranks(): it has none.
std::size_t row_of(const Run& run, const RunMatch& match, const std::string& id) {
  std::size_t row = 0;
  while (row < match.ranks() && run.files[match.input(row)].id != id) ++row;
  return row;
}

// Absent: a late rank is being read.
std::optional<Json> waits_json(Services& services, const Run& run, const RunMatch& match,
                               std::size_t row, const StepGraph& graph, const PathWaits& found) {
  std::map<std::size_t, std::vector<PathWindow>> windows;  // by late rank
  for (const PathWait& w : found.waits) windows[*w.late_row].push_back(w.late);
  std::map<PathWindow, std::optional<PathParts>> late;
  bool known = true;
  for (const auto& [late_row, list] : windows) {
    const auto parts = services.ranks.path_parts(run.files[match.input(late_row)], list);
    known = known && parts;
    for (std::size_t i = 0; known && i < list.size(); ++i) late[list[i]] = (*parts)[i];
  }
  if (!known) return std::nullopt;
  Json out = Json::array();
  for (const PathWait& w : found.waits) {
    const RankSummary& rank = match.rank(*w.late_row);
    const TraceFile& file = run.files[match.input(*w.late_row)];
    const PathWaitCause cause = cause_of_wait(w, *match.rank(row).rank, *rank.rank,
                                              path_parts(graph, w.own), late.at(w.late));
    Json longer = Json::array();
    for (const PathWaitCause::Part& part : cause.longer) {
      longer.push_back({{"category", path_category_name(part.category)},
                        {"own_ns", part.own_ns},
                        {"late_ns", part.late_ns}});
    }
    out.push_back({{"event", w.event},
                   {"name", graph.trace().name(w.event)},
                   {"ranks", w.ranks},
                   {"wait_ns", w.wait_ns},
                   {"late",
                    {{"rank", *rank.rank},
                     {"worker", file.worker},
                     {"id", file.id},
                     {"ns", w.late_ns},
                     {"show", range_json(w.show)}}},
                   {"longer", std::move(longer)},
                   {"sentence", cause.sentence}});
  }
  return out;
}

Reply path_ranks(Services& services, const Call& call, const PathArgs& args) {
  const auto snapshot = services.watcher.snapshot();
  const TraceFile* own = snapshot->find(args[0]);
  if (own == nullptr) {
    return problem_reply(
        {404, "not_found", "There is no such trace in the log directory.", "", {}});
  }
  const LoadStatus status = services.registry.ask(*own);
  if (status.error) return file_error_reply(*own, *status.error);
  if (!status.loaded) return status_reply(*own, status, 202);
  const Selection selection = selection_of(*status.loaded, call);
  const std::size_t asked = selection.chosen_index(step_of(*status.loaded, selection, call));
  const std::vector<TraceFile> files = files_of(*snapshot, own->run, own->index);
  const RankParts::Answer answer = services.ranks.ask(files);
  if (answer.waiting > 0) return waiting_reply(files, answer);

  Run run;
  for (const RankParts::Part& part : answer.parts) {
    if (part.error) continue;
    run.inputs.push_back({part.file.worker, part.summary.get()});
    run.files.push_back(part.file);
  }
  const RunMatch match(run.inputs);
  const std::size_t row = row_of(run, match, own->id);
  Json out = {{"waits", Json::array()}};
  if (row == match.ranks()) {
    out["ranks"] = match.ranks();
    out["collectives"] = 0;
    out["sentence"] = "This trace is no rank of its run: it says none, or another speaks for it.";
    return json_reply(out);
  }
  const auto graph = graph_of(status.loaded->trace);
  const StepChain chain(*graph, selection);
  PathWaits found;
  if (chain.steps() > 0) {
    const std::size_t step = asked < chain.steps() ? asked : median_step(chain);
    found =
        find_path_waits(match, row, collectives_of_path(graph->trace(), critical_path(chain, step)),
                        chain.step(step).extended.length() / kLeastShare, kMost);
  }
  std::optional<Json> waits = waits_json(services, run, match, row, *graph, found);
  if (!waits) return waiting_reply(files, answer);
  out["waits"] = std::move(*waits);
  out["ranks"] = found.ranks;
  out["collectives"] = found.collectives;
  out["sentence"] = found.sentence;
  return json_reply(out);
}

}  // namespace

std::vector<LogdirRoute> path_ranks_routes() {
  return {{"traces/{id}/critical-path/ranks", path_ranks}};
}

}  // namespace traceglass
