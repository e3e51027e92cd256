#include "tb_backend/ingest/row_shapes.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <optional>
#include <utility>

#include "tb_backend/ingest/numbers.h"

namespace traceglass {

using libtrace::Value;

namespace {

constexpr std::size_t kMostShapes = 96;  // real traces have 14 to 20
constexpr std::size_t kMostValues = 128;
constexpr std::size_t kMostText = 16U << 10;
constexpr std::size_t kTries = 12;
constexpr std::uint64_t kOnes = 0x0101010101010101, kHighs = 0x8080808080808080;

std::uint64_t word_at(const char* p) noexcept {
  std::uint64_t w;
  std::memcpy(&w, p, sizeof w);
  return w;
}

// Whether p[0, n) is `literal`; both are readable 8 bytes further.
bool same(const char* p, const char* literal, std::size_t n) noexcept {
  for (; n >= 8; n -= 8, p += 8, literal += 8) {
    if (word_at(p) != word_at(literal)) return false;
  }
  if (n == 0) return true;
  std::uint64_t mask = ~std::uint64_t{0};
  if constexpr (std::endian::native == std::endian::little) {
    mask >>= 64 - 8 * n;
  } else {
    mask <<= 64 - 8 * n;
  }
  return ((word_at(p) ^ word_at(literal)) & mask) == 0;
}

// A byte of a string that needs care, or ends it: quote, backslash, control, beyond ASCII.
bool plain(char c) noexcept {
  return c != '"' && c != '\\' && static_cast<unsigned char>(c) >= 0x20 &&
         static_cast<unsigned char>(c) < 0x80;
}

// The first byte at or behind `p` that is not plain.
const char* skip_plain(const char* p, const char* end) noexcept {
  const auto zero = [](std::uint64_t w) { return (w - kOnes) & ~w; };
  for (; p + 8 <= end; p += 8) {
    const std::uint64_t w = word_at(p);
    const std::uint64_t special =
        zero(w ^ (kOnes * '"')) | zero(w ^ (kOnes * '\\')) | ((w - kOnes * 0x20) & ~w) | w;
    if ((special & kHighs) != 0) break;
  }
  while (p < end && plain(*p)) ++p;
  return p;
}

bool of_number(char c) noexcept {
  return (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '+' || c == 'e' || c == 'E';
}

bool space(char c) noexcept { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

// Behind the array that begins at `p`; nullptr where it holds more than numbers, words, plain
// strings and arrays of these.
const char* skip_array(const char* p, const char* end) noexcept {
  for (int depth = 0; p < end; ++p) {
    const char c = *p;
    if (c == '"') {
      p = skip_plain(p + 1, end);
      if (p == end || *p != '"') return nullptr;
    } else if (c == '[') {
      ++depth;
    } else if (c == ']') {
      if (--depth == 0) return p + 1;
    } else if (!of_number(c) && c != ',' && !space(c) && !(c >= 'a' && c <= 'z')) {
      return nullptr;
    }
  }
  return nullptr;
}

std::string_view between(const char* begin, const char* end) noexcept {
  return {begin, static_cast<std::size_t>(end - begin)};
}

// Behind the value; nullptr: it is not of this sort, or needs care.
const char* take_string(const char* p, const char* end, std::string_view& out) noexcept {
  const char* close = skip_plain(p, end);
  if (close == end || *close != '"') return nullptr;
  out = between(p, close);
  return close;
}

}  // namespace

// Takes a row apart the way `follow` will read it.
class RowShapes::Learner {
 public:
  explicit Learner(std::string_view row) : p_(row.data()), end_(row.data() + row.size()) {}

  // nullptr: a row that is better left to the strict parser.
  std::unique_ptr<Shape> learn() {
    if (!object(false) || p_ != end_) return nullptr;
    close_literal();
    Shape& s = *shape_;
    if (s.steps.empty() || s.steps.size() > kMostValues || s.text.size() > kMostText)
      return nullptr;
    s.text.append(8, '\0');
    return std::move(shape_);
  }

 private:
  bool object(bool args) {
    if (!take('{')) return false;
    if (peek() == '}') return take('}');
    do {
      std::string_view key;
      if (peek() != '"' || !string(key) || !take(':') || !value(args, key)) return false;
    } while (take(','));
    return take('}');
  }

  bool value(bool args, std::string_view key) {
    const char c = peek();
    if (!args && key == "args") return c == '{' && object(true);
    if (!args && (key == "ph" || key == "cat")) {
      std::string_view text;
      if (c != '"' || !string(text)) return false;
      (key == "ph" ? shape_->ph : shape_->cat) = text;
      shape_->has_cat = shape_->has_cat || key == "cat";
      return true;
    }
    Step step{Slot::kNumber, nullptr, -1, 0, 0};
    if (c == '"') {
      step.slot = Slot::kString;
    } else if (c == '[') {
      step.slot = Slot::kArray;
    } else if (c == 't' || c == 'f' || c == 'n') {
      step.slot = Slot::kWord;
    } else if (c != '-' && (c < '0' || c > '9')) {
      return false;
    }
    if (args) {
      step.arg = static_cast<std::int32_t>(shape_->keys.size());
      shape_->keys.emplace_back(key);
    } else {
      step.field = field(key);
      // A row's own fields are strings and numbers.
      if (step.field != nullptr && step.slot > Slot::kNumber) return false;
    }
    return skip(step);
  }

  static std::string_view RawEvent::* field(std::string_view key) {
    using Field = std::pair<std::string_view, std::string_view RawEvent::*>;
    static constexpr std::array<Field, 6> kFields = {{{"name", &RawEvent::name},
                                                      {"pid", &RawEvent::pid},
                                                      {"tid", &RawEvent::tid},
                                                      {"ts", &RawEvent::ts},
                                                      {"dur", &RawEvent::dur},
                                                      {"id", &RawEvent::id}}};
    for (const auto& [name, member] : kFields) {
      if (name == key) return member;
    }
    return nullptr;
  }

  bool skip(Step step) {
    if (step.slot == Slot::kString) ++p_;
    close_literal();
    shape_->steps.push_back(step);
    std::string_view text;
    switch (step.slot) {
      case Slot::kString: {
        const char* close = take_string(p_, end_, text);
        if (close == nullptr) return false;
        literal_ = close;
        p_ = close + 1;
        return true;
      }
      case Slot::kArray: {
        const char* behind = skip_array(p_, end_);
        if (behind == nullptr) return false;
        p_ = behind;
        break;
      }
      case Slot::kNumber:
        while (p_ != end_ && of_number(*p_)) ++p_;
        break;
      case Slot::kWord:
        while (p_ != end_ && *p_ >= 'a' && *p_ <= 'z') ++p_;
        break;
    }
    literal_ = p_;
    return true;
  }

  // The text since the last value belongs behind it.
  void close_literal() {
    Shape& s = *shape_;
    const auto length = static_cast<std::uint32_t>(p_ - literal_);
    if (s.steps.empty()) {
      s.first = length;
    } else {
      s.steps.back().literal = static_cast<std::uint32_t>(s.text.size());
      s.steps.back().length = length;
    }
    s.text.append(literal_, length);
  }

  char peek() {
    while (p_ != end_ && space(*p_)) ++p_;
    return p_ == end_ ? '\0' : *p_;
  }
  bool take(char c) {
    if (peek() != c) return false;
    ++p_;
    return true;
  }
  bool string(std::string_view& out) {
    const char* close = take_string(p_ + 1, end_, out);
    if (close == nullptr) return false;
    p_ = close + 1;
    return true;
  }

  const char* p_;
  const char* const end_;
  const char* literal_ = p_;  // where the text since the last value begins
  std::unique_ptr<Shape> shape_ = std::make_unique<Shape>();
};

void RowShapes::learn(std::string_view row) {
  auto shape = Learner(row).learn();
  if (!shape) return;
  // Known, but not among those tried.
  for (std::size_t k = 0; k < recent_.size(); ++k) {
    if (shapes_[recent_[k]]->text == shape->text && shapes_[recent_[k]]->steps == shape->steps) {
      use(k);
      return;
    }
  }
  if (shapes_.size() >= kMostShapes) return;
  shapes_.push_back(std::move(shape));
  recent_.push_back(shapes_.size() - 1);
  use(recent_.size() - 1);
}

// recent_[k] is the shape of the current row.
void RowShapes::use(std::size_t k) {
  const auto begin = recent_.begin();
  std::rotate(begin, begin + static_cast<std::ptrdiff_t>(k),
              begin + static_cast<std::ptrdiff_t>(k) + 1);
  shapes_[previous_]->follower = recent_[0];
  previous_ = recent_[0];
}

const char* RowShapes::follow(const Shape& s, const char* p, const char* end, RawEvent& out) const {
  const auto literal = [&](std::size_t at, std::size_t length) {
    if (length > static_cast<std::size_t>(end - p) || !same(p, s.text.data() + at, length)) {
      return false;
    }
    p += length;
    return true;
  };
  if (!literal(0, s.first)) return nullptr;
  for (const Step& step : s.steps) {
    const char* begin = p;
    std::string_view token;
    Value value;
    switch (step.slot) {
      case Slot::kString:
        p = take_string(p, end, token);
        if (p == nullptr) return nullptr;
        value.type = Value::Type::kString;
        value.text = token;
        break;
      case Slot::kNumber:
        while (p < end && of_number(*p)) ++p;
        token = between(begin, p);
        if (token.empty() || (step.arg >= 0 && !json_number(token, value))) return nullptr;
        break;
      case Slot::kWord:
        while (p < end && *p >= 'a' && *p <= 'z') ++p;
        token = between(begin, p);
        if (token == "true" || token == "false") {
          value = Value::boolean(token == "true");
        } else if (token != "null") {
          return nullptr;
        }
        break;
      case Slot::kArray:
        p = p < end && *p == '[' ? skip_array(p, end) : nullptr;
        if (p == nullptr) return nullptr;
        value = Value::json(between(begin, p));
        break;
    }
    if (step.field != nullptr) {
      out.*step.field = token;
    } else if (step.arg >= 0) {
      out.args[static_cast<std::size_t>(step.arg)] = {s.keys[static_cast<std::size_t>(step.arg)],
                                                      value};
    }
    if (!literal(step.literal, step.length)) return nullptr;
  }
  return p;
}

const char* RowShapes::read(const char* text, const char* end, RawEvent& out) {
  const auto attempt = [&](std::size_t i) -> const char* {
    const Shape& s = *shapes_[i];
    out.clear();
    out.args.resize(s.keys.size());
    const char* behind = follow(s, text, end, out);
    if (behind == nullptr) return nullptr;
    out.ph = s.ph;
    if (s.has_cat) out.cat = s.cat;
    out.shape = static_cast<int>(i);
    return behind;
  };
  if (shapes_.empty()) return nullptr;
  const std::size_t guess = shapes_[previous_]->follower;
  if (const char* behind = attempt(guess)) {
    previous_ = guess;
    return behind;
  }
  for (std::size_t k = 0; k < std::min(kTries, recent_.size()); ++k) {
    if (recent_[k] == guess) continue;
    if (const char* behind = attempt(recent_[k])) {
      use(k);
      return behind;
    }
  }
  return nullptr;
}

}  // namespace traceglass
