// Source stacks of events, innermost frame first, as torch gives them: from `Call stack`, without
// torch's own frames of backward and test helpers; backward operators have the stack of the
// forward one.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "libtrace/averages/function_events.h"

namespace libtrace {

class Stacks {
 public:
  explicit Stacks(const FunctionEvents& events);

  // Whether any event carries one.
  [[nodiscard]] bool any() const noexcept { return any_; }
  // `Call stack` of the event, or of its forward operator; "" for none. Equal stacks are the same
  // memory.
  [[nodiscard]] std::string_view text(EventId e) const noexcept {
    return any_ ? text_[e] : std::string_view();
  }
  // The first `n` frames of such a text.
  static std::vector<std::string_view> frames(std::string_view text, std::size_t n = SIZE_MAX);

 private:
  std::vector<std::string_view> text_;  // empty without stacks
  bool any_ = false;
};

}  // namespace libtrace
