// The operator table: host and device time by operator name, and with shapes or stacks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tb_backend/analysis/kernels.h"
#include "tb_backend/analysis/steps.h"

namespace traceglass {

struct OperatorRow {
  std::string name;
  std::optional<std::string> input_shapes;  // JSON text, when grouped by shape
  std::vector<std::string> stack;           // innermost first, when grouped by stack
  std::int64_t calls = 0;
  // self: innermost time, every instance. total: instances without an ancestor of their name.
  std::int64_t host_total_ns = 0, host_self_ns = 0, device_total_ns = 0, device_self_ns = 0;
  std::optional<TensorCores> tensor_cores;  // of the kernels it owns; none: it owns none
  libtrace::EventId longest = libtrace::kNone;
};

enum class OperatorGroup : std::uint8_t { kName, kShape, kStack };

// Device time of each slice's own launches and of its subtree, in ns; one entry a slice.
struct DeviceTimes {
  explicit DeviceTimes(const libtrace::Trace& trace);
  std::vector<std::int64_t> self, total;
};

// Rows of ops or annotations that start in the selection, by device self, host self, name.
// For ops the rows "(no launch)" and "(no operator)" hold device work that no op owns, so that
// over the whole trace device self sums to the duration of all device work.
std::vector<OperatorRow> find_operators(const libtrace::Trace& trace, const DeviceTimes& times,
                                        const Selection& selection, libtrace::Kind kind,
                                        OperatorGroup group = OperatorGroup::kName);

struct OperatorDetail {
  OperatorRow row;
  std::vector<KernelRow> kernels;
  Histogram histogram;  // host durations of its instances
  std::vector<OperatorRow> shapes;
  std::vector<OperatorRow> stacks;
};
// nullopt: no such operator in the selection.
std::optional<OperatorDetail> find_operator(const libtrace::Trace& trace, const DeviceTimes& times,
                                            const Selection& selection, libtrace::Kind kind,
                                            std::string_view name);

}  // namespace traceglass
