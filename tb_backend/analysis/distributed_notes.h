// What a person must know of the ranks before believing a figure over them: who is missing, who is
// there twice, whose clock was corrected, how collectives were matched.
#pragma once

#include <vector>

#include "tb_backend/analysis/distributed.h"

namespace traceglass {

std::vector<DistributedNote> find_notes(const std::vector<RankInput>& inputs, const RunMatch& match,
                                        const Distributed& d);

// "3", "0–2, 7", "1, 3, 5 and 61 more".
std::string list_text(const std::vector<int>& numbers);

}  // namespace traceglass
