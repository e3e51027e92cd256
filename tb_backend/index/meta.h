// What a trace holds besides columns, as bytes: lanes, devices, metadata, its report.
#pragma once

#include <string>
#include <string_view>

#include "libtrace/trace.h"

namespace traceglass::index {

std::string write_meta(const libtrace::TraceData& data);

// False: the bytes are no such thing; `data` is then of no use.
bool read_meta(std::string_view bytes, libtrace::TraceData& data);

}  // namespace traceglass::index
