// Which device a slice ran on, and what device types are called.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "libtrace/trace.h"

namespace libtrace {

// `device` argument, else the integer pid, else (legacy array) the integer tid, else nullopt.
std::optional<std::int64_t> device_id(const Trace& trace, EventId e);

// Name of a c10::DeviceType number: "cpu", "cuda", …
std::string memory_device_type(std::int32_t number);

}  // namespace libtrace
