// Files for other tools, from any Trace: recorded or loaded. Each is written under a temporary name
// and renamed, so that it is whole or not there. Remote paths ("s3://…") are refused.
#pragma once

#include <string>
#include <string_view>

#include "libtrace/status.h"

namespace libtrace {

class Trace;

// Chrome JSON as PyTorch's profiler writes it, compressed when `path` ends in ".gz". As often as
// wanted.
Status export_chrome_trace(const Trace& trace, const std::string& path);

// Where TensorBoard looks: in folder `dir`, under the name that tensorboard_trace_handler(dir)
// gives it.
Status export_to_tensorboard(const Trace& trace, const std::string& dir);

// Stacks for flame graphs (FlameGraph, speedscope): a line an event of at least 1 us, "outermost;
// …;innermost us". metric: self_cpu_time_total, self_cuda_time_total, self_xpu_time_total or
// self_privateuse1_time_total. Throws std::invalid_argument for any other, and for a profile
// recorded without with_stack.
Status export_stacks(const Trace& trace, const std::string& path, std::string_view metric);

// Memory of a device by category over time. The suffix of `path` picks the form, as in torch:
// .html a page with a picture, .raw.json.gz every single change, .json.gz and anything else sizes
// over time. device: "cpu", "cuda:1"; "" is the first device that has memory in the trace, else the
// host. Throws std::invalid_argument for a profile recorded without profile_memory, record_shapes
// or with_stack, and for what is no device.
Status export_memory_timeline(const Trace& trace, const std::string& path,
                              std::string_view device = {});

}  // namespace libtrace
