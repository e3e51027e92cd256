// What a Profiler calls when a cycle is complete: writes it where TensorBoard looks, as
// torch.profiler.tensorboard_trace_handler does.
#pragma once

#include <filesystem>
#include <string>

#include "libtrace/profile.h"

namespace libtrace {

// One file a cycle: `<dir>/<worker>.<unix ns>.pt.trace.json`, + `.gz` with `use_gzip`. The folder
// is made at the first cycle. `worker_name` defaults to `<hostname>_<pid>`, found at the first
// cycle and again after a fork.
//
// Throws std::invalid_argument when `worker_name` cannot be part of a file name or `dir` is remote
// ("s3://…"). The handler throws std::runtime_error when it cannot write.
TraceHandler tensorboard_trace_handler(std::filesystem::path dir, std::string worker_name = {},
                                       bool use_gzip = false);

}  // namespace libtrace
