#include "tb_backend/api/csv.h"

#include <string_view>

namespace traceglass {

std::string csv_field(std::string text) {
  // Spreadsheets run a leading one of these as a formula.
  if (!text.empty() && std::string_view("=+-@\t\r").find(text[0]) != std::string_view::npos) {
    text.insert(0, "'");
  }
  // Readers of CSV end at a NUL.
  for (std::size_t at = 0; (at = text.find('\0', at)) != std::string::npos;) {
    text.replace(at, 1, "\xEF\xBF\xBD");
  }
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    quoted += c;
    if (c == '"') quoted += c;
  }
  return quoted + "\"";
}

}  // namespace traceglass
