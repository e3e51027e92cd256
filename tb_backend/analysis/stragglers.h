// Ranks that the others wait for, and why they are late.
#pragma once

#include <vector>

#include "tb_backend/analysis/distributed.h"

namespace traceglass {

// Those that cause a notable share of all waiting, most first; none where lateness goes around.
std::vector<Straggler> find_stragglers(const RunMatch& match,
                                       const std::vector<MatchedCollective>& collectives,
                                       const Distributed& d);

}  // namespace traceglass
