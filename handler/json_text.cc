#include "handler/json_text.h"

#include <algorithm>
#include <array>
#include <charconv>

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

template <class T>
void append_number(std::string& out, T v) {
  std::array<char, 32> buffer;
  const auto result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), v);
  out.append(buffer.data(), result.ptr);
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

JsonText::JsonText(ByteSink& sink) : sink_(sink) { text_.reserve(kBlock + kBlock / 8); }

void JsonText::integer(std::int64_t v) { append_number(text_, v); }
void JsonText::unsigned_integer(std::uint64_t v) { append_number(text_, v); }

void JsonText::real(double v) {
  const std::size_t before = text_.size();
  append_number(text_, v);
  if (text_.find_first_of(".e", before) == std::string::npos) text_ += ".0";
}

void JsonText::microseconds(std::int64_t ns) {
  auto magnitude = static_cast<std::uint64_t>(ns);
  if (ns < 0) {
    text_ += '-';
    magnitude = 0 - magnitude;
  }
  append_number(text_, magnitude / 1000);
  const auto rest = static_cast<unsigned>(magnitude % 1000);
  text_ += '.';
  text_ += static_cast<char>('0' + rest / 100);
  text_ += static_cast<char>('0' + rest / 10 % 10);
  text_ += static_cast<char>('0' + rest % 10);
}

void JsonText::string(std::string_view s) {
  constexpr std::string_view kHex = "0123456789abcdef";
  text_ += '"';
  while (!s.empty()) {
    const auto plain = std::find_if(s.begin(), s.end(),
                                    [](char c) { return !kPlain[static_cast<unsigned char>(c)]; });
    text_.append(s.begin(), plain);
    s.remove_prefix(static_cast<std::size_t>(plain - s.begin()));
    if (s.empty()) break;
    const auto c = static_cast<unsigned char>(s.front());
    std::size_t used = 1;
    if (c == '"' || c == '\\') {
      text_ += '\\';
      text_ += s.front();
    } else if (c < 0x20) {
      text_ += "\\u00";
      text_ += kHex[c >> 4];
      text_ += kHex[c & 15];
    } else {
      const std::size_t n = utf8_sequence(s);
      text_ += n == 0 ? kReplacement : s.substr(0, n);
      used = std::max<std::size_t>(n, 1);
    }
    s.remove_prefix(used);
  }
  text_ += '"';
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
  if (text_.size() >= kBlock) flush();
}

void JsonText::flush() {
  if (status_.ok()) status_ = sink_.write(text_);
  text_.clear();
}

Status JsonText::finish() {
  flush();
  return status_.ok() ? sink_.finish() : status_;
}

}  // namespace libtrace
