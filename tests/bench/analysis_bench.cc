// What each view costs once its trace is loaded: `name  ms  limit` a line, and the same as a ratio
// to one pass over the columns that the analyses read. That pass is what no analysis can do
// without, so the machine's own speed cancels out.
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "tb_backend/analysis/activity.h"
#include "tb_backend/analysis/compare.h"
#include "tb_backend/analysis/contents.h"
#include "tb_backend/analysis/critical_path.h"
#include "tb_backend/analysis/idle.h"
#include "tb_backend/analysis/kernels.h"
#include "tb_backend/analysis/memory.h"
#include "tb_backend/analysis/modules.h"
#include "tb_backend/analysis/operators.h"
#include "tb_backend/analysis/overview.h"
#include "tb_backend/analysis/rank_summary.h"
#include "tb_backend/analysis/roofline.h"
#include "tb_backend/analysis/steps.h"
#include "tb_backend/analysis/verdicts.h"
#include "tb_backend/ingest/ingest.h"

namespace {

using libtrace::EventId;
using libtrace::Trace;
using namespace traceglass;

constexpr int kTimes = 3;
constexpr double kAllMs = 1000;     // all of them together, for a million slices
constexpr double kCompareMs = 500;  // a comparison, for a million slices of both its traces
constexpr double kPassRatio = 3.0;  // an analysis that is linear

// Every analysis is one thread's work: its CPU time is what an idle core takes.
double cpu_ms() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

double best_ms(const std::function<void()>& work) {
  double best = 1e9;
  for (int i = 0; i < kTimes; ++i) {
    const double begin = cpu_ms();
    work();
    best = std::min(best, cpu_ms() - begin);
  }
  return best;
}

// Times by name and by lane, links followed: one pass of every column.
std::int64_t column_pass(const Trace& trace) {
  std::vector<std::int64_t> by_name(trace.string_count()), by_lane(trace.lanes().size());
  std::vector<std::int64_t> of_children(trace.size());
  std::int64_t depths = 0;
  for (EventId e = 0; e < trace.size(); ++e) {
    by_name[trace.name_id(e)] += trace.self(e);
    by_lane[trace.lane_of(e)] += trace.suspect(e) ? 0 : trace.dur(e);
    for (const EventId to : {trace.parent(e), trace.launch(e), trace.owner(e), trace.anchor(e)}) {
      if (to != libtrace::kNone) of_children[to] += trace.end(e);
    }
    depths += trace.depth(e);
  }
  return depths + by_name[0] + by_lane[0] + of_children[0];
}

// The same with the arguments of what is device work, for analyses that read them.
std::int64_t argument_pass(const Trace& trace) {
  std::vector<Trace::Arg> args;
  std::int64_t sum = column_pass(trace);
  for (EventId e = 0; e < trace.size(); ++e) {
    if (!libtrace::is_device_work(trace.kind(e))) continue;
    trace.args(e, args);
    for (const auto& [key, value] : args) sum += static_cast<std::int64_t>(key.size());
  }
  return sum;
}

enum class Reads { kColumns, kArguments, kSorts };  // kSorts: not linear

struct Analysis {
  const char* name;
  Reads reads;
  std::function<void()> run;
};

// Verdicts, idle time and critical path share one graph, as in the server (api/graph_cache.h).
std::vector<Analysis> analyses(const Trace& trace, const StepGraph& graph, const Selection& all) {
  return {
      {"steps", Reads::kColumns, [&] { find_steps(trace); }},
      {"contents", Reads::kColumns, [&] { find_contents(trace); }},
      {"overview", Reads::kSorts, [&] { find_overview(trace, DeviceTimes(trace), all); }},
      {"operators", Reads::kColumns,
       [&] { find_operators(trace, DeviceTimes(trace), all, libtrace::Kind::kOp); }},
      {"operators by shape", Reads::kSorts,
       [&] {
         find_operators(trace, DeviceTimes(trace), all, libtrace::Kind::kOp, OperatorGroup::kShape);
       }},
      {"operators by stack", Reads::kSorts,
       [&] {
         find_operators(trace, DeviceTimes(trace), all, libtrace::Kind::kOp, OperatorGroup::kStack);
       }},
      {"modules", Reads::kSorts, [&] { find_modules(trace, all); }},
      {"roofline", Reads::kSorts, [&] { find_roofline(trace, all); }},
      {"rank summary", Reads::kSorts, [&] { summarize_rank(trace); }},
      {"step graph", Reads::kSorts, [&] { const StepGraph made(trace); }},
      {"verdicts", Reads::kSorts, [&] { find_verdicts(graph, all); }},
      {"idle", Reads::kSorts, [&] { find_idle(graph, all); }},
      {"critical path", Reads::kSorts, [&] { find_critical_path(StepChain(graph, all)); }},
      {"kernels", Reads::kArguments, [&] { find_kernels(trace, all); }},
      {"memory", Reads::kColumns,
       [&] {
         for (const MemoryDevice& device : find_memory(trace)) alive_at_peak(trace, device);
         memory_operators(trace, all);
       }},
  };
}

// All steps but the last against all but the first: nearly all work of two traces, aligned though
// it is shifted. With a single step it is compared with itself.
double compare_ms(const Trace& trace) {
  const std::vector<Step> steps = find_steps(trace);
  const std::size_t last = steps.empty() ? 0 : steps.size() - 1;
  const Selection a = Selection::of(steps, 0, last == 0 ? 0 : last - 1);
  const Selection b = Selection::of(steps, std::min<std::size_t>(1, last), last);
  return best_ms([&] { compare({trace, a}, {trace, b}); });
}

void report(const std::string& name, double value, double limit) {
  std::printf("%s %.3f %.3f\n", name.c_str(), value, limit);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "analysis_bench TRACE\n");
    return 2;
  }
  const IngestResult result = ingest_file(argv[1]);
  if (result.error) {
    std::fprintf(stderr, "%s: %s\n", argv[1], result.error->message.c_str());
    return 1;
  }
  const Trace& trace = *result.trace;
  const Selection all = Selection::everything(find_steps(trace));
  volatile std::int64_t kept = 0;
  const double columns = best_ms([&] { kept = column_pass(trace); });
  const double arguments = best_ms([&] { kept = argument_pass(trace); });
  const double millions = static_cast<double>(trace.size()) / 1e6;
  double sum = 0;
  const StepGraph graph(trace);
  for (const Analysis& analysis : analyses(trace, graph, all)) {
    const double ms = best_ms(analysis.run);
    sum += ms;
    std::string name = analysis.name;
    std::replace(name.begin(), name.end(), ' ', '_');
    report(name + ".ms_a_million", ms / millions, kAllMs);
    if (analysis.reads == Reads::kSorts) continue;
    const double pass = analysis.reads == Reads::kColumns ? columns : arguments;
    report(name + ".passes", ms / pass, kPassRatio);
  }
  report("compare.ms_a_million", compare_ms(trace) / (2 * millions), kCompareMs);
  report("all.ms_a_million", sum / millions, kAllMs);
  return 0;
}
