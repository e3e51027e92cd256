// Which device a slice ran on.
#pragma once

#include <cstdint>
#include <optional>

#include "libtrace/trace.h"

namespace libtrace {

// `device` argument, else the integer pid, else (legacy array) the integer tid, else nullopt.
std::optional<std::int64_t> device_id(const Trace& trace, EventId e);

}  // namespace libtrace
