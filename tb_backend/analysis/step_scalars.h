// The few numbers of each step that are worth a curve beside the training's own scalars.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "libtrace/trace.h"
#include "tb_backend/analysis/steps.h"

namespace traceglass {

struct StepScalars {
  std::int64_t number = 0;  // N of ProfilerStep#N
  std::int64_t end = 0;     // of its own interval
  // Name and value: step time, device's busy share, exposed communication, the data loader's share,
  // peak memory. What was not recorded has no entry.
  std::vector<std::pair<std::string, double>> values;
};

// Of the steps that the file names; a step that the recording cut is left out.
std::vector<StepScalars> find_step_scalars(const libtrace::Trace& trace);

}  // namespace traceglass
