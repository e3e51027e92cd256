// The little JSON the recorder itself needs: to quote a text, to check one that a user passes on.
#pragma once

#include <string>
#include <string_view>

namespace libtrace::detail {

// `text` with every byte that is no valid UTF-8 replaced by U+FFFD.
std::string valid_utf8(std::string_view text);
// A JSON string of it, quotes included.
std::string json_quoted(std::string_view text);
// `text` is exactly one JSON value (RFC 8259), nested at most 256 deep.
bool is_json(std::string_view text) noexcept;

}  // namespace libtrace::detail
