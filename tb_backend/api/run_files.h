// The files of one run, and what is said while its ranks are read.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tb_backend/api/call.h"
#include "tb_backend/api/rank_parts.h"

namespace traceglass {

// Of a run, or of one span index of it; empty when there is none.
std::vector<TraceFile> files_of(const Snapshot& snapshot, const std::string& run,
                                std::optional<int> index);
// By openapi's Status: of the ranks together.
Reply waiting_reply(const std::vector<TraceFile>& files, const RankParts::Answer& answer);

}  // namespace traceglass
