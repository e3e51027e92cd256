// Slices whose name contains a text (ASCII letters of either case alike), in the order of time.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "libtrace/trace.h"

namespace traceglass {

struct SearchHits {
  std::int64_t total = 0;
  std::int64_t position = 0;  // of the hit, from 1; 0 without one
  libtrace::EventId hit = libtrace::kNone;
  std::vector<std::int64_t> bins;  // hits that start in each 1000th of the range
};

inline constexpr int kSearchBins = 1000;

// The hit next after (before) `from` in the order (start, id); absent: the first (last) one.
// Names are looked at once each, then one pass over the slices: 10 M take some 50 ms.
SearchHits search(const libtrace::Trace& trace, std::string_view text,
                  std::optional<libtrace::EventId> from, bool forward);

}  // namespace traceglass
