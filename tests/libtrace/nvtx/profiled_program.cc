// A program with a Profiler of its own: profiled_program LOGDIR early|late, which of NVTX and the
// Profiler is there first.
#include <string_view>

#include "libtrace/profile.h"
#include "libtrace/tensorboard_trace_handler.h"
#include "tests/libtrace/nvtx/nvtx_client.h"

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const bool early = std::string_view(argv[2]) == "early";
  if (early) {
    if (!nvtx_client::initialize()) return 3;
    nvtx_client::push("before the profiler");
    nvtx_client::pop();
  }
  libtrace::Options options;
  options.on_trace_ready = libtrace::tensorboard_trace_handler(argv[1], "own");
  libtrace::Profiler profiler(std::move(options));
  profiler.start();
  if (!early && !nvtx_client::initialize()) return 3;
  {
    LIBTRACE_SCOPE("of the program");
    nvtx_client::push("of NVTX");
    nvtx_client::pop();
  }
  profiler.stop();
  nvtx_client::push("after the profiler");
  nvtx_client::pop();
  return 0;
}
