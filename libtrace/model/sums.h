// Sums of what a trace claims: a hostile one may claim more than 63 bits hold, and then they stop
// at the bound instead of leaving the language.
#pragma once

#include <cstdint>

namespace libtrace {

constexpr std::int64_t plus(std::int64_t a, std::int64_t b) noexcept {
  std::int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return b > 0 ? INT64_MAX : INT64_MIN;
}

constexpr std::int64_t minus(std::int64_t a, std::int64_t b) noexcept {
  std::int64_t difference = 0;
  if (!__builtin_sub_overflow(a, b, &difference)) return difference;
  return b < 0 ? INT64_MAX : INT64_MIN;
}

constexpr void add(std::int64_t& sum, std::int64_t value) noexcept { sum = plus(sum, value); }

}  // namespace libtrace
