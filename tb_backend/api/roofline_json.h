// The roofline view as the JSON of openapi.yaml.
#pragma once

#include "tb_backend/analysis/roofline.h"
#include "tb_backend/api/view_json.h"

namespace traceglass {

Json roofline_json(const Roofline& roofline, const Selection& selection);

}  // namespace traceglass
