// `traceglass metrics`: numbers of each profiled step, printed, or written as event files beside
// the traces so that TensorBoard's Time Series plots them.
#pragma once

#include <string>

namespace traceglass {

struct MetricsCommand {
  std::string path;  // a log directory, or one trace
  bool write = false;
};

// Prints to stdout, what is wrong with a file to stderr; the exit status.
int run_metrics(const MetricsCommand& command);

}  // namespace traceglass
