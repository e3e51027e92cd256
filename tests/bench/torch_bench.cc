// What the adapter costs a training step, against torch's own profiler in the same libtorch, and
// what a scope of ours costs against torch's. Prints `name  value  limit  ok|over`.
//
// Time is that of the thread, and the quickest step of many counts, taken in turns: other programs
// of the machine disturb little.
#include <ATen/Parallel.h>
#include <ATen/record_function.h>
#include <time.h>
#include <torch/csrc/autograd/profiler_kineto.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <optional>

#include "examples/libtorch_resnet/training.h"
#include "libtrace/profile.h"
#include "libtrace/torch.h"

namespace {

namespace impl = torch::profiler::impl;
using torch::autograd::profiler::disableProfiler;
using torch::autograd::profiler::enableProfiler;
using torch::autograd::profiler::prepareProfiler;

constexpr int kRounds = 100, kSteps = 4, kScopes = 20'000;

double thread_us() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return 1e6 * static_cast<double>(t.tv_sec) + 1e-3 * static_cast<double>(t.tv_nsec);
}

// The quickest of what it is given.
struct Quickest {
  double us = 1e18;
  void time(const std::function<void()>& work) {
    const double start = thread_us();
    work();
    us = std::min(us, thread_us() - start);
  }
};

// Around `work`, which starts and ends with nothing recorded; `stop`: what fetching the profile
// takes.
void with_torch(bool shapes, bool memory, Quickest& stop, const std::function<void()>& work) {
  const impl::ProfilerConfig config(impl::ProfilerState::KINETO, shapes, memory);
  prepareProfiler(config, {impl::ActivityType::CPU});
  enableProfiler(config, {impl::ActivityType::CPU});
  work();
  stop.time([] { disableProfiler(); });
}

void with_ours(bool shapes, bool memory, Quickest& stop, const std::function<void()>& work) {
  libtrace::Options options;
  options.record_shapes = shapes;
  options.profile_memory = memory;
  libtrace::Profiler profiler(options);
  profiler.start();
  work();
  stop.time([&] { profiler.stop(); });
}

bool report(const char* name, double value, double limit) {
  std::printf("%s  %.3f  %.3f  %s\n", name, value, limit, value <= limit ? "ok" : "over");
  return value <= limit;
}

// Of the steps' own time and of torch's, what ours adds.
bool compare_steps(const char* name, bool shapes, bool memory) {
  // Little arithmetic, and the operators of any step: what watching them costs is seen.
  example::Training training(1, 8);
  Quickest bare, ours, torchs, our_stop, torchs_stop;
  for (int round = 0; round < kRounds; ++round) {
    const auto steps = [&](Quickest& of) {
      for (int i = 0; i < kSteps; ++i) of.time([&] { training.step(); });
    };
    steps(bare);
    with_ours(shapes, memory, our_stop, [&] { steps(ours); });
    with_torch(shapes, memory, torchs_stop, [&] { steps(torchs); });
  }
  std::fprintf(stderr,
               "%s: step %.0f us, +%.0f us with ours, +%.0f us with torch's profiler; "
               "stop %.0f us and %.0f us\n",
               name, bare.us, ours.us - bare.us, torchs.us - bare.us, our_stop.us, torchs_stop.us);
  return report(name, (ours.us - bare.us) / (torchs.us - bare.us), 0.5);
}

bool compare_scopes() {
  Quickest ours, torchs, unused;
  for (int round = 0; round < kRounds; ++round) {
    with_ours(false, false, unused, [&] {
      ours.time([] {
        for (int i = 0; i < kScopes; ++i) {
          LIBTRACE_SCOPE("scope");
        }
      });
    });
    with_torch(false, false, unused, [&] {
      torchs.time([] {
        for (int i = 0; i < kScopes; ++i) {
          RECORD_USER_SCOPE("scope");
        }
      });
    });
  }
  std::fprintf(stderr, "scope: %.1f ns, torch's with its profiler %.1f ns\n",
               1e3 * ours.us / kScopes, 1e3 * torchs.us / kScopes);
  return report("scope_over_torchs", ours.us / torchs.us, 1.0);
}

}  // namespace

int main() {
  at::set_num_threads(1);
  if (!libtrace::observe_torch().ok()) return 1;
  bool ok = compare_scopes();
  ok = compare_steps("torch_step_overhead", false, false) && ok;
  ok = compare_steps("torch_step_overhead_shapes", true, false) && ok;
  ok = compare_steps("torch_step_overhead_memory", true, true) && ok;
  return ok ? 0 : 1;
}
