// The words of a JSON string, for sentences: quotes and escapes taken off, \u… left as written.
#pragma once

#include <string>
#include <string_view>

namespace libtrace {

inline std::string plain_text(std::string_view json) {
  if (json.size() < 2 || json.front() != '"') return std::string(json);
  json = json.substr(1, json.size() - 2);
  std::string out;
  for (std::size_t i = 0; i < json.size(); ++i) {
    if (json[i] != '\\' || i + 1 == json.size()) {
      out += json[i];
      continue;
    }
    const char c = json[++i];
    if (c == 'n' || c == 't' || c == 'r') {
      out += ' ';
    } else if (c == '"' || c == '\\' || c == '/') {
      out += c;
    } else {
      out.append(1, '\\').append(1, c);
    }
  }
  return out;
}

}  // namespace libtrace
