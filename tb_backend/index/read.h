// An index file to a trace whose columns are the mapped file.
#pragma once

#include <filesystem>
#include <string>

#include "libtrace/trace.h"
#include "tb_backend/index/layout.h"

namespace traceglass::index {

struct Opened {
  libtrace::TracePtr trace;  // or null
  std::string refusal;       // why a file was not taken; "" where none can be opened
  bool outdated = false;     // refused because the trace file, or this program, has changed since
};

// Takes the file only if it is whole, of this program's format and meaning, of `source` with
// `key`, and holds what a trace can hold. Any other bytes are refused, whoever wrote them.
Opened open_index(const std::filesystem::path& file, const std::string& source, const Key& key);

}  // namespace traceglass::index
