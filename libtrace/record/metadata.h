// Top-level keys of a trace, and which of them a user may set.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "libtrace/profile.h"
#include "libtrace/status.h"

namespace libtrace::detail {

using Metadata = std::vector<std::pair<std::string, std::string>>;  // key, JSON text

// In its place if known, else at the end.
void set_metadata(Metadata& metadata, std::string_view key, std::string_view json);
// Has a meaning of its own, or is the recorder's to fill in.
bool is_reserved_key(std::string_view key) noexcept;
Status check_metadata(std::string_view key, std::string_view json);

// What every trace of a profile says of itself, before the user's own keys.
Metadata standard_metadata(const Options& options, std::string_view trace_id);
std::string random_trace_id();

}  // namespace libtrace::detail
