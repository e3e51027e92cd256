// What an NVTX range costs a program that records it through the injection library, against a range
// of libtrace's own with a name made at run time. Prints `name  value  limit  ok|over`.
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "libtrace/profile.h"
#include "tests/libtrace/nvtx/nvtx_client.h"

namespace {

constexpr int kRounds = 200, kRanges = 10'000;

double thread_ns() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return 1e9 * static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec);
}

template <class F>
void keep_best(double& best, F&& range) {
  const double start = thread_ns();
  for (int i = 0; i < kRanges; ++i) range();
  best = std::min(best, (thread_ns() - start) / kRanges);
}

bool report(const char* name, double value, double limit) {
  std::printf("%s  %.2f  %.2f  %s\n", name, value, limit, value <= limit ? "ok" : "over");
  return value <= limit;
}

}  // namespace

int main() {
  setenv("NVTX_INJECTION64_PATH", TRACEGLASS_NVTX_LIBRARY, 1);
  if (!nvtx_client::initialize()) return 1;
  const std::string name = "forward";
  double own = 1e9, nvtx = 1e9, off = 1e9;
  libtrace::Profiler profiler{libtrace::Options()};
  for (int round = 0; round < kRounds; ++round) {
    profiler.start();
    keep_best(own, [&] { LIBTRACE_RECORD_USER_SCOPE(name); });
    keep_best(nvtx, [&] {
      nvtx_client::push(name.c_str());
      nvtx_client::pop();
    });
    profiler.stop();
    keep_best(off, [&] {
      nvtx_client::push(name.c_str());
      nvtx_client::pop();
    });
  }
  std::fprintf(stderr, "a range of ours with a run-time name: %.1f ns\n", own);
  // A thread's stack of ranges, and a name whose length is found by looking.
  bool ok = report("nvtx_range_ns", nvtx, own + 20);
  ok = report("nvtx_range_off_ns", off, 15) && ok;
  return ok ? 0 : 1;
}
