// What a Profiler recorded, as torch.profiler's own methods give it:
//
//   libtrace::Profiler profiler({.activities = …, .profile_memory = true});
//   profiler.start();
//   …
//   profiler.stop();
//   std::cout << libtrace::key_averages(profiler).table({.sort_by = "cuda_time_total"});
//   libtrace::export_chrome_trace(profiler, "trace.json");
//
// All but key_averages() are of the last finished cycle, and can be asked again. Each throws
// std::logic_error before there is one: while the first cycle still records.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "libtrace/exports.h"
#include "libtrace/key_averages.h"
#include "libtrace/profile.h"

namespace libtrace {

// Of all cycles with Options::accumulate_events, else of the last one.
KeyAverages key_averages(const Profiler& profiler, const KeyAveragesOptions& options = {});

Status export_chrome_trace(const Profiler& profiler, const std::string& path);
Status export_stacks(const Profiler& profiler, const std::string& path,
                     std::string_view metric = "self_cpu_time_total");
Status export_memory_timeline(const Profiler& profiler, const std::string& path,
                              std::string_view device = {});

// One file into a log directory, named as tensorboard_trace_handler() does. Throws
// std::runtime_error when it cannot be written.
void export_to_tensorboard(const Profiler& profiler, const std::filesystem::path& dir,
                           const std::string& worker_name = {}, bool use_gzip = false);

}  // namespace libtrace
