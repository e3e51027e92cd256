// How busy all threads together, and all devices, are over the whole trace: the strip above the
// tracks. From folded rows, so that 10⁵ lanes or 10⁷ slices cost what 2048 slices a row do.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "tb_backend/timeline/timeline.h"

namespace traceglass {

inline constexpr std::size_t kMostColumns = 4096;
// Kinds as tiles have them: the kind, +16 for communication, +32 for data loading.
inline constexpr std::size_t kTileKinds = 64;

struct BusyLane {
  std::vector<double> share;       // busy time of a column by its width: 2 when two rows fill it
  std::vector<std::uint8_t> kind;  // what fills most of it
};

struct BusyLanes {
  std::optional<BusyLane> host, device;  // absent: the trace has none
  std::vector<std::uint8_t> kinds;       // that the trace has, ascending
};

// Of a thread what counts is its outermost calls, but within a step what is inside it, since a step
// covers all of its time whatever happens. `columns` equal parts of the range.
BusyLanes busy_lanes(const Timeline& timeline, std::size_t columns);

}  // namespace traceglass
