// Roofline: how fast operators and kernels worked against what their device can do, by operations
// and by bytes. Work comes from input shapes (op_cost.h), time is the device's.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tb_backend/analysis/device_peaks.h"
#include "tb_backend/analysis/steps.h"

namespace traceglass {

// What holds a row back: the roof above its intensity, or neither, when it is far below that.
enum class Bound : std::uint8_t { kUnknown, kCompute, kMemory, kNeither };
std::string_view bound_name(Bound bound);

struct RooflineRow {
  std::string name;
  std::optional<std::string> input_shapes;  // of operators, JSON text
  Precision precision = Precision::kUnknown;
  std::int64_t calls = 0, ns = 0;      // of the calls whose work is known
  std::optional<double> flops, bytes;  // of all its calls
  std::optional<double> flops_per_s, bytes_per_s, flops_per_byte;
  std::optional<double> roof_pct;  // of what the device can do at this intensity
  Bound bound = Bound::kUnknown;
  libtrace::EventId longest = libtrace::kNone;
};

struct Roofline {
  bool host_time = false;  // no device work in the trace: times are the host's, no peaks
  std::string device;      // "" unknown, or several kinds
  std::optional<DevicePeaks> peaks;
  std::vector<RooflineRow> rows;  // by time
  std::int64_t left_out = 0;      // shortest rows beyond `most`; the sums below cover them
  // All device work of the selection, what of it the rows hold, what of that has a roof, and what
  // of that stays below kFarBelowPct of it.
  std::int64_t total_ns = 0, known_ns = 0, roofed_ns = 0, far_below_ns = 0;
};

// Below this share of its roof a row is bound by neither: launches, latency, too little to do.
inline constexpr double kFarBelowPct = 20;

enum class RooflineGroup : std::uint8_t { kOperator, kKernel };

// Operators by name and inputs; device work counts for the innermost operator around its launch
// whose cost is known. Kernels by name: those that did the whole of an operator's work alone.
Roofline find_roofline(const libtrace::Trace& trace, const Selection& selection,
                       RooflineGroup group = RooflineGroup::kOperator, std::size_t most = 20'000);

}  // namespace traceglass
