// A window's events -> slices of a Trace, in the words and arguments of torch's own profiles.
//
// Which are in the window: calls that began in it; device work whose call did, or that began in it
// itself. Work still under way at the end may end after the window.
#pragma once

#include <memory>
#include <vector>

#include "libtrace/cupti/device_info.h"
#include "libtrace/cupti/event_log.h"
#include "libtrace/record/device_source.h"

namespace libtrace::cupti {

// Adds devices, memory and names to the builder at once, hands out the rest. All references
// outlive the result. `own_clock`: times are of the recorder's clock, not the wall's.
std::unique_ptr<detail::DeviceRows> make_rows(const EventLog& log,
                                              const std::vector<DeviceInfo>& devices,
                                              bool own_clock, TraceBuilder& builder,
                                              const detail::DeviceFrame& frame);

}  // namespace libtrace::cupti
