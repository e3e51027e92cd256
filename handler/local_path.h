// Whether a path names a place on this machine, as far as its text tells.
#pragma once

#include <filesystem>

#include "libtrace/status.h"

namespace libtrace {

// Not ok: empty, with a NUL, or of the kind "s3://bucket/folder", which would become a folder
// called "s3:".
Status check_local_path(const std::filesystem::path& path);

}  // namespace libtrace
