// The fast path of the strict reader: a trace has some twenty shapes of rows, the same text around
// values that change. A row of a shape seen before is read by comparing that text and taking what
// stands between. What is read is what the strict parser would read: text is compared whole, and
// values that need care (escapes, bytes beyond ASCII, nested objects) are left to it.
// Measured on real traces: 2 to 4 times simdjson's walk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tb_backend/ingest/tokenizer.h"

namespace traceglass {

class RowShapes {
 public:
  // Reads the row at `text` into `out` (with its shape) and returns the byte behind it; nullptr:
  // no known shape fits. Tokenizer::kPadding bytes behind `end` must be readable.
  const char* read(const char* text, const char* end, RawEvent& out);
  // Keeps the shape of a row that the strict parser took.
  void learn(std::string_view row);

 private:
  enum class Slot : std::uint8_t { kString, kNumber, kWord, kArray };
  // A value, and the text that follows it.
  struct Step {
    Slot slot;
    std::string_view RawEvent::* field;  // null: an argument, or a value that no row needs
    std::int32_t arg;                    // its place among the arguments, -1: none
    std::uint32_t literal, length;       // in `Shape::text`
    friend bool operator==(const Step&, const Step&) = default;
  };
  struct Shape {
    std::string text;     // all literals, one after another, and room to read past the last
    std::uint32_t first;  // length of the literal before the first value
    std::vector<Step> steps;
    std::string ph, cat;  // are part of the literals
    bool has_cat = false;
    std::vector<std::string> keys;
    std::size_t follower = 0;  // the shape that came next, last time
  };
  class Learner;

  const char* follow(const Shape& shape, const char* p, const char* end, RawEvent& out) const;

  void use(std::size_t k);

  std::vector<std::unique_ptr<Shape>> shapes_;
  std::vector<std::size_t> recent_;  // latest first
  std::size_t previous_ = 0;
};

}  // namespace traceglass
