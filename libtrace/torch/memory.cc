#include "libtrace/torch/memory.h"

#include <c10/core/Allocator.h>
#include <c10/util/ThreadLocalDebugInfo.h>
#include <torch/csrc/profiler/orchestration/observer.h>

#include <cstdint>
#include <exception>
#include <memory>

#include "libtrace/range.h"

namespace libtrace::torch_adapter {
namespace {

namespace torch_profiler = torch::profiler::impl;
using c10::ThreadLocalDebugInfo;
using Place = c10::DebugInfoKind;

// Totals are int64_t in torch 1.13 and size_t in 2.x: whatever the installed one declares.
template <class T>
T total_of(void (c10::MemoryReportingInfoBase::*)(void*, std::int64_t, T, T, c10::Device));
using Total = decltype(total_of(&c10::MemoryReportingInfoBase::reportMemoryUsage));

// Torch takes whatever stands in this place for the state of a profiler; ours is one that is off.
class Reporter final : public torch_profiler::ProfilerStateBase {
 public:
  Reporter()
      : ProfilerStateBase(torch_profiler::ProfilerConfig(torch_profiler::ProfilerState::Disabled)) {
  }

  torch_profiler::ActiveProfilerType profilerType() override {
    return torch_profiler::ActiveProfilerType::NONE;
  }
  bool memoryProfilingEnabled() const override { return wants(Detail::kMemory); }

  void reportMemoryUsage(void* address, std::int64_t bytes, Total allocated, Total reserved,
                         c10::Device device) override {
    MemoryReport report = report_of(bytes, allocated, reserved, device);
    report.address = reinterpret_cast<std::uintptr_t>(address);
    report_memory(report);
  }
  void reportOutOfMemory(std::int64_t bytes, Total allocated, Total reserved,
                         c10::Device device) override {
    MemoryReport report = report_of(bytes, allocated, reserved, device);
    report.out_of_memory = true;
    report_memory(report);
  }

 private:
  static MemoryReport report_of(std::int64_t bytes, Total allocated, Total reserved,
                                c10::Device device) noexcept {
    MemoryReport report;
    report.bytes = bytes;
    report.total_allocated = static_cast<std::int64_t>(allocated);
    report.total_reserved = static_cast<std::int64_t>(reserved);
    report.device_type = static_cast<std::int32_t>(device.type());
    report.device_index = std::int32_t{device.index()};  // -1: none
    return report;
  }
};

// Never destroyed: threads hold it in their state until they end.
const std::shared_ptr<Reporter>& reporter() {
  static const auto* const one = new std::shared_ptr<Reporter>(std::make_shared<Reporter>());
  return *one;
}

}  // namespace

bool watch_memory_here() {
  const c10::DebugInfoBase* const there = ThreadLocalDebugInfo::get(Place::PROFILER_STATE);
  if (there != nullptr) return there == reporter().get();
  ThreadLocalDebugInfo::_push(Place::PROFILER_STATE, reporter());
  return true;
}

void leave_memory_here() noexcept {
  try {
    // Throws when something of another kind stands above it.
    if (ThreadLocalDebugInfo::get(Place::PROFILER_STATE) == reporter().get())
      ThreadLocalDebugInfo::_pop(Place::PROFILER_STATE);
  } catch (const std::exception&) {
    return;  // it stays, and reports nothing while no window is open
  }
}

bool torch_profiles_here() { return torch_profiler::profilerEnabled(); }

}  // namespace libtrace::torch_adapter
