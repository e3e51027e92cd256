#include "libtrace/averages/cell.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "libtrace/model/utf8.h"

namespace libtrace {
namespace {

std::string fixed(double value, int digits, const char* unit) {
  char text[400];  // the largest double has 309 digits before its point
  const int n = std::snprintf(text, sizeof text, "%.*f%s", digits, value, unit);
  return {text, static_cast<std::size_t>(n)};
}

constexpr bool is_continuation(char c) noexcept {
  return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
}

// Bytes of the first `n` code points; all when there are fewer.
std::size_t bytes_of(std::string_view text, std::size_t n) noexcept {
  std::size_t i = 0;
  for (; i < text.size(); ++i) {
    if (!is_continuation(text[i]) && n-- == 0) break;
  }
  return i;
}

}  // namespace

std::string time_text(double us, std::string_view unit) {
  if (unit == "s" || (unit.empty() && us >= 1e6)) return fixed(us / 1e6, 3, "s");
  if (unit == "ms" || (unit.empty() && us >= 1e3)) return fixed(us / 1e3, 3, "ms");
  return fixed(us, 3, "us");
}

std::string share_text(double part, double whole) {
  return whole == 0 ? "NaN" : fixed(part * 100 / whole, 2, "%");
}

std::string memory_text(std::int64_t bytes) {
  constexpr double kKb = 1024, kMb = 1024 * kKb, kGb = 1024 * kMb;
  const auto value = static_cast<double>(bytes);
  if (std::abs(value) >= kGb) return fixed(value / kGb, 2, " GB");
  if (std::abs(value) >= kMb) return fixed(value / kMb, 2, " MB");
  if (std::abs(value) >= kKb) return fixed(value / kKb, 2, " KB");
  return std::to_string(bytes) + " B";
}

FlopsUnit flops_unit(std::int64_t smallest) {
  constexpr FlopsUnit kUnits[] = {{1, "FLOPs"},     {1e-3, "KFLOPs"},  {1e-6, "MFLOPs"},
                                  {1e-9, "GFLOPs"}, {1e-12, "TFLOPs"}, {1e-15, "PFLOPs"}};
  const double thousands = std::log10(static_cast<double>(std::max<std::int64_t>(smallest, 1))) / 3;
  return kUnits[static_cast<std::size_t>(std::min(thousands, 5.0))];
}

std::string one_line(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t n = utf8_sequence(text);
    const auto first = static_cast<unsigned char>(text[0]);
    // C0, DEL, C1 (U+0080 to U+009F) and the two separators of lines, U+2028 and U+2029.
    const bool control =
        (n == 1 && (first < 0x20 || first == 0x7F)) ||
        (n == 2 && first == 0xC2 && static_cast<unsigned char>(text[1]) < 0xA0) ||
        (n == 3 && (text.substr(0, 3) == "\xE2\x80\xA8" || text.substr(0, 3) == "\xE2\x80\xA9"));
    if (n == 0) {
      out += kReplacement;
    } else if (control) {
      out += ' ';
    } else {
      out.append(text, 0, n);
    }
    text.remove_prefix(std::max<std::size_t>(n, 1));
  }
  return out;
}

std::size_t text_length(std::string_view text) noexcept {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return !is_continuation(c); }));
}

std::string_view text_prefix(std::string_view text, std::int64_t n) noexcept {
  if (n < 0) n = std::max<std::int64_t>(0, static_cast<std::int64_t>(text_length(text)) + n);
  return text.substr(0, bytes_of(text, static_cast<std::size_t>(n)));
}

std::string text_tail(std::string_view text, std::size_t width) {
  const std::size_t length = text_length(text);
  if (length <= width) return std::string(text);
  text.remove_prefix(bytes_of(text, length - width));
  if (width <= 3) return std::string(text);
  return "..." + std::string(text.substr(bytes_of(text, 3)));
}

}  // namespace libtrace
