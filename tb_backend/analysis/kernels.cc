#include "tb_backend/analysis/kernels.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <tuple>

namespace traceglass {

using libtrace::EventId;
using libtrace::Kind;
using libtrace::Trace;
using libtrace::Value;

namespace {

std::optional<std::string> json_arg(const Trace& trace, EventId e, std::string_view key) {
  const auto value = trace.arg(e, key);
  if (!value || value->type != Value::Type::kJson) return std::nullopt;
  std::string text;
  for (const char c : value->text) {
    if (c != ' ' && c != '\n' && c != '\r' && c != '\t') text.push_back(c);
  }
  return text;
}

using LaunchKey = std::tuple<libtrace::StringId, std::optional<std::string>,
                             std::optional<std::string>, std::optional<std::string>,
                             std::optional<std::int64_t>, std::optional<std::int64_t>>;

LaunchKey launch_key(const Trace& trace, EventId e) {
  std::optional<std::string> op;
  if (const EventId owner = trace.owner(e); owner != libtrace::kNone) op = trace.name(owner);
  return {trace.name_id(e),
          op,
          json_arg(trace, e, "grid"),
          json_arg(trace, e, "block"),
          trace.int_arg(e, "registers per thread"),
          trace.int_arg(e, "shared memory")};
}

struct Gathered {
  KernelRow row;
  WeightedMean occupancy, blocks;
  HistogramMaker histogram;
};

void gather(const Trace& trace, EventId e, Gathered& g) {
  const std::int64_t ns = trace.dur(e);
  KernelRow& r = g.row;
  r.min_ns = r.calls == 0 ? ns : std::min(r.min_ns, ns);
  if (r.calls == 0 || ns > r.max_ns) {
    r.max_ns = ns;
    r.longest = e;
  }
  ++r.calls;
  r.total_ns += ns;
  g.histogram.add(ns);
  if (const auto v = trace.number_arg(e, "est. achieved occupancy %")) g.occupancy.add(*v, ns);
  if (const auto v = trace.number_arg(e, "blocks per SM"); v && *v >= 0) g.blocks.add(*v, ns);
}

}  // namespace

void HistogramMaker::add(std::int64_t ns) {
  const double exponent = ns <= 1 ? 0 : std::log2(static_cast<double>(ns));
  ++counts_[static_cast<int>(std::floor(exponent * 4))];
}

Histogram HistogramMaker::make() const {
  Histogram h;
  if (counts_.empty()) return h;
  const int first = counts_.begin()->first;
  h.min_exp = first / 4.0;
  h.counts.resize(static_cast<std::size_t>(counts_.rbegin()->first - first) + 1);
  for (const auto& [bucket, count] : counts_) {
    h.counts[static_cast<std::size_t>(bucket - first)] = count;
  }
  return h;
}

void WeightedMean::add(double value, std::int64_t weight) {
  sum_ += value;
  weighted_ += value * static_cast<double>(weight);
  ++count_;
  weight_ += weight;
}

std::optional<double> WeightedMean::mean() const {
  if (count_ == 0) return std::nullopt;
  const double mean =
      weight_ > 0 ? weighted_ / static_cast<double>(weight_) : sum_ / static_cast<double>(count_);
  if (!std::isfinite(mean)) return std::nullopt;  // a sum of absurd values
  return mean;
}

std::vector<KernelRow> kernel_rows(const Trace& trace, const std::vector<EventId>& events,
                                   KernelGroup group) {
  std::map<LaunchKey, Gathered> groups;
  for (const EventId e : events) {
    LaunchKey key;
    std::get<0>(key) = trace.name_id(e);
    if (group == KernelGroup::kLaunch) key = launch_key(trace, e);
    Gathered& g = groups[std::move(key)];
    gather(trace, e, g);
  }
  std::vector<KernelRow> rows;
  for (auto& [key, g] : groups) {
    KernelRow& r = g.row;
    r.name = trace.text(std::get<0>(key));
    if (group == KernelGroup::kLaunch) {
      std::tie(std::ignore, r.op, r.grid, r.block, r.registers_per_thread, r.shared_memory_bytes) =
          key;
    }
    r.occupancy_pct = g.occupancy.mean();
    r.blocks_per_sm = g.blocks.mean();
    r.tensor_cores = tensor_cores_of_kernel(r.name);
    r.histogram = g.histogram.make();
    rows.push_back(std::move(r));
  }
  std::stable_sort(rows.begin(), rows.end(), [](const KernelRow& a, const KernelRow& b) {
    return a.total_ns != b.total_ns ? a.total_ns > b.total_ns : a.name < b.name;
  });
  return rows;
}

std::int64_t total_of(const std::vector<KernelRow>& rows) {
  std::int64_t sum = 0;
  for (const KernelRow& r : rows) sum += r.total_ns;
  return sum;
}

std::vector<KernelRow> find_kernels(const Trace& trace, const Selection& selection,
                                    KernelGroup group, KernelFilter filter) {
  std::vector<EventId> events;
  for (EventId e = 0; e < trace.size(); ++e) {
    const bool wanted = filter == KernelFilter::kKernels
                            ? trace.kind(e) == Kind::kKernel
                            : trace.kind(e) == Kind::kMemcpy || trace.kind(e) == Kind::kMemset;
    if (wanted && !trace.suspect(e) && selection.contains(trace.start(e))) events.push_back(e);
  }
  return kernel_rows(trace, events, group);
}

}  // namespace traceglass
