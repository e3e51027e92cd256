// The kernel table: device time by kernel name, or by name, operator and launch configuration.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tb_backend/analysis/steps.h"
#include "tb_backend/analysis/tensor_cores.h"

namespace traceglass {

// Durations on a log2 scale, four buckets an octave from 1 ns on; only the buckets in use.
struct Histogram {
  double min_exp = 0;  // exponent of the first bucket
  std::vector<std::int64_t> counts;
};
class HistogramMaker {
 public:
  void add(std::int64_t ns);
  [[nodiscard]] Histogram make() const;

 private:
  std::map<int, std::int64_t> counts_;
};

struct KernelRow {
  std::string name;
  // Set when grouped by launch; a value the file does not give stays empty.
  std::optional<std::string> op, grid, block;
  std::optional<std::int64_t> registers_per_thread, shared_memory_bytes;
  std::int64_t calls = 0, total_ns = 0, min_ns = 0, max_ns = 0;
  [[nodiscard]] std::int64_t mean_ns() const { return calls == 0 ? 0 : total_ns / calls; }
  // Weighted by duration over the calls that carry them.
  std::optional<double> occupancy_pct, blocks_per_sm;
  TensorCores tensor_cores = TensorCores::kNo;
  libtrace::EventId longest = libtrace::kNone;
  Histogram histogram;
};

enum class KernelGroup : std::uint8_t { kName, kLaunch };
enum class KernelFilter : std::uint8_t { kKernels, kCopies };

// By total, then name. Events that start in the selection.
std::vector<KernelRow> find_kernels(const libtrace::Trace& trace, const Selection& selection,
                                    KernelGroup group = KernelGroup::kName,
                                    KernelFilter filter = KernelFilter::kKernels);
// Σ of the rows' totals; streams overlap, so it may exceed the wall time.
std::int64_t total_of(const std::vector<KernelRow>& rows);
// The same over given events.
std::vector<KernelRow> kernel_rows(const libtrace::Trace& trace,
                                   const std::vector<libtrace::EventId>& events, KernelGroup group);

// Mean of a per-kernel figure weighted by duration; unweighted if every duration is 0.
class WeightedMean {
 public:
  void add(double value, std::int64_t weight);
  [[nodiscard]] std::optional<double> mean() const;

 private:
  double sum_ = 0, weighted_ = 0;
  std::int64_t count_ = 0, weight_ = 0;
};

}  // namespace traceglass
