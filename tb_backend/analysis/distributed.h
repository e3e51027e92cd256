// All ranks of a run: on one clock, their steps side by side, their collectives matched, who waited
// for whom and why. Made of summaries of the ranks, so that no trace need be loaded.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "libtrace/trace.h"
#include "tb_backend/analysis/run_match.h"

namespace traceglass {

struct DistributedOptions {
  std::optional<std::pair<std::int64_t, std::int64_t>> steps;  // first and last N; absent: all
  enum class Columns : std::uint8_t { kAuto, kCollective, kStep } columns = Columns::kAuto;
  std::size_t heat_rows = 64, heat_columns = 48, collectives = 300;
};

// Means over the selected steps of the rank; sums over the collectives in them.
struct RankRow {
  int rank = 0;
  std::size_t input = 0;      // position among the inputs
  std::int64_t ahead_ns = 0;  // of its clock
  bool tied = false;          // by collectives
  std::size_t steps = 0;
  std::int64_t starts_ns = 0;  // its step, behind that of the first rank
  std::int64_t step_ns = 0;
  std::int64_t computation_ns = 0, overlap_ns = 0, exposed_ns = 0, other_ns = 0;  // sum to step_ns
  std::int64_t dataloader_ns = 0;
  std::optional<std::int64_t> bubble_ns;
  std::size_t collectives = 0;  // matched
  std::int64_t wait_ns = 0;     // its own, over them
  std::size_t last = 0;         // of them it alone entered last, and others waited
  std::int64_t caused_ns = 0;   // what the others waited in those
  std::int64_t bytes = 0;       // of those with a known size
  libtrace::TimeRange show;     // the first selected step, from the start of its trace's range
};

struct CollectiveRow {
  struct Entry {                // of the ranks of a band of the heat map that took part
    std::size_t band = 0;       // position among the heat map's rows
    std::int64_t start_ns = 0;  // of the first of them
    std::int64_t wait_ns = 0;   // of the one that waited longest
  };

  std::size_t number = 0;            // 1, 2, … by start, of all that were matched
  std::optional<std::int64_t> step;  // index of the step in which the first rank entered it
  std::string group, name;
  CollectiveOp op = CollectiveOp::kOther;
  std::optional<std::int64_t> seq, elements, bytes, least_bytes;  // over the ranks: most, least
  std::string dtype;
  std::int64_t group_size = 0;  // as written, else the ranks of the run, else those seen
  std::int64_t transfer_ns = 0, wait_ns = 0, longest_wait_ns = 0;
  std::optional<int> last_rank;  // absent: several entered last together
  std::optional<double> algorithm_bandwidth, bus_bandwidth;  // bytes a second
  std::int64_t start_ns = 0, end_ns = 0;  // from the origin, first start to last end
  std::size_t ranks = 0;                  // seen in it
  std::vector<Entry> entries;             // by band
};

// Collectives of one kind and size.
struct CollectiveKindRow {
  std::string group, dtype;
  CollectiveOp op = CollectiveOp::kOther;
  std::optional<std::int64_t> bytes;
  std::size_t calls = 0;
  std::int64_t transfer_ns = 0, wait_ns = 0;  // transfer: sum; wait: sum over ranks
  std::optional<double> algorithm_bandwidth, bus_bandwidth;
};

struct RunStepRow {
  std::int64_t index = 0;
  std::size_t ranks = 0;
  std::int64_t step_ns = 0, computation_ns = 0, overlap_ns = 0, exposed_ns = 0, other_ns = 0;
  std::int64_t start_spread_ns = 0;  // first rank's start to the last one's
  std::int64_t wait_ns = 0;          // over all ranks
  bool selected = true;
};

struct HeatMap {
  struct Band {  // of ranks or of columns: positions [first, last)
    std::size_t first = 0, last = 0;
    std::string label;
  };
  bool by_step = false;
  std::vector<Band> rows, columns;
  // [row][column]: mean over the band's ranks of what each waited; -1: none of them took part.
  std::vector<std::vector<std::int64_t>> wait_ns;
  std::vector<std::vector<std::uint32_t>> last;  // collectives that a rank of the band was last to
};

struct Straggler {
  // Why it is late: its step starts later; it loads data longer; it computes longer; it sends more;
  // its host launches later; not known.
  enum class Why : std::uint8_t { kStart, kLoading, kComputation, kSize, kHost, kUnknown };
  std::size_t row = 0;   // among the ranks
  std::size_t last = 0;  // collectives it came last to, of those it took part in
  std::int64_t caused_ns = 0;
  double caused_pct = 0;        // of all waiting
  std::int64_t late_ns = 0;     // behind the rank that waited longest, where it was worst
  std::size_t collective = 0;   // number of that
  std::size_t waiting_row = 0;  // who waited longest there
  Why why = Why::kUnknown;
  std::string sentence, advice;
  libtrace::TimeRange show, waiting_show;  // where it was worst, from the start of the traces
};

struct DistributedNote {
  std::string code, sentence;
};

struct Distributed {
  std::optional<std::int64_t> origin_unix_ns;  // of all start_ns, on the common clock
  std::optional<int> world_size;
  RankClocks clocks;
  std::vector<RankRow> ranks;     // by rank
  std::vector<RunStepRow> steps;  // by index; all of them
  std::size_t selected_steps = 0;
  std::int64_t mean_step_ns = 0, mean_exposed_ns = 0;  // over ranks and their selected steps
  std::optional<double> waiting_pct;                   // of the time in matched collectives
  std::int64_t wait_ns = 0, collective_ns = 0;
  std::size_t matched = 0, unmatched = 0;  // collectives in the selection
  bool by_sequence = false, by_order = false, on_host = false;
  // By start; those of longest wait when there are more. Of one rank alone: its own.
  std::vector<CollectiveRow> collectives;
  std::vector<CollectiveKindRow> kinds;  // by waiting and transfer
  HeatMap heat;
  std::vector<Straggler> stragglers;  // by caused_ns; empty when none stands out
  std::vector<DistributedNote> notes;
};

// A collective that two ranks or more were seen in, or the only rank that there is, as the parts of
// this analysis pass it on.
struct MatchedCollective {
  std::size_t id = 0;                // of RunMatch
  std::optional<std::int64_t> step;  // index
  std::int64_t transfer_ns = 0, wait_ns = 0, longest_wait_ns = 0, last_wait_ns = 0;
  std::int64_t start_ns = 0, end_ns = 0;
  // That entered last. The summary document names the lowest of several; here a tie names nobody.
  std::optional<std::uint32_t> last_row;
  // The rank that the others waited for.
  [[nodiscard]] bool waited_for(std::size_t row) const {
    return last_row == row && wait_ns > last_wait_ns;
  }
};

// `inputs`: ranks of one span of one run, in any order; a rank twice speaks once.
Distributed find_distributed(const std::vector<RankInput>& inputs,
                             const DistributedOptions& options);

}  // namespace traceglass
