#include "tb_backend/ingest/repair.h"

#include <algorithm>
#include <array>

#include "tb_backend/ingest/text.h"

namespace traceglass {
namespace {

constexpr int kMaxDepth = 512;
constexpr std::size_t kLookahead = 256;  // decides about one quote
// A string without any quote until then is broken. Room for a name of 1 MB, each byte of it
// escaped.
constexpr std::size_t kMaxString = 8U << 20;
constexpr std::size_t kMaxStray = 64U
                                  << 10;  // behind its first quote a better end is sought so far
constexpr std::size_t kMostInVain = 4U << 20;  // by all strings of a value together

constexpr std::array<std::string_view, 11> kEventKeys = {"ph",  "cat",  "name", "pid", "tid", "ts",
                                                         "dur", "args", "id",   "bp",  "s"};

bool space(char c) noexcept { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool digit(char c) noexcept { return c >= '0' && c <= '9'; }

// Thrown inside this file only: unwinds a recursion whose outcome is already known.
struct Stop {
  Repaired::Status status;
};

class Repairer {
 public:
  Repairer(std::string_view text, RepairContext context, bool at_end)
      : text_(text), context_(context), at_end_(at_end) {}

  Repaired run() {
    try {
      value(0, context_ == RepairContext::kTopLevel ? Place::kMember : Place::kRoot);
      out_.status = Repaired::Status::kDone;
      out_.length = i_;
    } catch (const Stop& stop) {
      out_.status = stop.status;
      out_.in_vain += i_;
    }
    return std::move(out_);
  }

 private:
  enum class Place { kRoot, kEventMember, kMember, kElement };

  [[noreturn]] void end_of_text() const { throw Stop{Repaired::Status::kNeedMore}; }
  [[noreturn]] static void fail() { throw Stop{Repaired::Status::kFailed}; }

  char peek() const {
    if (i_ >= text_.size()) end_of_text();
    return text_[i_];
  }
  void skip_space() {
    while (i_ < text_.size() && space(text_[i_])) ++i_;
  }

  void value(int depth, Place place) {
    if (depth > kMaxDepth) fail();
    skip_space();
    const char c = peek();
    if (c == '{') {
      object(depth);
    } else if (c == '[') {
      array(depth);
    } else if (c == '"') {
      string(place);
    } else if (c == ',' || c == '}' || c == ']') {
      out_.json += "null";  // an empty value
      out_.structure_changed = true;
    } else {
      word();
    }
  }

  void object(int depth) {
    ++i_;
    out_.json += '{';
    bool first = true;
    for (;;) {
      skip_space();
      if (peek() == ',') {
        ++i_;
        if (first || stray_) out_.structure_changed = true;
        stray_ = true;
        continue;
      }
      if (peek() == '}') {
        ++i_;
        if (stray_) out_.structure_changed = true;
        stray_ = false;
        break;
      }
      if (peek() != '"' || (!first && !stray_)) fail();
      stray_ = false;
      if (!first) out_.json += ',';
      first = false;
      key();
      skip_space();
      if (peek() != ':') fail();
      ++i_;
      out_.json += ':';
      const bool event = depth == 0 && context_ == RepairContext::kEvent;
      value(depth + 1, event ? Place::kEventMember : Place::kMember);
    }
    out_.json += '}';
  }

  void array(int depth) {
    ++i_;
    out_.json += '[';
    bool first = true, comma = true;
    for (;;) {
      skip_space();
      if (peek() == ']') break;
      if (peek() == ',') {
        ++i_;
        if (first || comma) out_.structure_changed = true;
        comma = true;
        continue;
      }
      if (!comma) fail();
      if (!first) out_.json += ',';
      first = comma = false;
      value(depth + 1, Place::kElement);
    }
    if (comma && !first) out_.structure_changed = true;
    ++i_;
    out_.json += ']';
  }

  // Keys are written by the recorder, not by users: they end at the first quote.
  void key() {
    const std::size_t begin = ++i_;
    while (peek() != '"') {
      if (text_[i_] == '\\') ++i_;
      ++i_;
      if (i_ - begin > kMaxString) fail();
    }
    emit(text_.substr(begin, i_ - begin));
    ++i_;
  }

  void emit(std::string_view inside) {
    if (decode_string(inside, scratch_)) out_.strings_changed = true;
    append_quoted(out_.json, scratch_);
  }

  // A value's closing quote is the first one after which the text goes on as JSON would.
  void string(Place place) {
    const std::size_t begin = ++i_;
    std::size_t first_quote = 0;
    for (;; ++i_) {
      if (i_ >= text_.size() && at_end_ && first_quote != 0) break;
      if (peek() == '\\') {
        ++i_;
        continue;
      }
      if (text_[i_] != '"') {
        if (i_ - begin > kMaxString || (first_quote != 0 && i_ - first_quote > most_stray())) break;
        continue;
      }
      if (first_quote == 0) first_quote = i_;
      if (!at_end_ && text_.size() - i_ < kLookahead) end_of_text();
      if (ends_here(i_ + 1, place)) {
        if (first_quote != i_) out_.strings_changed = true;
        emit(text_.substr(begin, i_ - begin));
        ++i_;
        return;
      }
    }
    if (first_quote == 0) fail();
    out_.in_vain += i_ - first_quote;
    i_ = first_quote;
    emit(text_.substr(begin, i_ - begin));
    ++i_;
  }

  std::size_t most_stray() const { return out_.in_vain < kMostInVain ? kMaxStray : 0; }
  std::size_t after_space(std::size_t i) const {
    while (i < text_.size() && space(text_[i])) ++i;
    return i;
  }
  bool is(std::size_t i, char c) const { return i < text_.size() && text_[i] == c; }

  std::size_t key_end(std::size_t i) const {
    for (; i < text_.size() && text_[i] != '"'; ++i) {
      if (text_[i] == '\\') ++i;
    }
    return i < text_.size() ? i : std::string_view::npos;
  }

  bool ends_here(std::size_t i, Place place) const {
    i = after_space(i);
    if (i >= text_.size()) return at_end_;
    if (place == Place::kRoot) return true;
    if (place == Place::kElement) return is(i, ',') || is(i, ']');
    if (is(i, '}')) {
      i = after_space(i + 1);
      return i >= text_.size() || is(i, ',') || is(i, ']') || is(i, '}') ||
             (is(i, '{') && context_ == RepairContext::kTopLevel);  // another document
    }
    if (!is(i, ',')) return false;
    i = after_space(i + 1);
    if (is(i, '}') || is(i, ',')) return true;  // stray commas
    if (!is(i, '"')) return false;
    const std::size_t close = key_end(i + 1);
    if (close == std::string_view::npos) return !at_end_;
    if (!is(after_space(close + 1), ':')) return false;
    if (place != Place::kEventMember) return true;
    const std::string_view key = text_.substr(i + 1, close - i - 1);
    return std::find(kEventKeys.begin(), kEventKeys.end(), key) != kEventKeys.end();
  }

  // Numbers, true, false, null, and what recorders wrote in their place.
  void word() {
    const std::size_t begin = i_;
    while (!space(peek()) && text_[i_] != ',' && text_[i_] != '}' && text_[i_] != ']' &&
           text_[i_] != '{' && text_[i_] != '[' && text_[i_] != '"' && text_[i_] != ':') {
      ++i_;
      if (i_ - begin > 512) fail();
    }
    const std::string_view word = text_.substr(begin, i_ - begin);
    if (word == "true" || word == "false" || word == "null" || plain_number(word)) {
      out_.json += word;
      return;
    }
    if (split_number(word)) return;
    std::string lower(word);
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    const std::string_view bare = lower.starts_with('-') || lower.starts_with('+')
                                      ? std::string_view(lower).substr(1)
                                      : std::string_view(lower);
    if (bare == "inf" || bare == "infinity" || bare == "n/a" || bare.starts_with("nan") ||
        bare == "1.#inf" || bare == "1.#ind" || bare == "1.#qnan") {
      out_.json += "null";
      ++out_.missing_values;
      return;
    }
    fail();
  }

  static bool plain_number(std::string_view w) {
    std::size_t i = 0;
    const auto digits = [&] {
      const std::size_t from = i;
      while (i < w.size() && digit(w[i])) ++i;
      return i > from;
    };
    if (i < w.size() && w[i] == '-') ++i;
    if (!digits()) return false;
    if (w[w[0] == '-' ? 1 : 0] == '0' && i > (w[0] == '-' ? 2U : 1U)) return false;
    if (i < w.size() && w[i] == '.') {
      ++i;
      if (!digits()) return false;
    }
    if (i < w.size() && (w[i] == 'e' || w[i] == 'E')) {
      ++i;
      if (i < w.size() && (w[i] == '-' || w[i] == '+')) ++i;
      if (!digits()) return false;
    }
    return i == w.size();
  }

  // "-3.-456" and "0.-660": a negative time cut into quotient and remainder.
  bool split_number(std::string_view w) {
    const std::size_t dot = w.find(".-");
    if (dot == std::string_view::npos) return false;
    std::string joined = w.starts_with('-') ? "" : "-";
    joined.append(w.substr(0, dot)).append(".").append(w.substr(dot + 2));
    if (!plain_number(joined)) return false;
    out_.json += joined;
    out_.structure_changed = true;
    return true;
  }

  std::string_view text_;
  RepairContext context_;
  bool at_end_;
  std::size_t i_ = 0;
  bool stray_ = false;  // a comma was seen and no member since
  std::string scratch_;
  Repaired out_;
};

}  // namespace

Repaired repair_value(std::string_view text, RepairContext context, bool at_end) {
  return Repairer(text, context, at_end).run();
}

}  // namespace traceglass
