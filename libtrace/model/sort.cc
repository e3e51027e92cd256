#include <algorithm>
#include <numeric>

#include "libtrace/model/passes.h"

namespace libtrace {
namespace {

// Merges the sorted runs that a file consists of (operators, then Python frames, then kernels, …):
// n log(runs) instead of n log(n), and stable, so that file order breaks ties.
template <typename Less>
void merge_runs(std::vector<std::uint32_t>::iterator begin,
                std::vector<std::uint32_t>::iterator end, Less less) {
  std::vector<std::vector<std::uint32_t>::iterator> bounds{begin};
  while (bounds.back() != end) bounds.push_back(std::is_sorted_until(bounds.back(), end, less));
  while (bounds.size() > 2) {
    std::vector<std::vector<std::uint32_t>::iterator> merged{begin};
    for (std::size_t i = 0; i + 1 < bounds.size(); i += 2) {
      const std::size_t last = std::min(i + 2, bounds.size() - 1);
      if (i + 2 == last) std::inplace_merge(bounds[i], bounds[i + 1], bounds[last], less);
      merged.push_back(bounds[last]);
    }
    bounds = std::move(merged);
  }
}

template <typename T>
void permute(Column<T>& column, const std::vector<std::uint32_t>& from) {
  Column<T> out;
  out.reserve(from.size());
  for (const std::uint32_t i : from) out.push_back(column[i]);
  column = std::move(out);
}

}  // namespace

void sort_slices(Draft& draft) {
  TraceData& d = draft.data;
  const std::size_t n = d.start.size();
  for (Lane& lane : d.lanes) lane.first = lane.last = 0;
  for (const LaneId lane : d.lane) ++d.lanes[lane].last;
  EventId next = 0;
  for (Lane& lane : d.lanes) {
    lane.first = next;
    next += lane.last;
    lane.last = lane.first;
  }
  std::vector<std::uint32_t> from(n);
  for (std::uint32_t i = 0; i < n; ++i) from[d.lanes[d.lane[i]].last++] = i;
  const auto before = [&](std::uint32_t a, std::uint32_t b) {
    if (d.start[a] != d.start[b]) return d.start[a] < d.start[b];
    if (d.dur[a] != d.dur[b]) return d.dur[a] > d.dur[b];
    return d.order[a] < d.order[b];  // a range that ends late may have begun first
  };
  for (const Lane& lane : d.lanes) {
    merge_runs(from.begin() + lane.first, from.begin() + lane.last, before);
  }
  permute(d.start, from);
  permute(d.dur, from);
  permute(d.name, from);
  permute(d.lane, from);
  permute(d.args, from);
  permute(d.category, from);
  permute(d.flags, from);
  permute(d.kind, from);
  permute(d.order, from);
  permute(draft.correlation, from);
}

}  // namespace libtrace
