// `traceglass diff A B`: two traces compared on the command line, as text, JSON or Markdown, with
// an exit status for continuous integration.
#pragma once

#include <optional>
#include <string>

namespace traceglass {

struct DiffOptions {
  std::string a, b;              // trace files, or directories of one worker: its newest span
  std::string steps_a, steps_b;  // numbers of steps "6-10"; "": the usual ones
  bool all_steps = false;        // a first step that is unlike the others counts too
  std::string format = "text";   // text, json, markdown
  std::size_t top = 15;          // rows and blocks; 0: all
  bool top_given = false;        // then JSON is cut too
  std::optional<double> fail_on_pct;
};

inline constexpr int kDiffError = 1, kDiffRegression = 3;

// "5%" or "5", at least 0; nullopt: not a percentage.
std::optional<double> parse_percent(const std::string& text);

// Prints to stdout, what is wrong to stderr; 0, kDiffError or kDiffRegression.
int run_diff(const DiffOptions& options);

}  // namespace traceglass
