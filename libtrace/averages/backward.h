// Nodes of the autograd graph at work: the engine's row "autograd::engine::evaluate_function: X"
// holds a row "X", what torch marks as the scope BACKWARD_FUNCTION.
#pragma once

#include <string_view>

namespace libtrace {

inline constexpr std::string_view kBackwardEngine = "autograd::engine::evaluate_function: ";

inline bool is_backward(std::string_view name, std::string_view parent) noexcept {
  return parent.size() == kBackwardEngine.size() + name.size() &&
         parent.substr(0, kBackwardEngine.size()) == kBackwardEngine &&
         parent.substr(kBackwardEngine.size()) == name;
}

}  // namespace libtrace
