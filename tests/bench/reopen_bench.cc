// A trace from its saved index to the first tile, part by part; with `cold` none of the file is in
// memory before; `save` makes the index. Prints one line of JSON.
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <optional>
#include <string>

#include "tb_backend/analysis/steps.h"
#include "tb_backend/index/cache.h"
#include "tb_backend/ingest/ingest.h"
#include "tb_backend/timeline/timeline.h"

namespace {

using Clock = std::chrono::steady_clock;

double ms_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

// Of all threads; on a machine that does something else it says what a quiet one would take.
double cpu_ms() {
  timespec t{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return 1e3 * static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) / 1e6;
}

// VmRSS and the like of /proc/self/status, in bytes.
std::size_t status_bytes(const char* field) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind(field, 0) == 0) return std::stoull(line.substr(std::strlen(field))) * 1024;
  }
  return 0;
}

void forget(const std::filesystem::path& file) {
  const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  ::fdatasync(fd);
  ::posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
  ::close(fd);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "reopen_bench DIRECTORY TRACE [cold|save]\n");
    return 2;
  }
  traceglass::index::Cache::Options options;
  options.directory = argv[1];
  options.log = [](std::string_view text) {
    std::fprintf(stderr, "%.*s\n", static_cast<int>(text.size()), text.data());
  };
  traceglass::index::Cache cache(options);
  std::optional<traceglass::index::Content> content = traceglass::index::content_of(argv[2]);
  if (!content) return 1;
  const std::string mode = argc > 3 ? argv[3] : "";
  if (mode == "save") {
    const traceglass::IngestResult read = traceglass::ingest_file(argv[2]);
    const auto begin = Clock::now();
    const double cpu = cpu_ms();
    if (!read.trace || !cache.save(*content, *read.trace, [] { return true; }).empty()) return 1;
    std::printf("{\"save_ms\": %.1f, \"cpu_ms\": %.1f}\n", ms_since(begin), cpu_ms() - cpu);
    return 0;
  }
  if (mode == "cold") {
    forget(cache.place_of(*content));
    forget(argv[2]);
  }
  const auto begin = Clock::now();
  content = traceglass::index::content_of(argv[2]);
  const libtrace::TracePtr trace = cache.open(*content);
  if (!trace) {
    std::fprintf(stderr, "no index\n");
    return 1;
  }
  const double open = ms_since(begin), open_cpu = cpu_ms();
  const traceglass::Timeline timeline(trace);
  const double laid_out = ms_since(begin);
  const auto steps = traceglass::find_steps(*trace);
  int k = 0;
  while ((traceglass::kBuckets << k) < trace->range().length()) ++k;
  std::size_t slices = 0;
  for (const auto& group : timeline.groups()) {
    slices += timeline.tile(group.id, k, 0).size();
    if (group.id == 3) break;  // what a screen shows
  }
  const double first_tile = ms_since(begin);
  std::printf(
      "{\"events\": %zu, \"open_ms\": %.1f, \"timeline_ms\": %.1f, \"first_tile_ms\": %.1f, "
      "\"open_cpu_ms\": %.1f, \"cpu_ms\": %.1f, \"tile_slices\": %zu, \"index_bytes\": %zu, "
      "\"string_bytes\": %zu, \"arg_bytes\": %zu, "
      "\"anonymous_bytes\": %zu}\n",
      trace->size(), open, laid_out - open, first_tile, open_cpu, cpu_ms(), slices,
      static_cast<std::size_t>(std::filesystem::file_size(cache.place_of(*content))),
      trace->data().string_data.size(), trace->data().arg_bytes.size(), status_bytes("RssAnon:"));
  return 0;
}
