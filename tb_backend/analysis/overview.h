// The first screen: steps and where their time goes, devices, the largest costs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tb_backend/analysis/activity.h"
#include "tb_backend/analysis/kernels.h"
#include "tb_backend/analysis/operators.h"
#include "tb_backend/analysis/steps.h"

namespace traceglass {

struct StepRow {
  Step step;
  bool selected = true;
  Breakdown breakdown;                  // of the extended step
  std::vector<double> device_busy_pct;  // in the order of Overview::devices
};

struct DeviceCard {
  std::string type;
  std::int64_t id = 0;
  std::string name, compute;
  std::int64_t busy_ns = 0;  // within the selection's range
  double utilization_pct = 0;
  std::optional<double> occupancy_pct, sm_efficiency_pct;  // estimates
  std::optional<std::int64_t> sm_count, memory_total_bytes, memory_peak_bytes;
  std::int64_t kernel_ns = 0, tensor_core_ns = 0;  // sums over kernels of the selection
};

struct Overview {
  std::size_t step_count = 0;
  // Of the selection's extended steps; the deviation is that of a sample (n - 1).
  std::int64_t mean_step_ns = 0, stddev_step_ns = 0;
  Breakdown mean_breakdown;
  std::vector<StepRow> steps;  // all of them
  std::vector<DeviceCard> devices;
  Communication communication;  // of the whole trace
  std::vector<OperatorRow> top_operators, top_host;
  std::vector<KernelRow> top_kernels;
};

Overview find_overview(const libtrace::Trace& trace, const DeviceTimes& times,
                       const Selection& selection);

// Share of `range` in which the SMs have blocks to run: at each instant the kernels' blocks per
// SM, at most 1. nullopt when no kernel carries the figure.
std::optional<double> sm_efficiency_pct(const libtrace::Trace& trace,
                                        const std::vector<libtrace::EventId>& work,
                                        libtrace::TimeRange range);

}  // namespace traceglass
