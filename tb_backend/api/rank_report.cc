#include "tb_backend/api/rank_report.h"

#include <algorithm>
#include <optional>

#include "tb_backend/analysis/distributed.h"
#include "tb_backend/analysis/figures.h"
#include "tb_backend/analysis/path_waits.h"
#include "tb_backend/ingest/ingest.h"

namespace traceglass {

namespace {

constexpr std::size_t kStragglers = 3, kWaits = 4;
constexpr std::int64_t kLeastShare = 200;  // of the step

// The rank that waits longest for the first straggler, else of all.
std::size_t waiting_row(const Distributed& d) {
  if (!d.stragglers.empty()) return d.stragglers[0].waiting_row;
  std::size_t row = 0;
  for (std::size_t i = 1; i < d.ranks.size(); ++i) {
    if (d.ranks[i].wait_ns > d.ranks[row].wait_ns) row = i;
  }
  return row;
}

std::optional<PathParts> parts_of(const TraceFile& file, const PathWindow& window) {
  const IngestResult read = ingest_file(file.path);
  if (!read.trace) return std::nullopt;
  return path_parts(StepGraph(*read.trace), window);
}

}  // namespace

void RankReport::add(const libtrace::Trace& trace, const TraceFile& file) {
  if (!trace.rank()) return;
  RankSummary summary = summarize_rank(trace);
  if (!summary.collectives.empty()) {
    runs_[{file.run, file.index}].push_back({file, std::move(summary)});
  }
}

void RankReport::add_lines(const std::string& head, const std::vector<Rank>& ranks,
                           std::vector<std::string>& out) {
  std::vector<RankInput> inputs;
  for (const Rank& r : ranks) inputs.push_back({r.file.worker, &r.summary});
  const Distributed d = find_distributed(inputs, {});
  if (d.ranks.size() < 2 || d.matched == 0) return;
  out.push_back(head + ": " + std::to_string(d.ranks.size()) + " ranks, " +
                count_text(d.matched, "collective") + ", " + time_text(d.wait_ns) + " of " +
                time_text(d.collective_ns) + " in them is waiting");
  for (std::size_t i = 0; i < std::min(d.stragglers.size(), kStragglers); ++i) {
    out.push_back("  " + d.stragglers[i].sentence);
    out.push_back("    > " + d.stragglers[i].advice);
  }
  const RunMatch match(inputs);
  const std::size_t row = waiting_row(d);
  const IngestResult read = ingest_file(ranks[match.input(row)].file.path);
  if (!read.trace) return;
  const StepGraph graph(*read.trace);
  const StepChain chain(graph, Selection::everything(find_steps(*read.trace)));
  if (chain.steps() == 0) return;
  const std::size_t step = median_step(chain);
  const PathWaits found =
      find_path_waits(match, row, collectives_of_path(*read.trace, critical_path(chain, step)),
                      chain.step(step).extended.length() / kLeastShare, kWaits);
  const std::string& name = chain.step(step).name;
  out.push_back("  critical path of rank " + std::to_string(*match.rank(row).rank) +
                (name.empty() ? "" : ", " + name) + ": " + found.sentence);
  for (const PathWait& w : found.waits) {
    const PathWaitCause cause = cause_of_wait(
        w, *match.rank(row).rank, *match.rank(*w.late_row).rank, path_parts(graph, w.own),
        parts_of(ranks[match.input(*w.late_row)].file, w.late));
    out.push_back("    - " + time_text(w.wait_ns) + ": " + cause.sentence);
  }
}

std::vector<std::string> RankReport::lines() const {
  std::vector<std::string> out;
  for (const auto& [key, ranks] : runs_) {
    add_lines("run " + key.first + (key.second > 1 ? ", span " + std::to_string(key.second) : ""),
              ranks, out);
  }
  return out;
}

}  // namespace traceglass
