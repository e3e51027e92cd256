// The clocks of the ranks, tied by their collectives: whatever the hosts' clocks say, the ranks of
// a collective leave it together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace traceglass {

// One rank's end of one collective.
struct ClockSample {
  std::uint32_t rank = 0;        // position
  std::uint32_t collective = 0;  // any number below `collectives`
  std::int64_t end_ns = 0;
};

struct RankClocks {
  // How far each rank's clock is ahead of the first rank's that it is tied to; 0 where it is tied
  // to none.
  std::vector<std::int64_t> ahead_ns;
  std::vector<bool> tied;  // shares a collective, over any number of ranks, with the first tied one
  // How far apart the ends of a collective still are: 95 of 100 collectives are closer.
  std::int64_t residual_ns = 0;
  std::size_t samples = 0;  // collectives of two ranks or more
};

// O(samples · log): each collective is looked at once, when its first rank is known. A rank's
// offset is the median over the collectives that it shares with ranks known before.
RankClocks tie_clocks(std::size_t ranks, std::size_t collectives,
                      const std::vector<ClockSample>& samples);

}  // namespace traceglass
