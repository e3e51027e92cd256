// A trace to an index file.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "libtrace/trace.h"
#include "tb_backend/index/layout.h"

namespace traceglass::index {

// Writes `file`, which must not exist, of the trace that was read from `source` when that had
// `key`. "" or why not; then no file is left. `keep_on` is asked every few megabytes.
std::string write_index(const std::filesystem::path& file, const std::string& source,
                        const Key& key, const libtrace::Trace& trace,
                        const std::function<bool()>& keep_on);

}  // namespace traceglass::index
