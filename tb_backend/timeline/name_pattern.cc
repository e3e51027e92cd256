#include "tb_backend/timeline/name_pattern.h"

#include <re2/re2.h>

#include <algorithm>

namespace traceglass {
namespace {

constexpr std::int64_t kMostMemory = std::int64_t{16} << 20U;

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// The expression of `/…/` and `/…/i`, without its slashes; absent in a plain text.
struct Expression {
  std::string_view pattern;
  bool any_case = false;
};
bool read_expression(std::string_view text, Expression& out) {
  if (text.size() < 3 || text.front() != '/') return false;
  const std::size_t last = text.rfind('/');
  const std::string_view options = text.substr(last + 1);
  if (last < 2 || (!options.empty() && options != "i")) return false;
  out = {text.substr(1, last - 1), options == "i"};
  return true;
}

}  // namespace

NamePattern::NamePattern(std::string_view text) : text_(text) {
  std::transform(text_.begin(), text_.end(), text_.begin(), lower);
  Expression found;
  if (!read_expression(text, found)) return;
  RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(kMostMemory);
  options.set_case_sensitive(!found.any_case);
  expression_ =
      std::make_unique<RE2>(re2::StringPiece(found.pattern.data(), found.pattern.size()), options);
  if (!expression_->ok()) error_ = expression_->error();
}

NamePattern::~NamePattern() = default;
NamePattern::NamePattern(NamePattern&&) noexcept = default;
NamePattern& NamePattern::operator=(NamePattern&&) noexcept = default;

bool NamePattern::matches(std::string_view name) const {
  if (!error_.empty()) return false;
  if (expression_) {
    return RE2::PartialMatch(re2::StringPiece(name.data(), name.size()), *expression_);
  }
  return std::search(name.begin(), name.end(), text_.begin(), text_.end(),
                     [](char a, char b) { return lower(a) == b; }) != name.end();
}

}  // namespace traceglass
