#include "tb_backend/api/diff_command.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstdio>
#include <stdexcept>
#include <tuple>

#include "tb_backend/analysis/compare_words.h"
#include "tb_backend/api/compare_json.h"
#include "tb_backend/api/diff_report.h"
#include "tb_backend/api/query.h"
#include "tb_backend/api/terminal_text.h"
#include "tb_backend/api/trace_argument.h"
#include "tb_backend/ingest/ingest.h"

namespace traceglass {
namespace {

using Failure = NoSuchTrace;

// Steps are named by their numbers, as the output does; the API counts positions.
std::string positions(const std::vector<Step>& steps, const std::string& asked,
                      const char* option) {
  std::pair<std::int64_t, std::int64_t> range;
  try {
    range = Query(std::vector<std::pair<std::string, std::string>>{{option, asked}}).range(option);
  } catch (const BadRequest&) {
    throw Failure(
        fmt::format("{}: \"{}\" is neither a step's number nor first-last.", option, asked));
  }
  std::size_t first = steps.size(), last = 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (steps[i].synthetic || steps[i].index < range.first || steps[i].index > range.second)
      continue;
    first = std::min(first, i);
    last = i;
  }
  if (first == steps.size()) {
    const bool none = steps.empty() || steps[0].synthetic;
    throw Failure(fmt::format("{}: no step {}; {}", option, asked,
                              none ? std::string("the trace has no steps.")
                                   : fmt::format("the trace has steps {} to {}.",
                                                 steps.front().index, steps.back().index)));
  }
  return fmt::format("{}-{}", first, last);
}

struct Side {
  TraceFile file;
  libtrace::TracePtr trace;
  std::vector<Step> steps;
  ChosenSelection chosen;
};

Side load(const std::string& path) {
  Side side;
  side.file = trace_argument(path);
  const IngestResult loaded = ingest_file(side.file.path);
  if (loaded.error) throw Failure(side.file.path.string() + ": " + loaded.error->message);
  for (const libtrace::ReportEntry& entry : loaded.trace->report().entries()) {
    if (entry.severity == libtrace::Severity::kInfo) continue;
    fmt::print(stderr, "{}\n", printable(side.file.path.string() + ": " + entry.message));
  }
  side.trace = loaded.trace;
  side.steps = find_steps(*side.trace);
  return side;
}

void choose_steps(Side& a, Side& b, const DiffOptions& o) {
  const auto asked = [&](const Side& side, const std::string& numbers, const char* option) {
    if (!numbers.empty()) return positions(side.steps, numbers, option);
    return std::string(o.all_steps ? "all" : "");
  };
  std::tie(a.chosen, b.chosen) = choose_selections({a.steps, asked(a, o.steps_a, "--steps-a")},
                                                   {b.steps, asked(b, o.steps_b, "--steps-b")});
}

struct Gate {
  bool failed = false;
  std::string sentence;
};

Gate judge_gate(const Comparison& c, std::optional<double> limit) {
  Gate gate;
  if (!limit) return gate;
  const std::string limit_text = fmt::format("{:g} %", *limit);
  if (c.verdict == CompareVerdict::kNothing) {
    gate.failed = true;
    gate.sentence = "Fail: there is nothing to compare.";
    return gate;
  }
  const bool beyond = c.delta_ns() > 0 && (!c.delta_pct || *c.delta_pct > *limit);
  const bool tested = c.significance.method != Significance::Method::kNone;
  gate.failed = beyond && (!tested || c.significance.significant);
  if (!beyond) {
    gate.sentence = "Pass: B is not slower than A by more than " + limit_text + ".";
  } else if (!gate.failed) {
    gate.sentence = "Pass: B is slower by more than " + limit_text + ", but not significantly.";
  } else if (tested) {
    gate.sentence = "Fail: B is slower by more than " + limit_text + ", significantly.";
  } else {
    gate.sentence = "Fail: B is slower by more than " + limit_text +
                    ". Judged by the means alone: too few steps for a test.";
  }
  return gate;
}

DiffSide described(const Side& side) {
  DiffSide out;
  out.path = side.file.path.string();
  out.steps = steps_words(side.chosen.selection);
  if (side.chosen.set_aside) out.set_aside = side.chosen.selection.steps()[0].name;
  return out;
}

void print_json(const Side& a, const Side& b, const Comparison& c, const Gate& gate,
                const DiffOptions& o) {
  Json j = comparison_json({*a.trace, a.file, a.chosen.selection, a.chosen.set_aside},
                           {*b.trace, b.file, b.chosen.selection, b.chosen.set_aside}, c);
  j["schema"] = "traceglass.diff/1";
  if (o.fail_on_pct) {
    j["gate"] = {{"limit_pct", *o.fail_on_pct}, {"failed", gate.failed}, {"text", gate.sentence}};
  }
  for (const char* table : {"rows", "blocks"}) {
    if (!o.top_given || o.top == 0 || j[table].size() <= o.top) continue;
    j[table].erase(j[table].begin() + static_cast<std::ptrdiff_t>(o.top), j[table].end());
  }
  fmt::print("{}\n", dump(j, 1));
}

}  // namespace

std::optional<double> parse_percent(const std::string& text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  const std::string_view unit(rest, static_cast<std::size_t>(end - rest));
  if (error != std::errc() || (!unit.empty() && unit != "%")) return std::nullopt;
  if (!std::isfinite(value) || value < 0) return std::nullopt;
  return value;
}

int run_diff(const DiffOptions& o) try {
  Side a = load(o.a), b = load(o.b);
  choose_steps(a, b, o);
  const Comparison c = compare({*a.trace, a.chosen.selection}, {*b.trace, b.chosen.selection});
  const Gate gate = judge_gate(c, o.fail_on_pct);
  if (o.format == "json") {
    print_json(a, b, c, gate, o);
  } else {
    const DiffReport report{c, described(a), described(b), gate.sentence,
                            o.top == 0 ? SIZE_MAX : o.top};
    fmt::print("{}", o.format == "markdown" ? diff_markdown(report) : diff_text(report));
  }
  return gate.failed ? kDiffRegression : 0;
} catch (const Failure& failure) {
  for (const char c : std::string(failure.what()) + '\n') {
    const bool control = (static_cast<unsigned char>(c) < 0x20 && c != '\n') || c == 0x7F;
    std::fputc(control ? ' ' : c, stderr);
  }
  return kDiffError;
}

}  // namespace traceglass
