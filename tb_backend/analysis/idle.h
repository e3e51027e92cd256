// Why each device was idle: every gap in the union of its streams, by what the thread that
// launched the next piece of work did meanwhile.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tb_backend/analysis/step_graph.h"

namespace traceglass {

enum class IdleCause : std::uint8_t {
  kDataLoading,
  kSynchronization,  // in a call that waits for the device, or refilling what it drained
  kLaunch,           // in operators and calls on the way to the next launch
  kMemory,           // in cudaMalloc, cudaFree
  kPython,           // in a long stretch without any operator or call
  kCommunication,    // in a collective of the host
  kUnknown,
};
inline constexpr int kIdleCauseCount = 7;
std::string_view idle_cause_name(IdleCause cause);

// A gap, or the part of one with one cause.
struct IdleGap {
  std::int64_t start = 0, end = 0;
  IdleCause cause = IdleCause::kUnknown;
  libtrace::EventId blame = libtrace::kNone;  // host slice that took most of it
  libtrace::EventId next = libtrace::kNone;   // device work that ended the gap
};

struct DeviceIdle {
  std::string type;
  std::int64_t id = 0;
  std::string name;
  std::int64_t idle_ns = 0;
  std::array<std::int64_t, kIdleCauseCount> by_cause{};  // sums to idle_ns
  // Of kLaunch: the work had long been given to the device, which took that time between two.
  std::int64_t queued_ns = 0;
  // Before the recording's first work on the device, in a trace that begins with the selection: the
  // queue was empty because nothing had been recorded yet. Contained in by_cause.
  std::array<std::int64_t, kIdleCauseCount> lead_in{};
  std::vector<IdleGap> gaps;  // by time, without overlap
  // Host names active while work was launched late, largest first.
  std::vector<std::pair<libtrace::StringId, std::int64_t>> late;
  // Those with any time, largest first.
  [[nodiscard]] std::vector<IdleCause> causes_by_size() const;
  [[nodiscard]] std::int64_t of(IdleCause c) const { return by_cause[static_cast<std::size_t>(c)]; }
};

// One entry a device with work, as find_devices orders them; within the chosen extended steps,
// without what lies between them.
std::vector<DeviceIdle> find_idle(const StepGraph& graph, const Selection& selection);
// The `count` longest, by time.
std::vector<IdleGap> longest_gaps(const std::vector<IdleGap>& gaps, std::size_t count);

}  // namespace traceglass
