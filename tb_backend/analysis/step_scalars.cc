#include "tb_backend/analysis/step_scalars.h"

#include <algorithm>

#include "tb_backend/analysis/activity.h"
#include "tb_backend/analysis/exposed.h"
#include "tb_backend/analysis/figures.h"
#include "tb_backend/analysis/memory.h"
#include "tb_backend/analysis/overview.h"

namespace traceglass {
namespace {

// Of the devices that compute: the host's memory is rarely the question, unless there is no other.
std::vector<const MemoryDevice*> devices_of(const std::vector<MemoryDevice>& all) {
  std::vector<const MemoryDevice*> out;
  for (const MemoryDevice& device : all) {
    if (device.type != "cpu" && !device.relative) out.push_back(&device);
  }
  return out;
}

// Highest level in the range, what holds at its start included.
std::optional<std::int64_t> peak_in(const MemoryDevice& device, libtrace::TimeRange range) {
  const auto before = [](const MemoryPoint& p, std::int64_t at) { return p.at < at; };
  auto it = std::lower_bound(device.curve.begin(), device.curve.end(), range.start, before);
  std::optional<std::int64_t> peak;
  if (it != device.curve.begin()) peak = std::prev(it)->allocated;
  for (; it != device.curve.end() && it->at < range.end; ++it) {
    peak = std::max(peak.value_or(it->allocated), it->allocated);
  }
  return peak;
}

}  // namespace

std::vector<StepScalars> find_step_scalars(const libtrace::Trace& trace) {
  const std::vector<Step> steps = find_steps(trace);
  std::vector<StepScalars> out;
  if (steps.empty() || steps.front().synthetic) return out;
  const Overview overview = find_overview(trace, DeviceTimes(trace), Selection::everything(steps));
  const std::vector<MemoryDevice> memory = find_memory(trace);
  const std::vector<const MemoryDevice*> devices = devices_of(memory);
  const libtrace::Measure exposed(overview.communication.total_ns > 0 ? exposed_communication(trace)
                                                                      : libtrace::Intervals{});
  for (const StepRow& row : overview.steps) {
    if (row.step.incomplete) continue;
    StepScalars& one = out.emplace_back();
    one.number = row.step.index;
    one.end = row.step.host.end;
    const std::int64_t whole = row.breakdown.total();
    one.values.emplace_back("step_time_ms", static_cast<double>(row.step.extended.length()) / 1e6);
    one.values.emplace_back("data_loading_pct",
                            percent(row.breakdown.of(Category::kDataLoader), whole));
    if (!row.device_busy_pct.empty()) {
      double sum = 0;
      for (const double busy : row.device_busy_pct) sum += busy;
      one.values.emplace_back("device_busy_pct",
                              sum / static_cast<double>(row.device_busy_pct.size()));
    }
    if (overview.communication.total_ns > 0) {
      // Not the breakdown's part, of which copies and sets are taken too.
      one.values.emplace_back("exposed_communication_ms",
                              static_cast<double>(exposed.within(row.step.extended)) / 1e6);
    }
    std::optional<std::int64_t> peak;
    for (const MemoryDevice* device : devices) {
      const auto here = peak_in(*device, row.step.extended);
      if (here) peak = std::max(peak.value_or(*here), *here);
    }
    if (peak) {
      constexpr double kMiB = 1 << 20;
      one.values.emplace_back("peak_memory_mib", static_cast<double>(*peak) / kMiB);
    }
  }
  return out;
}

}  // namespace traceglass
