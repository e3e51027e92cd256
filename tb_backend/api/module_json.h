// The modules view as the JSON of openapi.yaml. Rows lie flat, parents by id: no depth of a model
// nests the document.
#pragma once

#include <optional>

#include "tb_backend/analysis/modules.h"
#include "tb_backend/api/view_json.h"

namespace traceglass {

Json modules_json(const Modules& modules, const Selection& selection);
Json module_json(const ModuleDetail& detail);

}  // namespace traceglass
