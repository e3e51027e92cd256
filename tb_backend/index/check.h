// Whether columns from a file are those of a trace: every id points at something, every time is
// one, every link means what a Trace promises. After this nobody needs to look again.
#pragma once

#include <string>

#include "libtrace/trace.h"

namespace traceglass::index {

// "" or what is wrong. Columns of slices have one size. One pass, by several threads. Arguments are
// not read: whoever does is bounded by their end (model/args.h).
std::string fault_of(const libtrace::TraceData& data);

}  // namespace traceglass::index
