// Texts of one table cell: torch's units, and hostile names made harmless.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace libtrace {

// "1.500ms" by size, or in the unit asked for: "s", "ms", "us".
std::string time_text(double us, std::string_view unit = {});
// "12.34%"; "NaN" of nothing.
std::string share_text(double part, double whole);
// "-1.50 KB", "12 B": binary units up to GB.
std::string memory_text(std::int64_t bytes);

// The unit of a column of FLOPs, by its smallest positive value.
struct FlopsUnit {
  double scale = 1;
  const char* name = "FLOPs";  // "KFLOPs", …
};
FlopsUnit flops_unit(std::int64_t smallest);

// One line of valid UTF-8: control characters become blanks, broken bytes U+FFFD.
std::string one_line(std::string_view text);

// Lengths and cuts in code points, as Python counts; for valid UTF-8.
std::size_t text_length(std::string_view text) noexcept;
// Python's text[:n]; a negative n leaves out that many at the end.
std::string_view text_prefix(std::string_view text, std::int64_t n) noexcept;
// The last `width` code points, "..." in place of the first three when something is cut.
std::string text_tail(std::string_view text, std::size_t width);

}  // namespace libtrace
