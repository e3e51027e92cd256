#include "libtrace/results.h"

#include <stdexcept>

#include "libtrace/tensorboard_trace_handler.h"
#include "libtrace/trace.h"

namespace libtrace {
namespace {

TracePtr last_of(const Profiler& profiler) {
  TracePtr trace = profiler.trace();
  if (trace == nullptr) {
    throw std::logic_error("No results yet: the profiler has not finished a cycle");
  }
  return trace;
}

}  // namespace

KeyAverages key_averages(const Profiler& profiler, const KeyAveragesOptions& options) {
  last_of(profiler);
  return key_averages(profiler.traces(), options);
}

Status export_chrome_trace(const Profiler& profiler, const std::string& path) {
  return export_chrome_trace(*last_of(profiler), path);
}

Status export_stacks(const Profiler& profiler, const std::string& path, std::string_view metric) {
  return export_stacks(*last_of(profiler), path, metric);
}

Status export_memory_timeline(const Profiler& profiler, const std::string& path,
                              std::string_view device) {
  return export_memory_timeline(*last_of(profiler), path, device);
}

void export_to_tensorboard(const Profiler& profiler, const std::filesystem::path& dir,
                           const std::string& worker_name, bool use_gzip) {
  tensorboard_trace_handler(dir, worker_name, use_gzip)(last_of(profiler));
}

}  // namespace libtrace
