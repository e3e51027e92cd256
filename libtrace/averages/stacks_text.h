// Lines for flame graphs of an event's stack and self time.
#pragma once

#include <string>
#include <string_view>

#include "libtrace/trace.h"

namespace libtrace {

// One line an event that has a stack and at least 1 us: frames from the outermost on, joined by
// ";", a blank, whole us. Throws std::invalid_argument for an unknown metric, and for a trace
// recorded without stacks.
std::string stacks_text(const Trace& trace, std::string_view metric);

}  // namespace libtrace
