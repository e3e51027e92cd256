// What a person looks for in names: a text, found anywhere whatever the case of its ASCII letters,
// or a regular expression between slashes, `/gemm.*bf16/` or `/…/i`. In time linear in the names
// (RE2).
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace re2 {
class RE2;
}

namespace traceglass {

class NamePattern {
 public:
  explicit NamePattern(std::string_view text);
  ~NamePattern();
  NamePattern(NamePattern&&) noexcept;
  NamePattern& operator=(NamePattern&&) noexcept;

  // Why the expression is none; then nothing matches. "" when all is well.
  [[nodiscard]] const std::string& error() const { return error_; }
  [[nodiscard]] bool matches(std::string_view name) const;

 private:
  std::string text_;  // in lower case
  std::unique_ptr<re2::RE2> expression_;
  std::string error_;
};

}  // namespace traceglass
