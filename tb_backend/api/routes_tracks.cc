// Which tracks there are beyond those that come with the meta, and how busy all of them are.
#include <algorithm>
#include <cmath>

#include "tb_backend/api/json.h"
#include "tb_backend/api/router.h"
#include "tb_backend/api/track_json.h"
#include "tb_backend/timeline/busy_lanes.h"
#include "tb_backend/timeline/track_list.h"

namespace traceglass {
namespace {

constexpr double kFull = 255;

Reply groups(const LoadedTrace& trace, const Call& call, const PathArgs&) {
  const Timeline& timeline = *trace.timeline;
  if (call.query.find("ids") != nullptr) {
    const auto ids = call.query.ids("ids", timeline.groups().size());
    if (ids.size() > kMostGroups) {
      throw BadRequest{"ids", "That is more than " + std::to_string(kMostGroups) +
                                  " groups. Ask for fewer at a time."};
    }
    return json_reply({{"total", ids.size()}, {"groups", groups_json(timeline, ids)}});
  }
  const std::string* text = call.query.find("q");
  const auto from = static_cast<std::size_t>(call.query.integer("from", 0, INT64_MAX, 0));
  const auto most = static_cast<std::size_t>(
      call.query.integer("n", 1, static_cast<std::int64_t>(kMostGroups), kFirstGroups));
  const TrackPage page =
      find_tracks(timeline, text == nullptr ? std::string_view() : *text, from, most);
  return json_reply({{"total", page.total}, {"groups", groups_json(timeline, page.groups)}});
}

Json lane_json(const std::optional<BusyLane>& lane) {
  if (!lane) return nullptr;
  Json share = Json::array();
  for (const double s : lane->share) share.push_back(std::lround(std::min(1.0, s) * kFull));
  return {{"share", std::move(share)}, {"kind", lane->kind}};
}

Reply busy(const LoadedTrace& trace, const Call& call, const PathArgs&) {
  const auto columns = static_cast<std::size_t>(
      call.query.integer("n", 1, static_cast<std::int64_t>(kMostColumns), 1024));
  const BusyLanes lanes = busy_lanes(*trace.timeline, columns);
  return json_reply({{"host", lane_json(lanes.host)},
                     {"device", lane_json(lanes.device)},
                     {"kinds", lanes.kinds}});
}

}  // namespace

std::vector<TraceRoute> track_routes() {
  return {{"traces/{id}/groups", groups}, {"traces/{id}/busy", busy}};
}

}  // namespace traceglass
