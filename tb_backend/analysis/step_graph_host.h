// Host threads cut into tiles: what each thread did at every instant between its first and last
// event, by the innermost slice that was active.
#pragma once

#include <cstdint>
#include <vector>

#include "libtrace/trace.h"

namespace traceglass {

enum class Activity : std::uint8_t {
  // host
  kDataLoading,
  kSync,
  kMemoryCall,
  kRuntime,
  kOp,
  kAnnotation,
  kPython,  // Python frames, and time in which nothing was recorded
  kHostCommunication,
  // device
  kKernel,
  kMemcpy,
  kMemset,
  kCommunication,
};
constexpr bool is_device(Activity a) { return a >= Activity::kKernel; }

struct HostTile {
  std::int64_t start = 0, end = 0;
  libtrace::EventId event = libtrace::kNone;    // innermost active slice; kNone: none, or the step
  libtrace::EventId context = libtrace::kNone;  // DataLoader range, or outermost operator
  Activity activity = Activity::kPython;
  bool idle = false;   // no slice at all is active
  bool reads = false;  // within aten::item and the like
};

struct HostLane {
  libtrace::LaneId lane = 0;
  std::vector<HostTile> tiles;  // without holes, by time
  std::int64_t launches = 0, events = 0;
  bool has_steps = false;
};

struct HostTiles {
  std::vector<HostLane> lanes;
  // Per slice of kind runtime: the tile in which it starts, within its lane.
  std::vector<std::uint32_t> tile_at;
};

HostTiles find_host_tiles(const libtrace::Trace& trace);

}  // namespace traceglass
