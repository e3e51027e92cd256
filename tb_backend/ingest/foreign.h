// Names files that are no traces for what they are.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace traceglass {

// From the first bytes of a file that does not begin as JSON does.
std::string describe_foreign_bytes(std::string_view begin);
// From a top-level key seen before any `traceEvents`: a sentence, or nullopt when it could be a
// trace.
std::optional<std::string> describe_foreign_key(std::string_view key);
// From the first element of a bare array.
std::string describe_foreign_array(std::string_view element);

}  // namespace traceglass
