#include "tb_backend/analysis/step_choice.h"

#include <algorithm>
#include <cmath>

namespace traceglass {
namespace {

constexpr std::size_t kFewest = 4;  // of fewer steps none can be called odd
// Odd: this many deviations of the others away from their mean, and by this share of it.
constexpr double kSigmas = 4, kShare = 0.05;

bool can_spare_one(const std::vector<Step>& steps) {
  return steps.size() >= kFewest && !steps[0].synthetic;
}

bool first_is_odd(const std::vector<Step>& steps) {
  if (!can_spare_one(steps)) return false;
  const auto n = static_cast<double>(steps.size() - 1);
  double sum = 0, squares = 0;
  for (std::size_t i = 1; i < steps.size(); ++i) {
    sum += static_cast<double>(steps[i].extended.length());
  }
  const double mean = sum / n;
  for (std::size_t i = 1; i < steps.size(); ++i) {
    const double off = static_cast<double>(steps[i].extended.length()) - mean;
    squares += off * off;
  }
  const double off = std::abs(static_cast<double>(steps[0].extended.length()) - mean);
  return off > std::max(kSigmas * std::sqrt(squares / n), kShare * mean);
}

StepChoice choice_of(const std::vector<Step>& steps, bool set_aside) {
  StepChoice choice;
  if (steps.empty()) return choice;
  choice.last = steps.size() - 1;
  choice.set_aside = set_aside;
  if (set_aside) choice.first = 1;
  return choice;
}

}  // namespace

StepChoice usual_steps(const std::vector<Step>& steps) {
  return choice_of(steps, first_is_odd(steps));
}

std::pair<StepChoice, StepChoice> usual_steps(const std::vector<Step>& a,
                                              const std::vector<Step>& b) {
  const bool odd = first_is_odd(a) || first_is_odd(b);
  return {choice_of(a, odd && can_spare_one(a)), choice_of(b, odd && can_spare_one(b))};
}

std::size_t typical_step(const std::vector<Step>& steps) {
  if (steps.empty()) return SIZE_MAX;
  const StepChoice usual = usual_steps(steps);
  double sum = 0;
  for (std::size_t i = usual.first; i <= usual.last; ++i) {
    sum += static_cast<double>(steps[i].extended.length());
  }
  const double mean = sum / static_cast<double>(usual.last - usual.first + 1);
  const auto away = [&](std::size_t i) {
    return std::abs(static_cast<double>(steps[i].extended.length()) - mean);
  };
  std::size_t best = usual.first;
  for (std::size_t i = usual.first; i <= usual.last; ++i) {
    if (away(i) < away(best)) best = i;
  }
  return best;
}

}  // namespace traceglass
