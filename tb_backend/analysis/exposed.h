// The part of communication that a step waits for.
#pragma once

#include "libtrace/model/intervals.h"
#include "libtrace/trace.h"

namespace traceglass {

// When collectives run and no other kernel does: its length is Communication::exposed_ns.
libtrace::Intervals exposed_communication(const libtrace::Trace& trace);

}  // namespace traceglass
