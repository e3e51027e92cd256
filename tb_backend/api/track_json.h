// Groups of a timeline as the page wants them.
#pragma once

#include <cstdint>
#include <span>

#include "tb_backend/api/json.h"
#include "tb_backend/timeline/timeline.h"

namespace traceglass {

Json groups_json(const Timeline& timeline, std::span<const std::uint32_t> ids);

}  // namespace traceglass
