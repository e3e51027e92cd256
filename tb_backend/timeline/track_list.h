// Which of a trace's groups a page is told of, and in what order: a trace may have 10⁵ threads, of
// which a person wants the busiest first, and any other by its name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "tb_backend/timeline/timeline.h"

namespace traceglass {

// Groups that come with the trace's meta: all of an ordinary trace (6 kB gzipped), but of a trace
// with more only so many that its devices are not far below its threads.
inline constexpr std::size_t kFirstGroups = 512;
inline constexpr std::size_t kFirstOfMany = 64;
inline constexpr std::size_t kMostGroups = 4096;

struct TrackPage {
  std::vector<std::uint32_t> groups;  // ascending, as the page shows them
  std::size_t total = 0;              // that match
};

// Those to begin with.
TrackPage first_tracks(const Timeline& timeline);

// Groups `from` to below `from + most` of those whose section, label or second line contains `text`
// ("" is in all; ASCII letters of either case alike), the busiest first: devices' and others'
// alternate, so that neither hides the other. O(n log n) in the groups.
TrackPage find_tracks(const Timeline& timeline, std::string_view text, std::size_t from,
                      std::size_t most);

}  // namespace traceglass
