// A long run made short: memory stays flat over many cycles of a program that uses everything, with
// threads that come and go. TRACEGLASS_SOAK_SECONDS makes it as long as wanted (30 minutes: 1800).
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "libtrace/profile.h"
#include "libtrace/range.h"

namespace libtrace {
namespace {

using Clock = std::chrono::steady_clock;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;  // what is freed is kept
#else
constexpr bool kSanitized = false;
#endif

double resident_mb() {
  std::ifstream file("/proc/self/statm");
  double pages = 0;
  file >> pages >> pages;
  return pages * 4096 / 1e6;
}

// What one step of the program records.
void work(int step) {
  const ModuleScope module("Net");
  const std::int64_t sizes[3] = {step % 7, 64, 64};
  Input input;
  input.kind = Input::Kind::kTensor;
  input.dims = 3;
  input.sizes = input.strides = sizes;
  input.type = "float";
  const RangeArg arg{"step", Value::integer(step)};
  RangeDetails details;
  details.inputs = &input;
  details.input_count = 1;
  details.args = &arg;
  details.arg_count = 1;
  details.sequence_number = step;
  for (int i = 0; i < 50; ++i) {
    const RecordFunction op("aten::mm", RecordScope::kFunction, details);
    MemoryReport report;
    report.address = static_cast<std::uint64_t>(i) + 1;
    report.bytes = i % 2 == 0 ? 512 : -512;
    report_memory(report);
  }
  LIBTRACE_RECORD_USER_SCOPE("run-time name " + std::to_string(step));
}

TEST(Soak, MemoryStaysFlat) {
  const char* const asked = std::getenv("TRACEGLASS_SOAK_SECONDS");
  const std::chrono::seconds length(asked != nullptr ? std::atoi(asked) : 3);
  std::atomic<std::uint64_t> handled{0}, unwell{0};
  Options options;
  options.schedule = schedule(1, 1, 2);
  options.handler = HandlerPolicy::kBackground;
  options.when_behind = WhenBehind::kBlock;
  options.record_shapes = options.profile_memory = options.with_stack = options.with_modules = true;
  options.max_bytes = 16 << 20;
  options.on_trace_ready = [&](const TracePtr& trace) {
    ++handled;
    // Ranges open at a window's edge are all that there may be to report.
    for (const ReportEntry& entry : trace->report().entries()) {
      if (entry.code != "unfinished") ++unwell;
    }
  };
  Profiler profiler(options);
  profiler.start();
  const auto start = Clock::now();
  double first = 0, most = 0;
  int step = 0;
  AsyncRange over_the_edge;
  while (Clock::now() - start < length || step < 400) {
    over_the_edge = AsyncRange("request");
    std::thread one([step] { work(step); }), two([step] { work(step + 1); });
    work(step);
    one.join();
    two.join();
    profiler.step();
    ++step;
    if (step == 200) first = resident_mb();  // all that is kept for good is there by now
    if (step > 200 && step % 50 == 0) most = std::max(most, resident_mb());
  }
  profiler.stop();
  ASSERT_TRUE(profiler.flush(std::chrono::minutes(1)).ok());
  EXPECT_EQ(handled.load(), profiler.stats().cycles);
  EXPECT_GE(profiler.stats().cycles, static_cast<std::uint64_t>(step) / 4);
  EXPECT_EQ(profiler.stats().dropped, 0U);
  EXPECT_EQ(unwell.load(), 0U);
  const double limit = kSanitized ? 1e9 : 24.0;
  EXPECT_LT(most - first, limit) << "MB more than after 200 steps; " << step << " steps";
  EXPECT_LE(profiler.stats().bytes, 1U << 20) << "all but the lanes' newest chunks is given back";
}

}  // namespace
}  // namespace libtrace
