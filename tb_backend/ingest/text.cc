#include "tb_backend/ingest/text.h"

#include <cstdint>

namespace traceglass {
namespace {

int hex(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// Four hex digits at `i`, or -1.
int unit(std::string_view s, std::size_t i) noexcept {
  if (i + 4 > s.size()) return -1;
  int value = 0;
  for (std::size_t j = i; j < i + 4; ++j) {
    if (hex(s[j]) < 0) return -1;
    value = value * 16 + hex(s[j]);
  }
  return value;
}

bool is_raw(std::string_view s) noexcept {
  const std::size_t script = s.find(".py(");
  for (std::size_t i = 0; i + 1 <= s.size(); ++i) {
    if (s[i] != '\\') continue;
    if (i + 1 == s.size()) return true;
    const char c = s[i + 1];
    const bool before_script = script != std::string_view::npos && i < script;
    switch (c) {
      case '"':
      case '\\':
      case '/':
        break;
      case 'b':
      case 'f':
      case 'n':
      case 'r':
      case 't':
        if (before_script) return true;
        break;
      case 'u':
        if (unit(s, i + 2) < 0) return true;
        break;
      default:
        return true;
    }
    ++i;
  }
  return false;
}

void append_code_point(std::string& out, std::uint32_t c) {
  const auto put = [&](std::uint32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (c < 0x80) {
    put(c);
  } else if (c < 0x800) {
    put(0xC0 | c >> 6);
    put(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    put(0xE0 | c >> 12);
    put(0x80 | (c >> 6 & 0x3F));
    put(0x80 | (c & 0x3F));
  } else {
    put(0xF0 | c >> 18);
    put(0x80 | (c >> 12 & 0x3F));
    put(0x80 | (c >> 6 & 0x3F));
    put(0x80 | (c & 0x3F));
  }
}

// Length of the valid UTF-8 sequence at `i`, 0 when there is none.
std::size_t sequence_length(std::string_view s, std::size_t i) noexcept {
  const auto byte = [&](std::size_t j) {
    return j < s.size() ? static_cast<unsigned char>(s[j]) : 0U;
  };
  const auto follows = [&](std::size_t n) {
    for (std::size_t j = 1; j <= n; ++j) {
      if ((byte(i + j) & 0xC0U) != 0x80U) return false;
    }
    return true;
  };
  const unsigned c = byte(i), d = byte(i + 1);
  if (c < 0x80) return 1;
  if (c >= 0xC2 && c <= 0xDF && follows(1)) return 2;
  if (c >= 0xE0 && c <= 0xEF && follows(2) && !(c == 0xE0 && d < 0xA0) &&
      !(c == 0xED && d > 0x9F)) {
    return 3;
  }
  if (c >= 0xF0 && c <= 0xF4 && follows(3) && !(c == 0xF0 && d < 0x90) &&
      !(c == 0xF4 && d > 0x8F)) {
    return 4;
  }
  return 0;
}

// One escape at `i` (a backslash) of a string that is not raw; returns its length. Half a pair of
// surrogates is no character: `lone` is set.
std::size_t append_escape(std::string_view s, std::size_t i, std::string& out, bool& lone) {
  switch (s[i + 1]) {
    case 'b':
      out.push_back('\b');
      return 2;
    case 'f':
      out.push_back('\f');
      return 2;
    case 'n':
      out.push_back('\n');
      return 2;
    case 'r':
      out.push_back('\r');
      return 2;
    case 't':
      out.push_back('\t');
      return 2;
    case 'u':
      break;
    default:
      out.push_back(s[i + 1]);
      return 2;
  }
  const int high = unit(s, i + 2);
  if (high >= 0xD800 && high < 0xDC00 && i + 12 <= s.size() && s[i + 6] == '\\' &&
      s[i + 7] == 'u') {
    const int low = unit(s, i + 8);
    if (low >= 0xDC00 && low < 0xE000) {
      append_code_point(out, 0x10000U + (static_cast<std::uint32_t>(high - 0xD800) << 10) +
                                 static_cast<std::uint32_t>(low - 0xDC00));
      return 12;
    }
  }
  const bool half = high >= 0xD800 && high < 0xE000;
  lone = lone || half;
  append_code_point(out, half ? 0xFFFDU : static_cast<std::uint32_t>(high));
  return 6;
}

}  // namespace

bool decode_string(std::string_view s, std::string& out) {
  out.clear();
  const bool raw = is_raw(s);
  bool repaired = raw;
  for (std::size_t i = 0; i < s.size();) {
    if (s[i] == '\\' && !raw) {
      i += append_escape(s, i, out, repaired);
      continue;
    }
    const std::size_t n = sequence_length(s, i);
    if (n == 0) {
      append_code_point(out, 0xFFFD);
      repaired = true;
      ++i;
      continue;
    }
    if (n == 1 && static_cast<unsigned char>(s[i]) < 0x20) repaired = true;
    out.append(s, i, n);
    i += n;
  }
  return repaired;
}

void append_quoted(std::string& out, std::string_view text) {
  constexpr char kHex[] = "0123456789abcdef";
  out.push_back('"');
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out.push_back('\\');
      out.push_back(c);
    } else if (byte < 0x20) {
      out.append("\\u00");
      out.push_back(kHex[byte >> 4]);
      out.push_back(kHex[byte & 15]);
    } else {
      out.push_back(c);
    }
  }
  out.push_back('"');
}

}  // namespace traceglass
