// What was recorded in a window → Trace: the host's rows and the device's in one order, and what
// the trace says of itself.
#pragma once

#include <cstdint>
#include <memory>

#include "libtrace/record/device_source.h"
#include "libtrace/record/metadata.h"
#include "libtrace/record/window.h"
#include "libtrace/trace.h"

namespace libtrace::detail {

// One finished cycle.
struct Cycle {
  Snapshot host;
  std::unique_ptr<DeviceRecording> device;  // nullptr: none was asked for
  Metadata metadata;                        // top-level keys; the device's replace those of theirs
  int rank = -1, world_size = -1;           // -1: unknown
  // Traces that were dropped between the one before and this, and rows of those of them that there
  // was no memory to make.
  std::uint64_t dropped_traces = 0, dropped_events = 0;
};

// Records in a cycle, without what it dropped itself.
std::uint64_t records_in(const Cycle& cycle) noexcept;

struct Built {
  TracePtr trace;
  std::uint64_t ranges = 0;   // of the host
  std::uint64_t dropped = 0;  // records, for lack of memory
};
Built build_trace(const Cycle& cycle);

}  // namespace libtrace::detail
