// Snapshot of a window → Trace: times to Unix ns, lanes merged into one order, names and
// arguments as torch writes them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "libtrace/record/window.h"
#include "libtrace/trace.h"

namespace libtrace::detail {

using Metadata = std::vector<std::pair<std::string, std::string>>;  // key, JSON text

struct TraceInfo {
  Metadata metadata;
  int rank = -1, world_size = -1;  // -1: unknown
};

TracePtr build_trace(const Snapshot& snapshot, const TraceInfo& info);

}  // namespace libtrace::detail
