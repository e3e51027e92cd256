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

// Each does `work` kSteps times, recorded, and hands out the profile. In the state of a program
// that has been profiling for a while: what a first cycle pays for memory is not in it.
class Torchs {
 public:
  Torchs(bool shapes, bool memory) : config_(impl::ProfilerState::KINETO, shapes, memory) {}
  void start() {
    prepareProfiler(config_, {impl::ActivityType::CPU});
    enableProfiler(config_, {impl::ActivityType::CPU});
  }
  static void stop() { disableProfiler(); }

 private:
  impl::ProfilerConfig config_;
};

// A cycle is a step of warm-up, which opens nothing, and one recorded step as long as `work`.
class Ours {
 public:
  Ours(bool shapes, bool memory) : profiler_(options(shapes, memory)) { profiler_.start(); }
  void start() { profiler_.step(); }
  void stop() { profiler_.step(); }

 private:
  static libtrace::Options options(bool shapes, bool memory) {
    libtrace::Options options;
    options.record_shapes = shapes;
    options.profile_memory = memory;
    libtrace::Schedule schedule;
    schedule.warmup = schedule.active = 1;
    options.schedule = libtrace::Schedule::make(schedule);
    return options;
  }
  libtrace::Profiler profiler_;
};

// The quickest recorded step, and the quickest whole of kSteps with what starting, stopping and
// making the profile take.
struct Timed {
  Quickest step, whole;
  template <class Recorder>
  void record(Recorder& recorder, const std::function<void()>& work) {
    whole.time([&] {
      recorder.start();
      for (int i = 0; i < kSteps; ++i) step.time(work);
      recorder.stop();
    });
  }
};

bool report(const char* name, double value, double limit) {
  std::printf("%s  %.3f  %.3f  %s\n", name, value, limit, value <= limit ? "ok" : "over");
  return value <= limit;
}

// What a recorded step costs beyond the step itself: with its share of start and stop, and within
// the step alone.
bool compare_steps(const char* name, bool shapes, bool memory) {
  // Little arithmetic, and the operators of any step: what watching them costs is seen.
  example::Training training(1, 8);
  const auto step = [&] { training.step(); };
  Quickest bare;
  Timed ours, torchs;
  Ours our_profiler(shapes, memory);
  Torchs torchs_profiler(shapes, memory);
  for (int round = 0; round < kRounds; ++round) {
    for (int i = 0; i < kSteps; ++i) bare.time(step);
    ours.record(our_profiler, step);
    torchs.record(torchs_profiler, step);
  }
  const double our_whole = ours.whole.us / kSteps - bare.us;
  const double torchs_whole = torchs.whole.us / kSteps - bare.us;
  const double our_step = ours.step.us - bare.us, torchs_step = torchs.step.us - bare.us;
  std::fprintf(stderr,
               "%s: a step of %.0f us costs %.0f us more, torch's profiler %.0f us; of these %.0f "
               "and %.0f us within the step (ratio %.2f)\n",
               name, bare.us, our_whole, torchs_whole, our_step, torchs_step,
               our_step / torchs_step);
  return report(name, our_whole / torchs_whole, 0.5);
}

bool compare_scopes() {
  Quickest ours, torchs;
  Ours our_profiler(false, false);
  Torchs torchs_profiler(false, false);
  for (int round = 0; round < kRounds; ++round) {
    our_profiler.start();
    ours.time([] {
      for (int i = 0; i < kScopes; ++i) {
        LIBTRACE_SCOPE("scope");
      }
    });
    our_profiler.stop();
    torchs_profiler.start();
    torchs.time([] {
      for (int i = 0; i < kScopes; ++i) {
        RECORD_USER_SCOPE("scope");
      }
    });
    torchs_profiler.stop();
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
