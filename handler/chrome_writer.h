// Trace → Chrome JSON as PyTorch's profiler writes it, for every reader of such files: TensorBoard,
// HTA, Perfetto, chrome://tracing and ourselves (`ingest(write(trace)) == trace`). Any Trace,
// recorded or loaded.
#pragma once

#include <string_view>

#include "handler/byte_sink.h"
#include "libtrace/trace.h"

namespace libtrace {

// Streams; holds about 1 MiB. Finishes `sink`. `trace_name`, if any, becomes the last top-level key
// "traceName", where torch puts the path written to; a loaded trace keeps the one it came with.
Status write_chrome_trace(const Trace& trace, ByteSink& sink, std::string_view trace_name = {});

}  // namespace libtrace
