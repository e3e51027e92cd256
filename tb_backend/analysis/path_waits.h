// Collectives on the critical path of one rank: for which other rank it waited there, and what that
// one did longer. Both ranks left an earlier collective together; what their ways from there to
// this one are made of tells the late one's cause, to the nanosecond by which it is late.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tb_backend/analysis/critical_path.h"
#include "tb_backend/analysis/run_match.h"

namespace traceglass {

// What the chain that ends with the start of a collective is made of, by path category.
struct PathParts {
  std::array<std::int64_t, kPathCategoryCount> ns{};
  std::array<std::string, kPathCategoryCount> longest;  // name with most of it, "" none
};

// From `from` to the start of `event`, in the rank's own times.
struct PathWindow {
  libtrace::EventId event = libtrace::kNone;
  std::int64_t from = 0;
  auto operator<=>(const PathWindow&) const = default;
};
// O(length of the chain in the window).
PathParts path_parts(const StepGraph& graph, const PathWindow& window);

struct PathWait {
  libtrace::EventId event = libtrace::kNone;  // of the path's own rank
  std::size_t ranks = 0;                      // seen in it
  std::int64_t wait_ns = 0;                   // of the own rank in it
  // The rank that entered last, after this one. Absent: this rank is last, or several are.
  std::optional<std::size_t> late_row;
  std::int64_t late_ns = 0;  // behind the own rank, on the clock of all
  PathWindow own, late;
  // Of late_ns, what it was behind already where the windows begin. That is the collective before
  // it that both took part in, else their step.
  std::int64_t behind_ns = 0;
  bool since_collective = false;
  libtrace::TimeRange show;  // the late one's window and its collective, from its range's start
};
struct PathWaits {
  std::size_t ranks = 0;        // of the run
  std::size_t collectives = 0;  // on the path, that two ranks or more took part in
  // Those that it waits in for another rank, by time; of more than `most` those of longest wait.
  std::vector<PathWait> waits;
  std::string sentence = "No step is there whose path could be walked.";
};
// Waits shorter than `least_ns` are left out; several ranks that tie for last are not named.
PathWaits find_path_waits(const RunMatch& match, std::size_t row,
                          const std::vector<libtrace::EventId>& path, std::int64_t least_ns,
                          std::size_t most);

// Slices of the path that may be collectives: those of communication, with what they are within.
std::vector<libtrace::EventId> collectives_of_path(const libtrace::Trace& trace,
                                                   const std::vector<PathSegment>& path);

struct PathWaitCause {
  struct Part {
    int category = 0;
    std::int64_t own_ns = 0, late_ns = 0;  // of the two windows
  };
  std::vector<Part> longer;  // that the late rank spent more on, largest difference first
  std::string sentence;      // who, how late and why
};
// `own`, `late`: absent where the trace could not be read again.
PathWaitCause cause_of_wait(const PathWait& wait, int own_rank, int late_rank,
                            const std::optional<PathParts>& own,
                            const std::optional<PathParts>& late);

}  // namespace traceglass
