#include "tb_backend/ingest/row_edges.h"

#include <algorithm>
#include <array>

namespace traceglass {
namespace {

constexpr std::size_t kTail = 64;  // the end of a document behind its rows fits in this

bool space(char c) noexcept { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

std::size_t behind_space(std::string_view text, std::size_t i) {
  while (i < text.size() && space(text[i])) ++i;
  return i;
}
// Position behind the last character before `i` that is no white space; 0 without one.
std::size_t before_space(std::string_view text, std::size_t i) {
  while (i > 0 && space(text[i - 1])) --i;
  return i;
}
bool is(std::string_view text, std::size_t i, char c) { return i < text.size() && text[i] == c; }
bool ends_with(std::string_view text, std::size_t end, char c) {
  return end > 0 && text[end - 1] == c;
}

// Whether text[brace] ('{') begins a row: one of the keys of a row follows.
bool begins_row(std::string_view text, std::size_t brace) {
  constexpr std::array<std::string_view, 10> kKeys = {"\"ph\"", "\"name\"", "\"cat\"", "\"args\"",
                                                      "\"ts\"", "\"pid\"",  "\"tid\"", "\"dur\"",
                                                      "\"id\"", "\"s\""};
  const std::string_view at = text.substr(behind_space(text, brace + 1));
  return std::any_of(kKeys.begin(), kKeys.end(),
                     [&](std::string_view key) { return at.starts_with(key); });
}

// Whether text[bracket] (']') ends the rows: a row before it, and behind it another key or the
// end of the document.
bool ends_rows(std::string_view text, std::size_t bracket, bool at_end) {
  if (!ends_with(text, before_space(text, bracket), '}')) return false;
  const std::size_t i = behind_space(text, bracket + 1);
  if (is(text, i, ',')) return is(text, behind_space(text, i + 1), '"');
  return at_end && is(text, i, '}') && text.size() - bracket < kTail;
}

}  // namespace

std::size_t last_cut(std::string_view text) {
  for (std::size_t brace = text.rfind('{'); brace != std::string_view::npos && brace > 0;
       brace = text.rfind('{', brace - 1)) {
    const std::size_t comma = before_space(text, brace);
    if (!ends_with(text, comma, ',')) continue;
    if (ends_with(text, before_space(text, comma - 1), '}') && begins_row(text, brace)) {
      return comma - 1;
    }
  }
  return std::string_view::npos;
}

std::size_t next_row(std::string_view text, bool at_end) {
  for (std::size_t i = text.find_first_of("{]"); i != std::string_view::npos;
       i = text.find_first_of("{]", i + 1)) {
    if (text[i] == ']' && ends_rows(text, i, at_end)) return i;
    if (text[i] == '{' && ends_with(text, before_space(text, i), ',') && begins_row(text, i)) {
      return i;
    }
  }
  return std::string_view::npos;
}

}  // namespace traceglass
