#include "tb_backend/analysis/step_graph_handover.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>

#include "tb_backend/analysis/thresholds.h"

namespace traceglass {
namespace {

// How long a lane was not idle before the start of each tile.
class Busy {
 public:
  explicit Busy(const std::vector<HostTile>& tiles) : tiles_(tiles), before_(tiles.size() + 1) {
    for (std::size_t i = 0; i < tiles.size(); ++i) {
      before_[i + 1] = before_[i] + (tiles[i].idle ? 0 : tiles[i].end - tiles[i].start);
    }
  }
  // First tile that ends after `t`.
  [[nodiscard]] std::size_t at(std::int64_t t) const {
    const auto it = std::upper_bound(tiles_.begin(), tiles_.end(), t,
                                     [](std::int64_t x, const HostTile& h) { return x < h.end; });
    return static_cast<std::size_t>(it - tiles_.begin());
  }
  [[nodiscard]] std::int64_t between(std::size_t first, std::size_t last) const {
    return before_[last] - before_[first];
  }

 private:
  const std::vector<HostTile>& tiles_;
  std::vector<std::int64_t> before_;
};

std::vector<std::size_t> main_lanes(const libtrace::Trace& trace, const HostTiles& tiles) {
  std::map<std::string_view, std::size_t> best;
  const auto rank = [&](const HostLane& l) {
    const libtrace::Lane& lane = trace.lanes()[l.lane];
    return std::tuple(l.has_steps, lane.pid == lane.tid && l.launches > 0, l.events);
  };
  for (std::size_t i = 0; i < tiles.lanes.size(); ++i) {
    const auto [it, fresh] = best.try_emplace(trace.lanes()[tiles.lanes[i].lane].pid, i);
    if (!fresh && rank(tiles.lanes[it->second]) < rank(tiles.lanes[i])) it->second = i;
  }
  std::vector<std::size_t> main;
  for (const HostLane& l : tiles.lanes) main.push_back(best.at(trace.lanes()[l.lane].pid));
  return main;
}

bool may_wait(const HostTile& t) {
  return t.end - t.start >= kHandOverNs && !t.reads &&
         (t.activity == Activity::kPython || t.activity == Activity::kAnnotation ||
          t.activity == Activity::kOp);
}

// The tile of `worker` that ended last within `tile`, if the worker did its part there: it began
// and stopped within, close to both ends, and was busy for much of the time. tiles.size(): none.
std::size_t worked_within(const HostTile& tile, const std::vector<HostTile>& worker,
                          const Busy& busy) {
  const std::size_t none = worker.size();
  const std::int64_t length = tile.end - tile.start;
  std::size_t first = busy.at(tile.start);
  if (first < none && worker[first].idle) ++first;
  if (first >= none || worker[first].start < tile.start || worker[first].start >= tile.end) {
    return none;
  }
  std::size_t last = busy.at(tile.end);
  // The worker must be idle at the end of the wait, or just about to.
  if (last < none && !worker[last].idle && worker[last].start < tile.end) return none;
  if (last == 0) return none;
  --last;
  if (worker[last].idle && last > 0) --last;
  if (last < first || worker[last].end > tile.end) return none;
  if (tile.end - worker[last].end > length / kHandOverSlack) return none;
  if (worker[first].start - tile.start > length / kHandOverSlack) return none;
  if (busy.between(first, last + 1) < length / kHandOverSlack) return none;
  return last;
}

// Where work of these threads begins behind a pause, or where a piece of it ends another: start
// and lane, by start.
using Begin = std::pair<std::int64_t, std::size_t>;
std::vector<Begin> begins_of(const HostTiles& tiles, const std::vector<std::size_t>& lanes) {
  std::vector<Begin> out;
  for (const std::size_t l : lanes) {
    for (const HostTile& t : tiles.lanes[l].tiles) {
      if (!t.idle) out.emplace_back(t.start, l);
    }
  }
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace

HandOvers find_hand_overs(const libtrace::Trace& trace, const HostTiles& tiles) {
  HandOvers out;
  const std::size_t n = tiles.lanes.size();
  const std::vector<std::size_t> main = main_lanes(trace, tiles);
  out.main.assign(n, false);
  for (const std::size_t m : main) out.main[m] = true;
  out.main_lane = main;
  std::vector<Busy> busy;
  std::vector<std::vector<std::size_t>> workers(n);  // by main lane
  for (std::size_t i = 0; i < n; ++i) {
    busy.emplace_back(tiles.lanes[i].tiles);
    if (main[i] != i) workers[main[i]].push_back(i);
  }
  std::vector<std::vector<HandOvers::Wait>> waits(n);  // by main lane, by time
  for (std::size_t m = 0; m < n; ++m) {
    const std::vector<HostTile>& mine = tiles.lanes[m].tiles;
    // Work that begins in the first third of a wait: the waits of a thread do not overlap, so that
    // all of them together look at each piece once, however many threads there are.
    const std::vector<Begin> begins = begins_of(tiles, workers[m]);
    for (std::size_t t = 0; t < mine.size() && !begins.empty(); ++t) {
      if (!may_wait(mine[t])) continue;
      HandOvers::Wait best{m, t, n, 0};
      std::int64_t best_end = INT64_MIN;
      const std::int64_t until = mine[t].start + (mine[t].end - mine[t].start) / kHandOverSlack;
      for (auto b = std::lower_bound(begins.begin(), begins.end(), Begin(mine[t].start, 0));
           b != begins.end() && b->first <= until; ++b) {
        const std::size_t w = b->second;
        const std::size_t last = worked_within(mine[t], tiles.lanes[w].tiles, busy[w]);
        if (last == tiles.lanes[w].tiles.size()) continue;
        const std::int64_t end = tiles.lanes[w].tiles[last].end;
        if (end < best_end || (end == best_end && w >= best.from_lane)) continue;
        best.from_lane = w;
        best.from_tile = last;
        best_end = end;
      }
      if (best.from_lane < n) waits[m].push_back(best);
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t m = main[i];
    if (m == i) continue;
    const std::vector<HostTile>& mine = tiles.lanes[i].tiles;
    for (std::size_t t = 0; t < mine.size(); ++t) {
      if (!mine[t].idle || mine[t].end - mine[t].start < kReleaseNs) continue;
      // While the main thread stands and waits, a pause of its worker is the worker's own.
      const auto tile_of = [&](const HandOvers::Wait& w) { return tiles.lanes[m].tiles[w.tile]; };
      const auto wait = std::partition_point(
          waits[m].begin(), waits[m].end(),
          [&](const HandOvers::Wait& w) { return tile_of(w).end < mine[t].end; });
      if (wait != waits[m].end() && tile_of(*wait).start <= mine[t].start) continue;
      out.releases.push_back({i, t, m});
    }
  }
  for (const auto& list : waits) out.waits.insert(out.waits.end(), list.begin(), list.end());
  return out;
}

}  // namespace traceglass
