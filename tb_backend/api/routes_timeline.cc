// Tiles, counters, areas: what the timeline draws and sums up.
#include "tb_backend/api/json.h"
#include "tb_backend/api/problem.h"
#include "tb_backend/api/router.h"
#include "tb_backend/timeline/area.h"
#include "tb_backend/timeline/tile_encoder.h"

namespace traceglass {
namespace {

using json = Json;

constexpr std::int64_t kMostTiles = 4096;                    // of one request
constexpr std::size_t kMostBytes = std::size_t{256} << 20U;  // of one answer

json tile_json(const TileHeader& header, const std::vector<TileSlice>& tile) {
  json out = {{"k", header.k}, {"i", header.i}, {"group", header.group}, {"rows", header.rows}};
  const auto column = [&](const char* name, auto get) {
    json values = json::array();
    for (const TileSlice& s : tile) values.push_back(get(s));
    out[name] = std::move(values);
  };
  column("start", [](const TileSlice& s) { return s.start; });
  column("end", [](const TileSlice& s) { return s.end; });
  column("id", [](const TileSlice& s) { return s.id; });
  column("name", [](const TileSlice& s) { return s.name; });
  column("count", [](const TileSlice& s) { return s.count; });
  column("row", [](const TileSlice& s) { return s.row; });
  column("kind", [](const TileSlice& s) { return s.kind; });
  column("busy", [](const TileSlice& s) { return s.busy; });
  column("flags", [](const TileSlice& s) { return s.flags; });
  return out;
}

Reply too_many(const std::string& what) {
  return problem_reply({422, "bad_parameter", what + " Ask for fewer at a time.", "", {}});
}

Reply tiles(const LoadedTrace& trace, const Call& call, const PathArgs&) {
  const Timeline& timeline = *trace.timeline;
  const auto k = static_cast<int>(call.query.integer("k", 0, kMaxZoom));
  const auto [first, last] = call.query.range("i");
  const auto groups = call.query.ids("g", timeline.groups().size());
  const bool as_json = call.query.choice("format", {"binary", "json"}) == "json";
  if (call.query.required("gen") != trace.generation) {
    return problem_reply({409,
                          "generation",
                          "The trace has changed since the page loaded it: read its meta anew.",
                          trace.file.file,
                          {}});
  }
  const std::uint64_t count = static_cast<std::uint64_t>(last) - static_cast<std::uint64_t>(first);
  if (count >= static_cast<std::uint64_t>(kMostTiles) / groups.size()) {
    return too_many("That is more than " + std::to_string(kMostTiles) + " tiles.");
  }
  std::string bytes;
  json all = json::array();
  std::size_t slices = 0;
  for (const std::uint32_t g : groups) {
    const auto rows = static_cast<std::uint32_t>(timeline.groups()[g].rows.size());
    for (std::uint64_t n = 0; n <= count; ++n) {  // `last` may be the largest number there is
      const std::int64_t i = first + static_cast<std::int64_t>(n);
      const TileHeader header{k, i, g, rows};
      const auto tile = timeline.tile(g, k, i);
      slices += tile.size();
      if (as_json) {
        all.push_back(tile_json(header, tile));
      } else {
        encode_tile(header, tile, bytes);
      }
      if (slices * (as_json ? 100 : 27) > kMostBytes) return too_many("These tiles are too large.");
    }
  }
  if (as_json) return json_reply(all);
  return Reply::text(200, "application/octet-stream", std::move(bytes));
}

Reply counters(const LoadedTrace& trace, const Call& call, const PathArgs&) {
  const std::int64_t t0 = call.query.time("t0");
  const std::int64_t t1 = call.query.time("t1");
  const auto n = static_cast<int>(call.query.integer("n", 1, 4096, 1024));
  json tracks = json::array();
  for (const CounterTrack& track : trace.timeline->counters()) {
    const CounterBuckets buckets = fold_counter(track, t0, t1, n);
    tracks.push_back({{"id", track.id},
                      {"section", track.section},
                      {"label", track.label},
                      {"unit", track.unit},
                      {"at_ns", buckets.at},
                      {"min", buckets.min},
                      {"max", buckets.max},
                      {"last", buckets.last}});
  }
  return json_reply({{"tracks", tracks}});
}

Reply area(const LoadedTrace& trace, const Call& call, const PathArgs&) {
  const std::int64_t t0 = call.query.time("t0");
  const std::int64_t t1 = call.query.time("t1");
  const auto groups = call.query.ids("g", trace.timeline->groups().size());
  const std::string by = call.query.choice("by", {"name", "kind", "track"});
  const Area area = aggregate(*trace.timeline, t0, t1, groups,
                              by == "name"   ? AreaBy::kName
                              : by == "kind" ? AreaBy::kKind
                                             : AreaBy::kTrack);
  json rows = json::array();
  for (const AreaRow& row : area.rows) {
    json out = {{"key", row.key},        {"count", row.count},
                {"total_ns", row.total}, {"mean_ns", row.total / row.count},
                {"max_ns", row.longest}, {"event", row.event}};
    if (!row.kind.empty()) out["kind"] = row.kind;
    if (!row.track.empty()) out["track"] = row.track;
    rows.push_back(std::move(out));
  }
  return json_reply({{"slices", area.slices}, {"rows", rows}});
}

}  // namespace

std::vector<TraceRoute> timeline_routes() {
  return {{"traces/{id}/tiles", tiles, "application/octet-stream", kImmutable},
          {"traces/{id}/counters", counters},
          {"traces/{id}/area", area}};
}

}  // namespace traceglass
