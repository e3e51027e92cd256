#include "tb_backend/api/diff_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tb_backend/analysis/compare_words.h"
#include "tb_backend/api/markdown.h"
#include "tb_backend/api/terminal_text.h"

namespace traceglass {
namespace {

std::string ms(std::int64_t ns) { return fmt::format("{:.3f}", static_cast<double>(ns) / 1e6); }
std::string signed_ms(std::int64_t ns) {
  return fmt::format("{:+.3f}", static_cast<double>(ns) / 1e6);
}
std::string calls(double n) {
  return n == std::round(n) ? fmt::format("{:.0f}", n) : fmt::format("{:.1f}", n);
}
std::string percent(const CompareRow& row) {
  if (row.appeared()) return "new";
  if (row.vanished()) return "vanished";
  return row.delta_pct ? fmt::format("{:+.1f}", *row.delta_pct) : "-";
}
std::string words_of(Measure measure) {
  return measure == Measure::kHostSelf ? "host self" : "device";
}

// Host self and device: together each nanosecond once.
std::vector<const CompareRow*> top_rows(const DiffReport& r) {
  std::vector<const CompareRow*> rows;
  for (const CompareRow& row : r.comparison.rows.rows) {
    if (rows.size() == r.top) break;
    const bool counts = row.measure == Measure::kHostSelf || row.measure == Measure::kDevice;
    if (counts && row.delta_ns() != 0) rows.push_back(&row);
  }
  return rows;
}

// Calls that differ say what the rows say; blocks are about where.
std::vector<const CompareBlock*> top_blocks(const DiffReport& r) {
  std::vector<const CompareBlock*> blocks;
  for (const CompareBlock& block : r.comparison.blocks) {
    if (blocks.size() == r.top) break;
    blocks.push_back(&block);
  }
  return blocks;
}

std::string where(const CompareBlock& block) {
  std::string text;
  for (const std::string& name : block.path) text += name + " \xE2\x80\xBA ";
  return text + block.name;
}

std::string verb(const CompareBlock& block) {
  const std::string times =
      block.count > 1 ? fmt::format(" \xC3\x97 {}", block.count) : std::string();
  const std::string one =
      block.occurrence > 0 ? fmt::format("the {}. of them", block.occurrence) : "";
  return (block.state == CompareBlock::State::kMatched ? one : state_name(block.state)) + times;
}

std::vector<const ComparedPart*> shown_parts(const Comparison& c) {
  std::vector<const ComparedPart*> parts;
  for (const ComparedPart& p : c.parts) {
    if (p.a_ns != 0 || p.b_ns != 0) parts.push_back(&p);
  }
  return parts;
}

std::string split_text(const ComparedPart& part) {
  if (!part.split) return "";
  const PartSplit& s = *part.split;
  return fmt::format("calls {} -> {}: {}, time a call: {}, overlap: {}", calls(s.calls_a),
                     calls(s.calls_b), signed_ms(s.calls_ns), signed_ms(s.per_call_ns),
                     signed_ms(s.overlap_ns));
}

std::string interval(const Significance& s) {
  if (!s.low || !s.high) return "";
  return fmt::format("95 % interval of the difference {} to {} ms", signed_ms(std::llround(*s.low)),
                     signed_ms(std::llround(*s.high)));
}

std::string sigma(const ComparedSide& side) {
  if (side.count < 2) return "";
  return fmt::format(", \xCF\x83 {} ms", ms(side.stddev_ns));
}

std::string side_text(const DiffSide& side, const ComparedSide& figures) {
  std::string text =
      fmt::format("{}, {} ms a step{}", side.steps, ms(figures.mean_ns), sigma(figures));
  if (!side.set_aside.empty()) text += "; " + side.set_aside + " set aside (--all-steps counts it)";
  return text;
}

}  // namespace

std::string diff_text(const DiffReport& r) {
  const Comparison& c = r.comparison;
  std::string out;
  const auto line = [&](const std::string& text) { out += text + '\n'; };
  line("A  " + printable(r.a.path) + "\n   " + printable(side_text(r.a, c.a)));
  line("B  " + printable(r.b.path) + "\n   " + printable(side_text(r.b, c.b)));
  std::string sentence;
  for (const Words& w : compare_sentence(c)) sentence += w.text;
  line("\n" + sentence);
  std::string sure = significance_text(c);
  if (!interval(c.significance).empty()) sure += "; " + interval(c.significance);
  if (!sure.empty()) line(sure);
  for (const std::string& note : c.notes) line(printable(note));
  if (c.verdict == CompareVerdict::kNothing) {
    if (!r.gate.empty()) line("\n" + r.gate);
    return out;
  }
  line(fmt::format("\n{:<22}{:>12}{:>12}{:>12}", "mean step (ms)", "A", "B", "B - A"));
  for (const ComparedPart* p : shown_parts(c)) {
    line(fmt::format("{:<22}{:>12}{:>12}{:>12}  {}", category_title(p->category), ms(p->a_ns),
                     ms(p->b_ns), signed_ms(p->delta_ns()),
                     p->delta_ns() == 0 ? "" : split_text(*p)));
  }
  line(fmt::format("{:<22}{:>12}{:>12}{:>12}", "step", ms(c.a.mean_ns), ms(c.b.mean_ns),
                   signed_ms(c.delta_ns())));
  if (const auto rows = top_rows(r); !rows.empty()) {
    line(fmt::format("\n{:<48}{:<11}{:>9}{:>9}{:>11}{:>11}{:>11}{:>10}", "by name (ms a step)", "",
                     "calls A", "calls B", "A", "B", "B - A", "%"));
    for (const CompareRow* row : rows) {
      line(fmt::format("{:<48}{:<11}{:>9}{:>9}{:>11}{:>11}{:>11}{:>10}",
                       shortened(printable(row->name), 46), words_of(row->measure),
                       calls(row->calls_a), calls(row->calls_b), ms(row->a_ns), ms(row->b_ns),
                       signed_ms(row->delta_ns()), percent(*row)));
    }
  }
  if (const auto blocks = top_blocks(r); !blocks.empty()) {
    line(fmt::format("\n{:>11}{:>11}  {}", "host", "device", "where in the step (ms, B - A)"));
    for (const CompareBlock* b : blocks) {
      const std::string what = verb(*b);
      line(fmt::format("{:>11}{:>11}  {}{}", signed_ms(b->host_b_ns - b->host_a_ns),
                       signed_ms(b->device_b_ns - b->device_a_ns),
                       shortened(printable(where(*b)), 110), what.empty() ? "" : "  " + what));
    }
  }
  if (!r.gate.empty()) line("\n" + r.gate);
  return out;
}

std::string diff_markdown(const DiffReport& r) {
  const Comparison& c = r.comparison;
  std::string out;
  const auto line = [&](const std::string& text) { out += text + '\n'; };
  line("### Traceglass: step time\n");
  std::string sentence;
  for (const Words& w : compare_sentence(c)) sentence += w.strong ? "**" + w.text + "**" : w.text;
  line(sentence + "\n");
  if (!r.gate.empty()) line(markdown_text(r.gate) + "\n");
  line(fmt::format("- A: {} ({})", markdown_code(r.a.path, 200),
                   markdown_text(side_text(r.a, c.a))));
  line(fmt::format("- B: {} ({})", markdown_code(r.b.path, 200),
                   markdown_text(side_text(r.b, c.b))));
  std::string sure = significance_text(c);
  if (!interval(c.significance).empty()) sure += "; " + interval(c.significance);
  if (!sure.empty()) line("- " + markdown_text(sure));
  for (const std::string& note : c.notes) line("- " + markdown_text(note));
  if (c.verdict == CompareVerdict::kNothing) return out;
  line("\n| mean step, ms | A | B | B − A |\n|---|--:|--:|--:|");
  for (const ComparedPart* p : shown_parts(c)) {
    line(fmt::format("| {} | {} | {} | {} |", category_title(p->category), ms(p->a_ns), ms(p->b_ns),
                     signed_ms(p->delta_ns())));
  }
  line(fmt::format("| **step** | **{}** | **{}** | **{}** |", ms(c.a.mean_ns), ms(c.b.mean_ns),
                   signed_ms(c.delta_ns())));
  if (const auto rows = top_rows(r); !rows.empty()) {
    line("\n<details><summary>By name, ms a step</summary>\n");
    line(
        "| name | measure | calls A | calls B | A | B | B − A | % |\n"
        "|---|---|--:|--:|--:|--:|--:|--:|");
    for (const CompareRow* row : rows) {
      line(fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} |", markdown_code(row->name, 100),
                       words_of(row->measure), calls(row->calls_a), calls(row->calls_b),
                       ms(row->a_ns), ms(row->b_ns), signed_ms(row->delta_ns()), percent(*row)));
    }
    line("\n</details>");
  }
  if (const auto blocks = top_blocks(r); !blocks.empty()) {
    line("\n<details><summary>Where in the step, ms</summary>\n");
    line("| where | | host B − A | device B − A |\n|---|---|--:|--:|");
    for (const CompareBlock* b : blocks) {
      line(fmt::format("| {} | {} | {} | {} |", markdown_code(where(*b), 160), verb(*b),
                       signed_ms(b->host_b_ns - b->host_a_ns),
                       signed_ms(b->device_b_ns - b->device_a_ns)));
    }
    line("\n</details>");
  }
  return out;
}

}  // namespace traceglass
