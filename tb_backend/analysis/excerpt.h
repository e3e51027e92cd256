// A part of a trace as a trace of its own, to hand on or to open elsewhere.
#pragma once

#include "libtrace/trace.h"

namespace traceglass {

// What happens in [range.start, range.end): whole slices that have a part in it, with the launches
// of its device work and the device work of its launches, wherever they lie; instants, memory
// events and arrows in it; all that the file says of itself. Times stay as they are.
libtrace::TracePtr excerpt(const libtrace::Trace& trace, libtrace::TimeRange range);

}  // namespace traceglass
