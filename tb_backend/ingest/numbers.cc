#include "tb_backend/ingest/numbers.h"

#include <charconv>
#include <cmath>

namespace traceglass {
namespace {

bool digit(char c) noexcept { return c >= '0' && c <= '9'; }

std::optional<std::int64_t> parse_exponent_form(std::string_view text) noexcept {
  double us = 0;
  const char* end = text.data() + text.size();
  const auto [p, error] = std::from_chars(text.data(), end, us);
  if (error != std::errc() || p != end || !std::isfinite(us)) return std::nullopt;
  const double ns = us * 1000;
  if (std::abs(ns) >= static_cast<double>(kMaxNs)) return ns < 0 ? -kMaxNs : kMaxNs;
  return static_cast<std::int64_t>(std::llround(ns));
}

}  // namespace

std::optional<std::int64_t> parse_us_as_ns(std::string_view text) noexcept {
  const char* p = text.data();
  const char* const end = p + text.size();
  const bool negative = p != end && *p == '-';
  if (negative) ++p;
  if (p == end || !digit(*p)) return std::nullopt;
  std::int64_t ns = 0;
  bool huge = false;
  for (; p != end && digit(*p); ++p) {
    huge = huge || ns >= kMaxNs / 10'000;
    if (!huge) ns = ns * 10 + (*p - '0');
  }
  ns = huge ? kMaxNs : ns * 1000;
  if (p != end && *p == '.') {
    ++p;
    if (p == end || !digit(*p)) return std::nullopt;
    for (std::int64_t scale = 100; p != end && digit(*p); ++p, scale /= 10)
      ns += (*p - '0') * scale;
  }
  if (p != end) {
    if (*p == 'e' || *p == 'E') return parse_exponent_form(text);
    return std::nullopt;
  }
  if (ns > kMaxNs) ns = kMaxNs;
  return negative ? -ns : ns;
}

bool json_number(std::string_view token, libtrace::Value& out) noexcept {
  using libtrace::Value;
  const char* begin = token.data();
  const char* end = begin + token.size();
  const bool negative = token[0] == '-' && token.size() > 1;
  if (!digit(begin[negative ? 1 : 0])) return false;
  // Most are short integers.
  if (token.size() <= 18) {
    std::int64_t n = 0;
    const char* p = begin + (negative ? 1 : 0);
    while (p != end && digit(*p)) n = n * 10 + (*p++ - '0');
    if (p == end) {
      out = Value::integer(negative ? -n : n);
      return true;
    }
  }
  std::int64_t i = 0;
  if (auto [p, e] = std::from_chars(begin, end, i); e == std::errc() && p == end) {
    out = Value::integer(i);
    return true;
  }
  std::uint64_t u = 0;
  if (auto [p, e] = std::from_chars(begin, end, u); e == std::errc() && p == end) {
    out = Value::uinteger(u);
    return true;
  }
  double d = 0;
  const auto [p, e] = std::from_chars(begin, end, d);
  if (p != end) return false;
  out = e == std::errc() && std::isfinite(d) ? Value::real(d) : Value::null();
  return true;
}

}  // namespace traceglass
