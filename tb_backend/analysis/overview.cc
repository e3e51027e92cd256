#include "tb_backend/analysis/overview.h"

#include <algorithm>
#include <cmath>

#include "tb_backend/analysis/by_name.h"
#include "tb_backend/analysis/figures.h"
#include "tb_backend/analysis/memory.h"
#include "tb_backend/analysis/tensor_cores.h"

namespace traceglass {

using libtrace::EventId;
using libtrace::Kind;
using libtrace::Measure;
using libtrace::TimeRange;
using libtrace::Trace;

namespace {

constexpr std::size_t kTop = 5;

void add_steps(const BreakdownMaker& maker, const Selection& selection,
               const std::vector<DeviceActivity>& devices, Overview& o) {
  std::vector<Measure> busy;
  for (const DeviceActivity& d : devices) busy.emplace_back(d.busy);
  std::vector<double> lengths;
  for (std::size_t i = 0; i < selection.steps().size(); ++i) {
    StepRow row;
    row.step = selection.steps()[i];
    row.selected = selection.selected(i);
    const TimeRange range = row.step.extended;
    row.breakdown = maker.of(range);
    for (const Measure& m : busy) {
      row.device_busy_pct.push_back(percent(m.within(range), range.length()));
    }
    if (row.selected) {
      lengths.push_back(static_cast<double>(range.length()));
      for (int c = 0; c < kCategoryCount; ++c) o.mean_breakdown.ns[c] += row.breakdown.ns[c];
    }
    o.steps.push_back(std::move(row));
  }
  o.step_count = lengths.size();
  if (lengths.empty()) return;
  const auto n = static_cast<double>(lengths.size());
  double sum = 0, squares = 0;
  for (const double l : lengths) sum += l;
  for (const double l : lengths) squares += (l - sum / n) * (l - sum / n);
  o.mean_step_ns = std::llround(sum / n);
  if (lengths.size() > 1) o.stddev_step_ns = std::llround(std::sqrt(squares / (n - 1)));
  for (std::int64_t& ns : o.mean_breakdown.ns) ns /= static_cast<std::int64_t>(lengths.size());
}

DeviceCard card(const Trace& trace, const Selection& selection, const DeviceActivity& d) {
  DeviceCard c;
  c.type = d.type;
  c.id = d.id;
  c.name = d.name;
  const TimeRange range = selection.range(trace);
  c.busy_ns = Measure(d.busy).within(range);
  c.utilization_pct = percent(c.busy_ns, range.length());
  c.sm_efficiency_pct = sm_efficiency_pct(trace, d.work, range);
  if (d.properties != nullptr) {
    c.sm_count = d.properties->sm_count;
    c.memory_total_bytes = d.properties->total_memory_bytes;
    if (d.properties->compute_major) {
      c.compute = std::to_string(*d.properties->compute_major) + "." +
                  std::to_string(d.properties->compute_minor.value_or(0));
    }
  }
  WeightedMean occupancy;
  ByName tensor_cores(trace, tensor_cores_of_kernel);
  for (const EventId e : d.work) {
    if (trace.kind(e) != Kind::kKernel || !selection.contains(trace.start(e))) continue;
    c.kernel_ns += trace.dur(e);
    if (tensor_cores(trace.name_id(e)) == TensorCores::kYes) c.tensor_core_ns += trace.dur(e);
    if (const auto v = trace.number_arg(e, "est. achieved occupancy %")) {
      occupancy.add(*v, trace.dur(e));
    }
  }
  c.occupancy_pct = occupancy.mean();
  return c;
}

void keep_top(std::vector<OperatorRow>& rows) {
  if (rows.size() > kTop) rows.resize(kTop);
}

}  // namespace

std::optional<double> sm_efficiency_pct(const Trace& trace, const std::vector<EventId>& work,
                                        TimeRange range) {
  struct Edge {
    std::int64_t at;
    double blocks;
  };
  std::vector<Edge> edges;
  for (const EventId e : work) {
    if (trace.kind(e) != Kind::kKernel) continue;
    const auto blocks = trace.number_arg(e, "blocks per SM");
    if (!blocks || *blocks < 0) continue;
    const std::int64_t start = std::clamp(trace.start(e), range.start, range.end);
    const std::int64_t end = std::clamp(trace.end(e), range.start, range.end);
    edges.push_back({start, *blocks});
    edges.push_back({end, -*blocks});
  }
  if (edges.empty() || range.length() <= 0) return std::nullopt;
  std::sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) { return a.at < b.at; });
  double running = 0, covered = 0;
  for (std::size_t i = 0; i + 1 < edges.size(); ++i) {
    running += edges[i].blocks;
    covered += std::clamp(running, 0.0, 1.0) * static_cast<double>(edges[i + 1].at - edges[i].at);
  }
  return 100.0 * covered / static_cast<double>(range.length());
}

Overview find_overview(const Trace& trace, const DeviceTimes& times, const Selection& selection) {
  Overview o;
  const std::vector<DeviceActivity> devices = find_devices(trace);
  const BreakdownMaker maker(trace);
  add_steps(maker, selection, devices, o);
  o.communication = maker.communication();
  const std::vector<MemoryDevice> memory = find_memory(trace);
  for (const DeviceActivity& d : devices) {
    o.devices.push_back(card(trace, selection, d));
    for (const MemoryDevice& m : memory) {
      if (m.type == d.type && m.id == d.id) o.devices.back().memory_peak_bytes = m.peak_allocated;
    }
  }
  o.top_operators = find_operators(trace, times, selection, Kind::kOp);
  o.top_host = o.top_operators;
  std::stable_sort(
      o.top_host.begin(), o.top_host.end(),
      [](const OperatorRow& a, const OperatorRow& b) { return a.host_self_ns > b.host_self_ns; });
  keep_top(o.top_host);
  keep_top(o.top_operators);
  if (o.devices.empty()) o.top_operators.clear();
  o.top_kernels = find_kernels(trace, selection);
  if (o.top_kernels.size() > kTop) o.top_kernels.resize(kTop);
  return o;
}

}  // namespace traceglass
