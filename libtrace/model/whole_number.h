// Text that is a decimal integer and nothing else.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>
#include <system_error>

namespace libtrace {

// nullopt for anything else, blanks, a plus and what does not fit included.
template <typename Number = std::int64_t>
std::optional<Number> whole_number(std::string_view text) {
  Number n{};
  const char* end = text.data() + text.size();
  const auto [p, error] = std::from_chars(text.data(), end, n);
  if (error != std::errc() || p != end) return std::nullopt;
  return n;
}

}  // namespace libtrace
