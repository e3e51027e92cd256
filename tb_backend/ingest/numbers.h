// Decimal text to integers, never through a double: at 1.7e15 us a double is 250 ns wide.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "libtrace/event.h"

namespace traceglass {

// Bounds every time we keep, so that sums of two never overflow.
inline constexpr std::int64_t kMaxNs = std::int64_t{1} << 61;

// `text` in us ("1700.376", "-3.5", "12") as ns; digits beyond the third decimal are dropped,
// exponents are understood. nullopt when it is no number.
std::optional<std::int64_t> parse_us_as_ns(std::string_view text) noexcept;

// A number of JSON as an integer, else as a finite double, else (1e999) as null; false when it is
// none.
bool json_number(std::string_view token, libtrace::Value& out) noexcept;

}  // namespace traceglass
