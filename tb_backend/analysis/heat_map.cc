#include "tb_backend/analysis/heat_map.h"

#include <algorithm>
#include <set>
#include <string>

#include "libtrace/model/sums.h"

namespace traceglass {

namespace {

using Bands = std::vector<HeatMap::Band>;

// At most `most` bands of equal size over `count` positions.
Bands banded(std::size_t count, std::size_t most) {
  Bands bands;
  const std::size_t size = (count + most - 1) / std::max<std::size_t>(1, most);
  for (std::size_t first = 0; first < count; first += size) {
    bands.push_back({first, std::min(count, first + size), ""});
  }
  return bands;
}

// "3", or "0–15".
template <typename First>
std::string span_text(const HeatMap::Band& band, First&& text) {
  const std::string first = text(band.first);
  return band.last - band.first == 1 ? first : first + "–" + text(band.last - 1);
}

}  // namespace

HeatMap make_heat_map(const RunMatch& match, const std::vector<MatchedCollective>& collectives,
                      const std::vector<RankRow>& ranks, const DistributedOptions& options) {
  HeatMap map;
  std::set<std::int64_t> distinct;
  for (const MatchedCollective& c : collectives) {
    if (c.step) distinct.insert(*c.step);
  }
  const std::vector<std::int64_t> steps(distinct.begin(), distinct.end());
  using Columns = DistributedOptions::Columns;
  map.by_step =
      options.columns == Columns::kStep || (options.columns == Columns::kAuto && steps.size() > 1 &&
                                            collectives.size() > options.heat_columns);
  if (map.by_step && steps.empty()) map.by_step = false;
  const std::size_t positions = map.by_step ? steps.size() : collectives.size();
  if (positions == 0 || ranks.empty()) return map;
  map.columns = banded(positions, options.heat_columns);
  map.rows = banded(ranks.size(), options.heat_rows);
  for (HeatMap::Band& b : map.columns) {
    b.label = span_text(b, [&](std::size_t i) {
      return std::to_string(map.by_step ? steps[i] : static_cast<std::int64_t>(i) + 1);
    });
  }
  for (HeatMap::Band& b : map.rows) {
    b.label = span_text(b, [&](std::size_t i) { return std::to_string(ranks[i].rank); });
  }

  const std::size_t width = map.columns.size();
  const std::size_t column_size = map.columns.front().last - map.columns.front().first;
  const std::size_t row_size = map.rows.front().last - map.rows.front().first;
  std::vector<std::int64_t> wait(ranks.size() * width, -1);
  map.last.assign(map.rows.size(), std::vector<std::uint32_t>(width, 0));
  for (std::size_t i = 0; i < collectives.size(); ++i) {
    const MatchedCollective& c = collectives[i];
    if (map.by_step && !c.step) continue;
    const std::size_t position =
        map.by_step ? static_cast<std::size_t>(
                          std::lower_bound(steps.begin(), steps.end(), *c.step) - steps.begin())
                    : i;
    const std::size_t column = position / column_size;
    for (const SeenCollective* s = match.begin(c.id); s != match.end(c.id); ++s) {
      std::int64_t& cell = wait[s->row * width + column];
      cell = libtrace::plus(std::max<std::int64_t>(cell, 0),
                            libtrace::minus(match.of(*s).dur_ns, c.transfer_ns));
    }
    if (c.last_row && c.waited_for(*c.last_row)) ++map.last[*c.last_row / row_size][column];
  }
  for (const HeatMap::Band& band : map.rows) {
    std::vector<std::int64_t> cells(width, -1);
    for (std::size_t column = 0; column < width; ++column) {
      std::int64_t sum = 0, n = 0;
      for (std::size_t row = band.first; row < band.last; ++row) {
        const std::int64_t ns = wait[row * width + column];
        if (ns < 0) continue;
        libtrace::add(sum, ns);
        ++n;
      }
      if (n > 0) cells[column] = sum / n;
    }
    map.wait_ns.push_back(std::move(cells));
  }
  return map;
}

}  // namespace traceglass
