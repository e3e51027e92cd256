// What a scope costs the program it stands in, against two readings of the clock in the same run.
// Prints `name  value  limit  ok|over` (ns a scope). Batches of all
// variants take turns and the quickest of each counts, so that a busy machine disturbs none.
#include <time.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "libtrace/profile.h"
#include "libtrace/range.h"
#include "libtrace/record/clock.h"
#include "libtrace/record/stack.h"

namespace {

using Clock = std::chrono::steady_clock;
constexpr int kRounds = 100, kBatch = 10'000;
constexpr double kOverClock = 3, kDisabledLimit = 1, kShapesLimit = 15, kStackLimit = 60;
constexpr double kThreadsLimit = 1.10;
constexpr int kThreads = 8, kThreadBatch = 50'000;

template <class F>
double ns_each(F&& f) {
  const auto start = Clock::now();
  for (int i = 0; i < kBatch; ++i) f();
  return std::chrono::duration<double, std::nano>(Clock::now() - start).count() / kBatch;
}

template <class F>
void keep_best(double& best, F&& f) {
  best = std::min(best, ns_each(f));
}

std::array<std::atomic<std::uint64_t>, 2> times;
void two_clock_readings() {
  times[0].store(libtrace::detail::ticks(), std::memory_order_relaxed);
  times[1].store(libtrace::detail::ticks(), std::memory_order_relaxed);
}

void report(const char* name, double value, double limit) {
  std::printf("%s  %.2f  %.2f  %s\n", name, value, limit, value <= limit ? "ok" : "over");
}

// Three tensors of four dimensions, as an adapter gives them.
struct Shapes {
  std::array<std::int64_t, 4> sizes{32, 64, 56, 56}, strides{200'704, 3'136, 56, 1};
  std::array<libtrace::Input, 3> inputs;
  libtrace::RangeDetails details;

  Shapes() {
    for (libtrace::Input& input : inputs) {
      input.kind = libtrace::Input::Kind::kTensor;
      input.dims = 4;
      input.sizes = sizes.data();
      input.strides = strides.data();
      input.type = "float";
    }
    details.inputs = inputs.data();
    details.input_count = inputs.size();
  }
};

// A stack of at least `depth` frames, by frame pointers (tests/bench/CMakeLists.txt).
template <class F>
__attribute__((noinline)) void at_depth(int depth, F&& f) {
  if (depth == 0) {
    f();
  } else {
    at_depth(depth - 1, f);
  }
  asm volatile("" ::: "memory");
}

double cpu_ns() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec);
}

// CPU time of a scope on each of `threads` threads at once, the mean of all.
double cpu_ns_each(int threads) {
  std::atomic<int> waiting{threads};
  std::vector<double> spent(static_cast<std::size_t>(threads));
  std::vector<std::thread> all;
  for (double& ns : spent) {
    all.emplace_back([&ns, &waiting] {
      {
        LIBTRACE_SCOPE("first of its thread");
      }
      waiting.fetch_sub(1);
      while (waiting.load() != 0) std::this_thread::yield();
      const double before = cpu_ns();
      for (int i = 0; i < kThreadBatch; ++i) {
        LIBTRACE_SCOPE("of a thread");
      }
      ns = (cpu_ns() - before) / kThreadBatch;
    });
  }
  double sum = 0;
  for (std::thread& t : all) t.join();
  for (const double ns : spent) sum += ns;
  return sum / threads;
}

bool fixed_and_made() {
  double clock = 1e9, fixed = 1e9, made = 1e9, nested = 1e9, off = 1e9;
  const std::string name = "nn.Module: Linear_12";
  libtrace::Profiler profiler({.schedule = libtrace::Schedule::make({.active = 1})});
  for (int round = 0; round < kRounds; ++round) {
    // A cycle a round: memory is in the state of a program that has been running for a while.
    profiler.start();
    keep_best(clock, two_clock_readings);
    keep_best(fixed, [] { LIBTRACE_SCOPE("fixed name"); });
    keep_best(clock, two_clock_readings);
    keep_best(made, [&] { LIBTRACE_RECORD_FUNCTION(name); });
    keep_best(nested, [] {
      LIBTRACE_OP("aten::linear");
      LIBTRACE_OP("aten::addmm");
      LIBTRACE_OP("aten::expand");
      LIBTRACE_OP("aten::as_strided");
    });
    profiler.stop();
    keep_best(off, [] { LIBTRACE_SCOPE("disabled"); });
  }
  report("scope_ns", fixed, clock + kOverClock);
  report("scope_runtime_name_ns", made, clock + kOverClock);
  report("scope_nested_ns", nested / 4, clock + kOverClock);
  report("scope_disabled_ns", off, kDisabledLimit);
  return profiler.stats().dropped == 0;
}

bool with_details() {
  using libtrace::RecordFunction, libtrace::RecordScope;
  double plain = 1e9, shapes = 1e9;
  const Shapes three;
  libtrace::Options options;
  options.record_shapes = true;
  // A cycle a round within one session: what the last cycle filled is there to be filled again.
  options.schedule = libtrace::schedule(0, 0, 1);
  libtrace::Profiler profiler(options);
  profiler.start();
  for (int round = 0; round < kRounds; ++round) {
    keep_best(plain, [] { const RecordFunction r("aten::conv2d", RecordScope::kFunction); });
    keep_best(shapes, [&] {
      const RecordFunction r("aten::conv2d", RecordScope::kFunction, three.details);
    });
    profiler.step();
  }
  profiler.stop();
  bool ok = profiler.stats().dropped == 0;
  report("scope_3_shapes_more_ns", shapes - plain, kShapesLimit);

  double bare = 1e9, stacks = 1e9;
  libtrace::Profiler without({});
  options.record_shapes = false;
  options.with_stack = true;
  libtrace::Profiler with(options);
  for (int round = 0; round < kRounds; ++round) {
    const auto measure = [](libtrace::Profiler& p, double& best) {
      p.start();
      libtrace::detail::select_stack_method(libtrace::detail::StackMethod::kFramePointers);
      at_depth(30, [&] { keep_best(best, [] { LIBTRACE_OP("aten::add"); }); });
      p.stop();
    };
    measure(without, bare);
    measure(with, stacks);
  }
  ok = with.stats().dropped == 0 && ok;
  report("scope_30_frames_more_ns", stacks - bare, kStackLimit);
  return ok;
}

bool many_threads() {
  double one = 1e9, eight = 1e9;
  libtrace::Options options;
  options.schedule = libtrace::schedule(0, 0, 1);
  libtrace::Profiler profiler(options);
  profiler.start();
  for (int round = 0; round < 30; ++round) {
    one = std::min(one, cpu_ns_each(1));
    eight = std::min(eight, cpu_ns_each(kThreads));
    profiler.step();
  }
  profiler.stop();
  report("scope_8_threads_ratio", eight / one, kThreadsLimit);
  return profiler.stats().dropped == 0;
}

}  // namespace

int main() {
  const bool all = fixed_and_made() & with_details() & many_threads();
  if (!all) std::fprintf(stderr, "scopes were dropped: the figures are not of recording\n");
  return all ? 0 : 1;
}
