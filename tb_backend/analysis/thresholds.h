// Every threshold of the verdicts and of the graph behind them, with its reason, in one place.
#pragma once

#include <cstdint>

namespace traceglass {

// ---- severity: by the ceiling's share of the mean step ------------------------------------------
// A tenth of a training run is a day in ten; one percent is what two runs of one program differ by.
inline constexpr double kHighPct = 10.0;
inline constexpr double kMediumPct = 5.0;
inline constexpr double kLowPct = 1.5;

// ---- checks -------------------------------------------------------------------------------------
// A launch costs 5 to 10 us of host time: below that a kernel is shorter than the call for it.
inline constexpr std::int64_t kSmallKernelNs = 10'000;
// What a kernel takes to start and drain whatever it does: fused, a chain of small ones pays it
// once.
inline constexpr std::int64_t kKernelStartNs = 2'000;
// "Many small kernels" needs most kernels to be small, or a mean that is not far from it.
inline constexpr double kSmallKernelSharePct = 50.0;
inline constexpr std::int64_t kShortMeanKernelNs = 50'000;
// Launches are late somewhere in any step, at its start and where threads hand over: it takes this
// share of the step in late ones to call it launch bound.
inline constexpr double kLateLaunchPct = 4.0;
// Below it a collective is latency, not bandwidth (NVLink moves 64 KiB in less than its start-up).
inline constexpr std::int64_t kSmallMessageBytes = 65'536;
// Peak against capacity: the next larger batch, or a fragment, will not fit.
inline constexpr double kMemoryNearlyFullPct = 90.0;
// Reserved and not allocated at the peak: worth expandable segments beyond a tenth of the device.
inline constexpr double kFragmentationPct = 10.0;
// Achieved occupancy under which one dominating operator is named as evidence.
inline constexpr double kLowOccupancyPct = 25.0;
// Matrix products at half precision run at least twice as fast on tensor cores in practice
// (peak ratios are 8 to 16, memory-bound layers gain nothing).
inline constexpr std::int64_t kTensorCoreSpeedUp = 2;

// Pinned memory is copied at the speed of the bus: 24 GB/s over PCIe 4 against 5 to 6 pageable.
inline constexpr std::int64_t kPinnedSpeedUp = 5;
// "Most of it": kernels of graph launches, small messages, products whose names do not tell.
inline constexpr double kMostPct = 50.0;
// Share of the products in single precision from which a verdict that is fine says why it is.
inline constexpr double kWorthSayingPct = 10.0;
// Share of the kernel time from which a module is named.
inline constexpr double kNamedModulePct = 5.0;

// ---- the graph ----------------------------------------------------------------------------------
// A stretch without operator or call longer than what the interpreter needs between two of them
// (5 to 50 us, twice that with stacks recorded) is Python's own work.
inline constexpr std::int64_t kLongPythonNs = 200'000;
// One thread standing for less than this does not wait for another.
inline constexpr std::int64_t kHandOverNs = 30'000;
// … and the other must begin and stop within the first and last third of it, and be busy for one.
inline constexpr std::int64_t kHandOverSlack = 3;
// A pause of a worker thread shorter than this is its own work.
inline constexpr std::int64_t kReleaseNs = 20'000;
// Device and host clocks agree to a few microseconds.
inline constexpr std::int64_t kClockSkewNs = 5'000;
// A delay of device work beyond its launch and its stream that no launch latency explains.
inline constexpr std::int64_t kUnexplainedNs = 30'000;
// Work that starts this soon after other work of its device, and late for its launch, waited for
// it: an event's way from stream to stream takes 2 to 10 us, on an MI300X 17 to 18.
inline constexpr std::int64_t kCrossStreamNs = 25'000;
// With so much given to a device and not done, a launch that takes long waits for room in its
// queue: that holds about a thousand launches, fewer of many arguments.
inline constexpr std::int64_t kFullQueue = 256;
// Usual distance of a launch and of two queued kernels where the trace has too few to measure it.
inline constexpr std::int64_t kUsualLaunchNs = 5'000;
inline constexpr std::int64_t kUsualGapNs = 1'000;

}  // namespace traceglass
