// The view over all ranks as the JSON of openapi.yaml (schema Distributed). No arithmetic.
#pragma once

#include <string>

#include "tb_backend/analysis/distributed.h"
#include "tb_backend/api/rank_parts.h"
#include "tb_backend/api/view_json.h"

namespace traceglass {

// `parts`: of the inputs, in their order. The caller adds `run`, `span` and `failed`.
Json distributed_json(const Distributed& d, const std::vector<RankParts::Part>& parts);

}  // namespace traceglass
