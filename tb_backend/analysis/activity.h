// When a trace was busy with what: the interval sets that breakdown, devices and communication
// are made of, and the one list of devices.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "libtrace/model/intervals.h"
#include "libtrace/trace.h"

namespace traceglass {

struct DeviceActivity {
  std::string type;  // cuda (AMD too), mtia, xpu
  std::int64_t id = 0;
  std::string name;                                        // from deviceProperties, else ""
  const libtrace::DeviceProperties* properties = nullptr;  // of the trace
  std::vector<libtrace::EventId> work;                     // unsuspect device work, by start
  libtrace::Intervals busy;                                // union of `work`
};

// Devices with device work, by (type, id).
std::vector<DeviceActivity> find_devices(const libtrace::Trace& trace);

// Step-time categories in order of priority: an instant belongs to the first that is active.
enum class Category : std::uint8_t {
  kKernel,
  kMemcpy,
  kMemset,
  kCommunication,
  kRuntime,
  kDataLoader,
  kCpu,
  kOther,
};
inline constexpr int kCategoryCount = 8;

struct Breakdown {
  std::int64_t ns[kCategoryCount] = {};
  [[nodiscard]] std::int64_t of(Category c) const { return ns[static_cast<int>(c)]; }
  [[nodiscard]] std::int64_t total() const;
};

struct Communication {
  std::int64_t total_ns = 0;    // union of all collectives
  std::int64_t exposed_ns = 0;  // … in which no other kernel runs
};

class BreakdownMaker {
 public:
  explicit BreakdownMaker(const libtrace::Trace& trace);
  // The parts of `range`; they sum to its length.
  [[nodiscard]] Breakdown of(libtrace::TimeRange range) const;
  [[nodiscard]] Communication communication() const { return communication_; }

 private:
  std::vector<libtrace::Measure> exclusive_;  // by category, without kOther
  Communication communication_;
};

}  // namespace traceglass
