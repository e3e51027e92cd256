// Waiting as ranks × collectives or ranks × steps, in bands where there are many.
#pragma once

#include <vector>

#include "tb_backend/analysis/distributed.h"

namespace traceglass {

HeatMap make_heat_map(const RunMatch& match, const std::vector<MatchedCollective>& collectives,
                      const std::vector<RankRow>& ranks, const DistributedOptions& options);

}  // namespace traceglass
