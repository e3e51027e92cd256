// Verdicts, idle time and critical path as the JSON of openapi.yaml.
#pragma once

#include <vector>

#include "tb_backend/analysis/critical_path.h"
#include "tb_backend/analysis/idle.h"
#include "tb_backend/analysis/verdicts.h"
#include "tb_backend/api/view_json.h"
#include "tb_backend/timeline/timeline.h"

namespace traceglass {

// Schema Verdict each; `trace` gives their trust.
Json verdicts_json(const libtrace::Trace& trace, const std::vector<Verdict>& verdicts);
Json idle_json(const StepGraph& graph, const Selection& selection);
// `step`: position among all steps, SIZE_MAX: the chosen one of median length.
Json critical_path_json(const StepGraph& graph, const Timeline& timeline,
                        const Selection& selection, std::size_t step);

}  // namespace traceglass
