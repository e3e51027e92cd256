// A comparison as text for a terminal and as Markdown for a pull request. Names of a trace are
// strangers' text: they neither steer a terminal nor break out of a table.
#pragma once

#include <cstddef>
#include <string>

#include "tb_backend/analysis/compare.h"
#include "tb_backend/api/compare_json.h"

namespace traceglass {

struct DiffSide {
  std::string path, steps;  // "steps 7–11"
  std::string set_aside;    // "ProfilerStep#6", if the first step was
};

struct DiffReport {
  const Comparison& comparison;
  DiffSide a, b;
  std::string gate;      // what --fail-on found, as a sentence; "" without it
  std::size_t top = 15;  // rows and blocks
};

std::string diff_text(const DiffReport& report);
std::string diff_markdown(const DiffReport& report);

}  // namespace traceglass
