// The dependency graph of the trace that was asked about last. To make it is most of what verdicts,
// idle time and critical path cost (250 ms a million slices), and a page asks for all of them at
// once. One graph only: it is about as large as its trace.
#pragma once

#include <memory>

#include "tb_backend/analysis/step_graph.h"

namespace traceglass {

// Who asks meanwhile waits for the same one. It refers to `trace`: hold that as long.
std::shared_ptr<const StepGraph> graph_of(const libtrace::TracePtr& trace);

}  // namespace traceglass
