#include "handler/json_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

#include "libtrace/model/utf8.h"

namespace libtrace {
namespace {

constexpr std::size_t kBlock = std::size_t{1} << 20;

// Bytes that can stand in a JSON string as they are; others are looked at.
constexpr std::array<bool, 256> kPlain = [] {
  std::array<bool, 256> plain{};
  for (std::size_t c = 0x20; c < 0x80; ++c) plain[c] = c != '"' && c != '\\';
  return plain;
}();

constexpr std::size_t kNumberBytes = 32;  // of the longest number

// Whether eight bytes can all stand in a string as they are. Each test leaves the top bit of a byte
// set that fails it, or of one behind such a byte: that one is looked at once more, no harm done.
bool all_plain(const char* bytes) noexcept {
  std::uint64_t v = 0;
  std::memcpy(&v, bytes, sizeof v);
  constexpr std::uint64_t kOnes = 0x0101'0101'0101'0101, kTops = 0x8080'8080'8080'8080;
  const auto zero_byte = [](std::uint64_t x) { return (x - kOnes) & ~x; };
  const std::uint64_t control = (v - kOnes * 0x20) & ~v;
  const std::uint64_t quote = zero_byte(v ^ kOnes * '"'), backslash = zero_byte(v ^ kOnes * '\\');
  return ((v | control | quote | backslash) & kTops) == 0;
}

// Written by a reader that keeps integers: no leading zero, no plus, no -0, within 64 bits.
bool is_canonical_integer(std::string_view text) {
  std::int64_t v = 0;
  const auto [p, error] = std::from_chars(text.data(), text.data() + text.size(), v);
  if (error != std::errc() || p != text.data() + text.size()) return false;
  const std::string_view digits = text.substr(text[0] == '-' ? 1 : 0);
  return digits[0] != '0' || text == "0";
}

}  // namespace

JsonText::JsonText(ByteSink& sink) : sink_(sink), block_(kBlock + kBlock / 8) {}

void JsonText::grow(std::size_t bytes) {
  block_.resize(std::max(used_ + bytes, block_.size() + block_.size() / 2));
}

template <class T>
void JsonText::number(T v) {
  char* const to = room(kNumberBytes);
  used_ += static_cast<std::size_t>(std::to_chars(to, to + kNumberBytes, v).ptr - to);
}

void JsonText::integer(std::int64_t v) { number(v); }
void JsonText::unsigned_integer(std::uint64_t v) { number(v); }

void JsonText::real(double v) {
  const std::size_t before = used_;
  number(v);
  const std::string_view text(block_.data() + before, used_ - before);
  if (text.find_first_of(".e") == std::string_view::npos) raw(".0");
}

void JsonText::microseconds(std::int64_t ns) {
  char* const start = room(kNumberBytes);
  char* to = start;
  auto magnitude = static_cast<std::uint64_t>(ns);
  if (ns < 0) {
    *to++ = '-';
    magnitude = 0 - magnitude;
  }
  to = std::to_chars(to, start + kNumberBytes, magnitude / 1000).ptr;
  const auto rest = static_cast<unsigned>(magnitude % 1000);
  *to++ = '.';
  *to++ = static_cast<char>('0' + rest / 100);
  *to++ = static_cast<char>('0' + rest / 10 % 10);
  *to++ = static_cast<char>('0' + rest % 10);
  used_ += static_cast<std::size_t>(to - start);
}

void JsonText::string(std::string_view s) {
  const char* p = s.data();
  const char* const end = p + s.size();
  while (end - p >= 8 && all_plain(p)) p += 8;
  while (p != end && kPlain[static_cast<unsigned char>(*p)]) ++p;
  const auto plain = static_cast<std::size_t>(p - s.data());
  char* const to = room(plain + 2);
  *to = '"';
  if (plain != 0) std::memcpy(to + 1, s.data(), plain);
  used_ += plain + 1;
  if (p != end) odd_characters(s.substr(plain));
  raw("\"");
}

void JsonText::odd_characters(std::string_view s) {
  constexpr std::string_view kHex = "0123456789abcdef";
  while (!s.empty()) {
    const auto plain = std::find_if(s.begin(), s.end(),
                                    [](char c) { return !kPlain[static_cast<unsigned char>(c)]; });
    raw(s.substr(0, static_cast<std::size_t>(plain - s.begin())));
    s.remove_prefix(static_cast<std::size_t>(plain - s.begin()));
    if (s.empty()) break;
    const auto c = static_cast<unsigned char>(s.front());
    std::size_t used = 1;
    if (c == '"' || c == '\\') {
      raw("\\");
      raw(s.substr(0, 1));
    } else if (c < 0x20) {
      raw("\\u00");
      raw(kHex.substr(c >> 4, 1));
      raw(kHex.substr(c & 15, 1));
    } else {
      const std::size_t n = utf8_sequence(s);
      raw(n == 0 ? kReplacement : s.substr(0, n));
      used = std::max<std::size_t>(n, 1);
    }
    s.remove_prefix(used);
  }
}

void JsonText::value(const Value& v) {
  switch (v.type) {
    case Value::Type::kNull:
      return raw("null");
    case Value::Type::kBool:
      return raw(v.i != 0 ? "true" : "false");
    case Value::Type::kInt:
      return integer(v.i);
    case Value::Type::kUint:
      return unsigned_integer(v.u);
    case Value::Type::kDouble:
      return real(v.d);
    case Value::Type::kString:
      return string(v.text);
    case Value::Type::kJson:
      return raw(v.text);
  }
}

void JsonText::id(std::string_view text) {
  if (!text.empty() && is_canonical_integer(text)) {
    raw(text);
  } else {
    string(text);
  }
}

void JsonText::flush_if_large() {
  if (used_ >= kBlock) flush();
}

void JsonText::flush() {
  if (status_.ok()) status_ = sink_.write({block_.data(), used_});
  used_ = 0;
}

Status JsonText::finish() {
  flush();
  return status_.ok() ? sink_.finish() : status_;
}

}  // namespace libtrace
