// One load of a trace, as `traceglass serve` makes it: wall time and the peak resident memory of
// the process. One run a process, so that the peak is of this load alone.
#include <chrono>
#include <cstdio>
#include <fstream>
#include <string>

#include "tb_backend/ingest/ingest.h"

namespace {

// VmHWM of /proc/self/status, in bytes; 0 where the system does not say.
std::size_t peak_resident_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind("VmHWM:", 0) == 0) return std::stoull(line.substr(6)) * 1024;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "load_bench TRACE\n");
    return 2;
  }
  const auto start = std::chrono::steady_clock::now();
  const traceglass::IngestResult result = traceglass::ingest_file(argv[1]);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  if (result.error) {
    std::fprintf(stderr, "%s: %s\n", argv[1], result.error->message.c_str());
    return 1;
  }
  std::printf(
      "{\"seconds\": %.6f, \"peak_bytes\": %zu, \"resident_bytes\": %zu, \"events\": %zu}\n",
      took.count(), peak_resident_bytes(), result.trace->resident_bytes(), result.trace->size());
  return 0;
}
