// Trains the network for a few steps, and leaves a profile of some of them.
//
//   libtorch_resnet [LOGDIR [STEPS]]      default: ./tb_logs/libtorch_resnet, 20 steps
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

#include "examples/libtorch_resnet/training.h"
#include "libtrace/key_averages.h"
#include "libtrace/profile.h"
#include "libtrace/tensorboard_trace_handler.h"
#include "libtrace/torch.h"

namespace example {
namespace {

constexpr std::int64_t kBatch = 16;
constexpr int kSteps = 20, kFewestSteps = 8;

int train(const std::string& logdir, int steps) {
  if (const libtrace::Status status = libtrace::observe_torch(); !status.ok()) {
    std::fprintf(stderr, "%s\n", status.message().c_str());
    return 1;
  }
  libtrace::Options options;
  options.record_shapes = options.profile_memory = true;
  options.with_flops = options.with_modules = true;
  options.schedule = libtrace::Schedule::make({.wait = 1, .warmup = 1, .active = 3, .repeat = 1});
  options.on_trace_ready = libtrace::tensorboard_trace_handler(logdir, {}, /*use_gzip=*/true);
  libtrace::Profiler profiler(options);

  Training training(kBatch);
  float first = 0, last = 0;
  profiler.start();
  for (int step = 0; step < steps; ++step) {
    last = training.step();
    if (step == 0) first = last;
    profiler.step();
  }
  profiler.stop();

  libtrace::TableOptions table;
  table.sort_by = "self_cpu_time_total";
  table.row_limit = 12;
  std::printf("%s", libtrace::key_averages(*profiler.trace()).table(table).c_str());
  std::printf("loss %.3f -> %.3f in %d steps; the profile is in %s\n", first, last, steps,
              logdir.c_str());
  return last < first ? 0 : 1;
}

}  // namespace
}  // namespace example

int main(int argc, char** argv) {
  try {
    const int steps = argc > 2 ? std::atoi(argv[2]) : example::kSteps;
    return example::train(argc > 1 ? argv[1] : "tb_logs/libtorch_resnet",
                          std::max(steps, example::kFewestSteps));
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
