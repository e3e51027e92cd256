#include "libtrace/record/json.h"

#include <algorithm>
#include <cstddef>

#include "libtrace/model/utf8.h"

namespace libtrace::detail {
namespace {

constexpr int kMostDepth = 256;

class Checker {
 public:
  explicit Checker(std::string_view text) noexcept : rest_(text) {}
  bool whole() noexcept {
    if (!value(0)) return false;
    skip_space();
    return rest_.empty();
  }

 private:
  void skip_space() noexcept {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\n\r"), rest_.size()));
  }
  bool eat(char c) noexcept {
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  bool word(std::string_view w) noexcept {
    if (!rest_.starts_with(w)) return false;
    rest_.remove_prefix(w.size());
    return true;
  }
  bool digits() noexcept {
    const std::size_t n = std::min(rest_.find_first_not_of("0123456789"), rest_.size());
    rest_.remove_prefix(n);
    return n > 0;
  }
  bool number() noexcept {
    eat('-');
    if (!eat('0') && !digits()) return false;
    if (eat('.') && !digits()) return false;
    if (eat('e') || eat('E')) {
      if (!eat('+')) eat('-');
      return digits();
    }
    return true;
  }
  bool string() noexcept {
    if (!eat('"')) return false;
    while (!rest_.empty()) {
      const auto c = static_cast<unsigned char>(rest_.front());
      if (c == '"') return eat('"');
      if (c < 0x20) return false;
      if (c == '\\') {
        rest_.remove_prefix(1);
        if (eat('u')) {
          if (rest_.size() < 4 ||
              rest_.substr(0, 4).find_first_not_of("0123456789abcdefABCDEF") != rest_.npos) {
            return false;
          }
          rest_.remove_prefix(4);
        } else if (rest_.empty() ||
                   std::string_view("\"\\/bfnrt").find(rest_.front()) == rest_.npos) {
          return false;
        } else {
          rest_.remove_prefix(1);
        }
        continue;
      }
      const std::size_t n = utf8_sequence(rest_);
      if (n == 0) return false;
      rest_.remove_prefix(n);
    }
    return false;
  }
  // The rest of an array or object behind its opening bracket.
  bool members(char close, bool named, int depth) noexcept {
    skip_space();
    if (eat(close)) return true;
    do {
      if (named) {
        skip_space();
        if (!string()) return false;
        skip_space();
        if (!eat(':')) return false;
      }
      if (!value(depth)) return false;
      skip_space();
    } while (eat(','));
    return eat(close);
  }
  bool value(int depth) noexcept {
    if (depth > kMostDepth) return false;
    skip_space();
    if (eat('{')) return members('}', true, depth + 1);
    if (eat('[')) return members(']', false, depth + 1);
    if (rest_.starts_with('"')) return string();
    if (word("true") || word("false") || word("null")) return true;
    return number();
  }

  std::string_view rest_;
};

}  // namespace

std::string valid_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t n = utf8_sequence(text);
    out.append(n == 0 ? kReplacement : text.substr(0, n));
    text.remove_prefix(n == 0 ? 1 : n);
  }
  return out;
}

std::string json_quoted(std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : valid_utf8(text)) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += "\\u00";
      out += kHex[static_cast<std::size_t>(c) >> 4];
      out += kHex[static_cast<std::size_t>(c) & 15];
    } else {
      out += c;
    }
  }
  return out + '"';
}

bool is_json(std::string_view text) noexcept { return Checker(text).whole(); }

}  // namespace libtrace::detail
