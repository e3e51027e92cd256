// The summary document (`traceglass.summary/1`, schema in summary.schema.json): everything that
// can be said of some traces, for programs, and a short text of it for people.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tb_backend/analysis/collectives.h"
#include "tb_backend/api/view_json.h"
#include "tb_backend/logdir/scan.h"

namespace traceglass {

// Schema SummaryTrace. `file` gives run, worker, span and path.
Json summary_trace_json(const libtrace::Trace& trace, const TraceFile& file);

// Collectives of the traces of one (run, span index), collected one trace at a time.
class CollectiveCollector {
 public:
  void add(const libtrace::Trace& trace, const TraceFile& file);
  // Schema Collective, by run and span index.
  [[nodiscard]] Json json() const;

 private:
  std::map<std::pair<std::string, int>, std::vector<RankKernels>> spans_;
};

// The whole document over these files, loaded one after another; `also` looks at each trace then.
using EachTrace = std::function<void(const libtrace::Trace&, const TraceFile&)>;
Json summary_json(const std::vector<TraceFile>& files, const EachTrace& also = {});

// Trace files behind command-line paths: files themselves, directories scanned.
std::vector<TraceFile> files_of(const std::vector<std::string>& paths, std::vector<Json>& errors);

struct SummaryOptions {
  std::vector<std::string> paths;
  std::string format = "text";  // text, json, csv
  std::string view = "";        // "": the usual ones; else one table
  std::size_t top = 10;         // rows of a table for people; 0: all
  bool top_given = false;       // then JSON is cut too
};
// Prints to stdout; the exit status.
int run_summary(const SummaryOptions& options);

}  // namespace traceglass
