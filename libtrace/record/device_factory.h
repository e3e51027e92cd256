// Where a Profiler gets its device source from: the build's own, or a test's.
#pragma once

#include <memory>

#include "libtrace/record/device_source.h"

namespace libtrace::detail {

using DeviceFactory = std::unique_ptr<DeviceSource> (*)();

// nullptr: nothing here knows a device.
std::unique_ptr<DeviceSource> new_device_source();
// For tests: Profilers made from now on ask this one; nullptr brings the build's own back.
void set_device_factory(DeviceFactory factory) noexcept;

}  // namespace libtrace::detail
