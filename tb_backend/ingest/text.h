// Strings of a JSON text as people meant them: escapes, the escapes that Kineto on Windows never
// wrote, bytes that are not UTF-8.
#pragma once

#include <string>
#include <string_view>

namespace traceglass {

// Decodes the inside of a JSON string (without its quotes) into `out`. Returns true when the text
// was not what JSON's rules give: a raw string (an invalid escape, or an escape in the path
// before ".py(") keeps every backslash; bytes that are not UTF-8 become U+FFFD; raw control
// characters are kept.
bool decode_string(std::string_view inside, std::string& out);

// Appends `text` (UTF-8) as a JSON string with its quotes.
void append_quoted(std::string& out, std::string_view text);

}  // namespace traceglass
