// Schema Comparison of openapi.yaml: two choices of steps, of one trace or of two.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "tb_backend/analysis/compare.h"
#include "tb_backend/api/view_json.h"
#include "tb_backend/logdir/scan.h"

namespace traceglass {

// One side, ready to be compared.
struct CompareSource {
  const libtrace::Trace& trace;
  const TraceFile& file;
  Selection selection;
  bool set_aside = false;  // the first step was left out, and nobody asked for that
};

// Which of a side's steps, and how it was asked for: "" the usual ones (step_choice.h), "all", or
// positions "2-5".
struct AskedSteps {
  const std::vector<Step>& steps;
  std::string asked;
};
struct ChosenSelection {
  Selection selection;
  bool set_aside = false;
};
// Throws BadRequest, naming the parameter steps_a or steps_b.
std::pair<ChosenSelection, ChosenSelection> choose_selections(const AskedSteps& a,
                                                              const AskedSteps& b);

Json comparison_json(const CompareSource& a, const CompareSource& b, const Comparison& comparison);
// "steps 6–10", "step 3", "the whole recording"
std::string steps_words(const Selection& selection);
const char* verdict_name(CompareVerdict verdict);

}  // namespace traceglass
