// Collectives over the ranks of a run: needs every trace of it once, not all at a time.
#include <algorithm>
#include <map>
#include <utility>

#include "tb_backend/analysis/collectives.h"
#include "tb_backend/api/json.h"
#include "tb_backend/api/problem.h"
#include "tb_backend/api/router.h"

namespace traceglass {

std::optional<RankKernels> CollectiveParts::find(const TraceFile& file, bool& known) {
  const std::lock_guard lock(mutex_);
  const auto it = parts_.find(file.id);
  known = it != parts_.end() && it->second.first == file.stamp;
  return known ? it->second.second : std::nullopt;
}

void CollectiveParts::put(const TraceFile& file, std::optional<RankKernels> kernels) {
  const std::lock_guard lock(mutex_);
  parts_[file.id] = {file.stamp, std::move(kernels)};
}

namespace {

constexpr int kLoadedAhead = 2;  // of a run with many ranks: the rest would push each other out

std::optional<RankKernels> kernels_of(const libtrace::Trace& trace) {
  if (!trace.rank()) return std::nullopt;
  return RankKernels{*trace.rank(), collective_kernels(trace)};
}

Reply collectives(Services& services, const Call& call, const PathArgs&) {
  const std::string& run = call.query.required("run");
  const auto snapshot = services.watcher.snapshot();
  std::map<int, std::vector<RankKernels>> spans;
  bool found = false;
  int loading = 0;
  Reply pending;
  for (const TraceFile& file : snapshot->files) {
    if (file.run != run) continue;
    found = true;
    bool known = false;
    std::optional<RankKernels> kernels = services.collectives.find(file, known);
    if (!known) {
      if (loading == kLoadedAhead) continue;
      const LoadStatus status = services.registry.ask(file);
      if (status.error) continue;
      if (!status.loaded) {
        if (++loading == 1) pending = status_reply(file, status, 202);
        continue;
      }
      kernels = kernels_of(*status.loaded->trace);
      services.collectives.put(status.loaded->file, kernels);
    }
    if (!kernels || kernels->kernels.empty()) continue;
    // A rank twice in one span: the first file speaks for it.
    std::vector<RankKernels>& ranks = spans[file.index];
    const bool twice = std::any_of(ranks.begin(), ranks.end(),
                                   [&](const RankKernels& r) { return r.rank == kernels->rank; });
    if (!twice) ranks.push_back(std::move(*kernels));
  }
  if (!found) {
    return problem_reply({404, "not_found", "There is no such run in the log directory.", "", {}});
  }
  if (loading > 0) return pending;
  Json all = Json::array();
  for (auto& [span, ranks] : spans) {
    for (Json& c :
         collectives_json(run, std::to_string(span), match_collectives(std::move(ranks)))) {
      all.push_back(std::move(c));
    }
  }
  return json_reply({{"collectives", std::move(all)}});
}

}  // namespace

std::vector<LogdirRoute> collective_routes() { return {{"collectives", collectives}}; }

}  // namespace traceglass
