// Appends JSON to a text that a sink takes block by block. Numbers by std::to_chars: integers cost
// a third of a formatted double, and times are written as text from integers, never rounded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "handler/byte_sink.h"
#include "libtrace/event.h"

namespace libtrace {

class JsonText {
 public:
  explicit JsonText(ByteSink& sink);

  void raw(std::string_view text) {
    char* const to = room(text.size());
    if (!text.empty()) std::memcpy(to, text.data(), text.size());
    used_ += text.size();
  }
  void integer(std::int64_t v);
  void unsigned_integer(std::uint64_t v);
  void real(double v);                 // reads back as the same double, and as a double
  void microseconds(std::int64_t ns);  // 1234567 → 1234.567
  void string(std::string_view text);  // quoted, escaped; invalid UTF-8 becomes U+FFFD
  void value(const Value& v);
  // A process or thread: a number where it is one, as readers expect, else a string.
  void id(std::string_view text);

  // Hands a block on when there is one. The first error sticks, and later text goes nowhere.
  void flush_if_large();
  Status finish();

 private:
  // Where the next `bytes` bytes may stand.
  char* room(std::size_t bytes) {
    if (__builtin_expect(block_.size() - used_ < bytes, 0)) grow(bytes);
    return block_.data() + used_;
  }
  void grow(std::size_t bytes);
  template <class T>
  void number(T v);
  void odd_characters(std::string_view text);
  void flush();

  ByteSink& sink_;
  std::vector<char> block_;
  std::size_t used_ = 0;
  Status status_;
};

}  // namespace libtrace
