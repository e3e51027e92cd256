// Small traces for the tests of the timeline: by hand, or random with every awkward shape.
#pragma once

#include <algorithm>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "libtrace/trace_builder.h"

namespace traceglass::testing {

class TraceMaker {
 public:
  void slice(std::string_view category, std::string_view name, std::int64_t start, std::int64_t dur,
             std::string_view pid = "100", std::string_view tid = "100") {
    libtrace::TraceBuilder::Row row;
    row.start = start;
    row.dur = dur;
    row.name = builder_.intern(name);
    row.category = builder_.intern(category);
    row.pid = builder_.intern(pid);
    row.tid = builder_.intern(tid);
    builder_.add_slice(row);
  }
  void arg(std::string_view key, std::int64_t value) {
    builder_.arg(key, libtrace::Value::integer(value));
  }
  // A launch on the host and its kernel on device 0, stream 7.
  void kernel(std::string_view name, std::int64_t launched, std::int64_t start, std::int64_t dur) {
    ++correlation_;
    arg("correlation", correlation_);
    slice("cuda_runtime", "cudaLaunchKernel", launched, 5);
    arg("correlation", correlation_);
    arg("device", 0);
    arg("stream", 7);
    slice("kernel", name, start, dur, "0", "7");
  }
  void flow(std::string_view category, std::int64_t id, std::int64_t at, bool begin,
            std::string_view pid = "100", std::string_view tid = "100") {
    libtrace::Flow flow;
    flow.id = id;
    flow.at = at;
    flow.begin = begin;
    flow.category = builder_.intern(category);
    flow.name = flow.category;
    builder_.add_flow(flow, builder_.intern(pid), builder_.intern(tid));
  }
  libtrace::TraceBuilder& builder() { return builder_; }
  libtrace::TracePtr finish() { return builder_.finish(); }

 private:
  libtrace::TraceBuilder builder_;
  std::int64_t correlation_ = 0;
};

// Nested and crossing host calls, Python frames, overlapping kernels, instants, equal times,
// negative durations; seeded, so that a failure repeats.
inline libtrace::TracePtr random_trace(unsigned seed, int slices) {
  std::mt19937_64 random(seed);
  const auto below = [&](std::int64_t n) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
  };
  static constexpr std::pair<const char*, const char*> kKinds[] = {
      {"cpu_op", "100"},   {"cpu_op", "100"},          {"cuda_runtime", "100"},
      {"overhead", "100"}, {"python_function", "100"}, {"user_annotation", "100"},
      {"kernel", "0"},     {"gpu_memcpy", "0"},        {"gpu_user_annotation", "0"},
      {"cuda_sync", "0"},  {"Trace", "Spans"},         {"something_new", "100"}};
  TraceMaker maker;
  const std::int64_t span = 1 + below(1'000'000);
  for (int i = 0; i < slices; ++i) {
    const auto& [category, pid] = kKinds[static_cast<std::size_t>(below(std::size(kKinds)))];
    // Durations over five decades, some 0, few negative.
    std::int64_t dur = below(4) == 0 ? below(span) / (1 + below(50)) : below(200);
    if (below(50) == 0) dur = 0;
    if (below(200) == 0) dur = -below(100);
    const std::int64_t start = 10 + below(span) / 7 * 7;
    maker.slice(category, "n" + std::to_string(below(20)), start, dur, pid,
                std::to_string(100 + below(2)));
  }
  return maker.finish();
}

// Length of the union of a set of [start, end).
inline std::int64_t union_length(std::vector<std::pair<std::int64_t, std::int64_t>> ranges) {
  std::sort(ranges.begin(), ranges.end());
  std::int64_t sum = 0;
  std::int64_t covered = INT64_MIN;
  for (const auto& [start, end] : ranges) {
    const std::int64_t from = std::max(start, covered);
    if (end > from) sum += end - from;
    covered = std::max(covered, end);
  }
  return sum;
}

}  // namespace traceglass::testing
