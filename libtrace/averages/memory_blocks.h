// Allocations paired with their frees, and what a trace tells about each.
#pragma once

#include <cstdint>
#include <vector>

#include "libtrace/averages/memory_timeline.h"

namespace libtrace {

struct MemoryBlock {
  std::int64_t bytes = 0;
  // Indices of Trace::memory(); kNone: allocated before the trace, not freed in it.
  std::uint32_t allocated = kNone, freed = kNone;
  MemoryCategory category = MemoryCategory::kUnknown;
};

// Fills the categories of `blocks`.
void find_categories(const Trace& trace, std::vector<MemoryBlock>& blocks);

}  // namespace libtrace
