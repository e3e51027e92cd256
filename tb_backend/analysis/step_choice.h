// Which steps a figure covers when nobody chose: all but a first one that is plainly not like the
// others (it pays for warm-up, an empty queue, a first copy). The page's rule, in lib/steps.ts.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "tb_backend/analysis/steps.h"

namespace traceglass {

struct StepChoice {
  std::size_t first = 0, last = 0;  // positions, both included; {0, 0} without steps
  bool set_aside = false;           // the first step was left out
};

StepChoice usual_steps(const std::vector<Step>& steps);
// Of two traces that are compared: what is set aside on one side is on the other too, as far as it
// has enough steps.
std::pair<StepChoice, StepChoice> usual_steps(const std::vector<Step>& a,
                                              const std::vector<Step>& b);

// Of the usual steps the one whose length is nearest to their mean, as the page's overview chooses
// the one that it shows in time; SIZE_MAX without steps.
std::size_t typical_step(const std::vector<Step>& steps);

}  // namespace traceglass
