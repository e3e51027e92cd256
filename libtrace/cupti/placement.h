// Which events belong to the window, and which call of the CUDA API each piece of work came from.
#pragma once

#include <cstdint>
#include <vector>

#include "libtrace/cupti/event_log.h"
#include "libtrace/record/device_source.h"

namespace libtrace::cupti {

// CUPTI's times -> ns after the base.
class WindowTime {
 public:
  WindowTime(const detail::DeviceFrame& frame, bool own_clock) noexcept;
  [[nodiscard]] std::int64_t of(std::uint64_t ns) const noexcept;
  [[nodiscard]] bool in_window(std::uint64_t ns) const noexcept {
    const std::int64_t at = of(ns);
    return at >= start_ && at <= end_;
  }

 private:
  const ClockMap& clock_;
  bool own_clock_;
  std::int64_t base_, start_, end_;
};

// By index of EventLog::calls: it began in the window, and is no driver call that a runtime call
// made for itself.
std::vector<bool> calls_of_window(const EventLog& log, const WindowTime& time);

// Calls in the window by correlation id.
class Launches {
 public:
  Launches(const EventLog& log, const std::vector<bool>& in_window);
  // nullptr: no such call in the window.
  [[nodiscard]] const CallEvent* find(std::uint32_t correlation) const noexcept;

 private:
  std::vector<const CallEvent*> calls_;  // by correlation
};

}  // namespace libtrace::cupti
