// A user's scope as it shows on the device: from the first to the last piece of work, on one
// stream, that was launched inside it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "libtrace/cupti/event_log.h"
#include "libtrace/cupti/placement.h"

namespace libtrace::cupti {

struct DeviceScope {
  std::int64_t start = 0, end = 0;  // ns after the base
  StringId name = 0;
  std::int64_t external_id = 0;
  std::uint32_t device = 0, stream = 0;
};

std::vector<DeviceScope> device_scopes(std::span<const detail::HostScope> scopes,
                                       const EventLog& log, const Launches& launches,
                                       const WindowTime& time);

}  // namespace libtrace::cupti
