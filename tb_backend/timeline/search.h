// Slices by their names, in the order of time.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "libtrace/trace.h"
#include "tb_backend/timeline/name_pattern.h"

namespace traceglass {

struct SearchHits {
  std::int64_t total = 0;
  std::int64_t position = 0;  // of the hit, from 1; 0 without one
  libtrace::EventId hit = libtrace::kNone;
  std::vector<std::int64_t> bins;         // hits that start in each 1000th of the range
  std::vector<libtrace::StringId> names;  // that match, ascending
};

inline constexpr int kSearchBins = 1000;

// The hit next after (before) `from` in the order (start, id); absent: the first (last) one.
// Names are looked at once each, then the slices in two passes: 10 M take some 50 ms.
SearchHits search(const libtrace::Trace& trace, const NamePattern& pattern,
                  std::optional<libtrace::EventId> from, bool forward);

// The next (previous) slice of the same name, in the same order; kNone at the ends.
libtrace::EventId same_name(const libtrace::Trace& trace, libtrace::EventId from, bool forward);

}  // namespace traceglass
