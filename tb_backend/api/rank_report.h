// What `traceglass summary` says to people of a run of several ranks: who comes late and why, and
// for whom the critical path of the rank that waits longest waited.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tb_backend/analysis/rank_summary.h"
#include "tb_backend/logdir/scan.h"

namespace traceglass {

class RankReport {
 public:
  // Each trace of the runs, in any order; only a summary of it is kept.
  void add(const libtrace::Trace& trace, const TraceFile& file);
  // Lines of text; none where no run has two ranks with a collective of both. Reads the traces of
  // the ranks concerned once more.
  [[nodiscard]] std::vector<std::string> lines() const;

 private:
  struct Rank {
    TraceFile file;
    RankSummary summary;
  };
  static void add_lines(const std::string& head, const std::vector<Rank>& ranks,
                        std::vector<std::string>& out);

  std::map<std::pair<std::string, int>, std::vector<Rank>> runs_;  // by run and span index
};

}  // namespace traceglass
