#include "tb_backend/api/markdown.h"

#include <algorithm>
#include <string_view>

#include "tb_backend/api/terminal_text.h"

namespace traceglass {

std::string markdown_text(const std::string& text) {
  std::string out;
  for (const char c : printable(text)) {
    if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '@') {
      out += "&#64;";  // names nobody
    } else {
      if (std::string_view("\\`*_{}[]()#+-.!|~:").find(c) != std::string_view::npos) out += '\\';
      out += c;
    }
  }
  return out;
}

// A backtick would end it, a bar the cell, whatever is escaped.
std::string markdown_code(const std::string& text, std::size_t width) {
  std::string out = shortened(printable(text), width);
  std::replace(out.begin(), out.end(), '`', '\'');
  for (std::size_t at = 0; (at = out.find('|', at)) != std::string::npos; at += 3) {
    out.replace(at, 1, "\xE2\x88\xA3");  // a stroke that looks like it
  }
  if (out.find_first_not_of(' ') == std::string::npos) out = "(no name)";
  return '`' + out + '`';
}

}  // namespace traceglass
