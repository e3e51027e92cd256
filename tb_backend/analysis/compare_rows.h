// What was called in the steps of A and of B, by name: how often and how long a step.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "libtrace/trace.h"
#include "tb_backend/analysis/activity.h"
#include "tb_backend/analysis/operators.h"
#include "tb_backend/analysis/steps.h"

namespace traceglass {

// What a row measures. Host self and device are disjoint; device self is the time of `device` by
// the operator that launched it; a module's is all that ran in it, its backward pass included.
enum class Measure : std::uint8_t { kHostSelf, kDeviceSelf, kDevice, kModuleHost, kModuleDevice };
// host_self, device_self, device, module_host, module_device
const char* measure_name(Measure measure);

struct CompareRow {
  std::string name;
  Measure measure = Measure::kHostSelf;
  Category category = Category::kCpu;  // its colour: of a kernel, a copy, a call, a loader
  double calls_a = 0, calls_b = 0;     // a step
  std::int64_t a_ns = 0, b_ns = 0;     // a step
  std::optional<double> delta_pct;     // of A; absent when A is 0
  libtrace::EventId event_a = libtrace::kNone, event_b = libtrace::kNone;  // the longest
  [[nodiscard]] std::int64_t delta_ns() const { return b_ns - a_ns; }
  [[nodiscard]] bool appeared() const { return event_a == libtrace::kNone; }
  [[nodiscard]] bool vanished() const { return event_b == libtrace::kNone; }
};

struct CompareRows {
  std::vector<CompareRow> rows;            // largest difference first
  std::size_t appeared = 0, vanished = 0;  // names on the host and on the device
};

// Calls by name and category, with the time of all of them.
struct CallSum {
  std::string name;
  Measure measure = Measure::kHostSelf;
  Category category = Category::kCpu;
  std::int64_t calls = 0, ns = 0;
  std::int64_t whole_ns = 0;  // Σ duration; `ns` is self time for host rows
  libtrace::EventId longest = libtrace::kNone;
};
// Of the chosen steps; in an order of its own. Modules are named by their path.
std::vector<CallSum> find_call_sums(const libtrace::Trace& trace, const DeviceTimes& times,
                                    const Selection& selection);

// `steps`: how many the sums are of, at least 1.
CompareRows compare_rows(const std::vector<CallSum>& a, std::size_t steps_a,
                         const std::vector<CallSum>& b, std::size_t steps_b);

// sum / n to the nearest, halves away from zero.
std::int64_t per_step(std::int64_t sum, std::size_t n);

}  // namespace traceglass
