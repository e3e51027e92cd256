// Trace → Chrome JSON as PyTorch's profiler writes it, for every reader of such files: TensorBoard,
// HTA, Perfetto, chrome://tracing and ourselves (`ingest(write(trace)) == trace`). Any Trace,
// recorded or loaded.
#pragma once

#include "handler/byte_sink.h"
#include "libtrace/trace.h"

namespace libtrace {

// Streams; holds about 1 MiB. Finishes `sink`.
Status write_chrome_trace(const Trace& trace, ByteSink& sink);

}  // namespace libtrace
