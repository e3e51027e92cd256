// Collectives matched over the ranks of a run: who waited, who came last.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "libtrace/trace.h"

namespace traceglass {

// One device kernel of a collective on one rank.
struct CollectiveKernel {
  std::string group, name;
  std::optional<std::int64_t> seq;
  int from = -1, to = -1;                 // ranks of a send and its receive, as of MatchKey
  std::int64_t start_ns = 0, dur_ns = 0;  // start: Unix ns where the base is known
};
// By start.
std::vector<CollectiveKernel> collective_kernels(const libtrace::Trace& trace);

struct RankKernels {
  int rank = 0;
  std::vector<CollectiveKernel> kernels;
};

struct Collective {
  std::string group, name;
  std::optional<std::int64_t> seq;
  std::int64_t transfer_ns = 0;  // shortest duration over the ranks
  int last_rank = 0;             // that started last; the lowest of several
  struct Wait {
    int rank = 0;
    std::int64_t wait_ns = 0;
  };
  std::vector<Wait> ranks;  // by rank
};

// Those seen on two ranks or more, in order of their first start. One entry a rank in `ranks`.
std::vector<Collective> match_collectives(std::vector<RankKernels> ranks);

}  // namespace traceglass
