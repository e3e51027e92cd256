#include "tb_backend/api/track_json.h"

namespace traceglass {

Json groups_json(const Timeline& timeline, std::span<const std::uint32_t> ids) {
  Json out = Json::array();
  for (const std::uint32_t id : ids) {
    const Group& group = timeline.groups()[id];
    out.push_back({{"id", group.id},
                   {"section", group.section},
                   {"section_label", group.section_label},
                   {"type", group_type_name(group.type)},
                   {"label", group.label},
                   {"sublabel", group.sublabel},
                   {"rows", group.rows.size()},
                   {"step_rows", group.step_rows},
                   {"events", group.events}});
  }
  return out;
}

}  // namespace traceglass
