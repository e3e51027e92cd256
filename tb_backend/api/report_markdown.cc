#include "tb_backend/api/report_markdown.h"

#include <fmt/format.h>

#include <algorithm>

#include "tb_backend/analysis/compare_words.h"
#include "tb_backend/analysis/contents.h"
#include "tb_backend/analysis/step_choice.h"
#include "tb_backend/api/graph_cache.h"
#include "tb_backend/api/markdown.h"

namespace traceglass {
namespace {

std::string ms(std::int64_t ns) { return fmt::format("{:.3f}", static_cast<double>(ns) / 1e6); }

std::string share(std::int64_t part, std::int64_t whole) {
  if (whole <= 0) return "";
  return fmt::format("{:.1f} %", 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

std::string plural(std::size_t n, const char* word) {
  return fmt::format("{} {}{}", n, word, n == 1 ? "" : "s");
}

bool fires(const Verdict& v) { return v.severity <= VerdictSeverity::kLow; }

std::string words(const std::string& id) {
  std::string out = id;
  std::replace(out.begin(), out.end(), '_', ' ');
  return out;
}

// Whether the recording has steps of its own.
bool stepped(const Overview& o) { return !o.steps.empty() && !o.steps[0].step.synthetic; }

std::string head(const ReportFacts& f) {
  const Overview& o = f.overview;
  if (o.steps.empty()) return "This profile is empty: it holds no operator, no kernel and no step.";
  const std::string mean = "**" + time_words(o.mean_step_ns) + "**";
  std::string text =
      stepped(o) ? "A step takes " + mean : "The recording takes " + mean + " and has no steps";
  if (o.step_count > 1) {
    text += fmt::format(" (\xCF\x83 {}, {})", time_words(o.stddev_step_ns),
                        plural(o.step_count, "step"));
  }
  text += '.';
  if (stepped(o) && !o.steps.front().selected) {
    text += " The first step is plainly unlike the others and set aside.";
  }
  if (o.devices.empty()) return text + " No device work was recorded.";
  double busy = 0;
  for (const DeviceCard& d : o.devices) busy += d.utilization_pct;
  const std::size_t n = o.devices.size();
  return text + fmt::format(" The device{} busy for **{:.1f} %** of it{}.",
                            n == 1 ? " is" : "s are", busy / static_cast<double>(n),
                            n == 1 ? "" : " on average");
}

class Lines {
 public:
  void add(const std::string& line) { text_ += line + '\n'; }
  void fold(const std::string& title) { add("\n<details><summary>" + title + "</summary>\n"); }
  void end_fold() { add("\n</details>"); }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

void add_verdicts(const ReportFacts& f, Lines& out) {
  std::vector<std::string> fine, unknown;
  bool first = true;
  for (const Verdict& v : f.verdicts) {
    if (!fires(v)) {
      (v.severity == VerdictSeverity::kOk ? fine : unknown).push_back(words(v.id));
      continue;
    }
    if (first) {
      out.add("\n| what limits it | at most | | seen | to try |\n|---|--:|--:|---|---|");
      first = false;
    }
    out.add(fmt::format("| **{}** | {} | {} | {} | {} |", words(v.id),
                        v.gain_ceiling_ns ? time_words(*v.gain_ceiling_ns) : "",
                        v.share_pct ? fmt::format("{:.1f} %", *v.share_pct) : "",
                        markdown_text(v.sentence),
                        v.suggestions.empty() ? "" : markdown_text(v.suggestions.front().text)));
  }
  if (!fine.empty()) out.add(fmt::format("\nChecked, fine: {}.", fmt::join(fine, ", ")));
  if (!unknown.empty()) out.add(fmt::format("\nNot judged: {}.", fmt::join(unknown, ", ")));
}

void add_parts(const ReportFacts& f, Lines& out) {
  const Overview& o = f.overview;
  if (o.steps.empty()) return;
  out.add(fmt::format("\n| {}, ms | | |\n|---|--:|--:|", stepped(o) ? "mean step" : "recording"));
  for (int c = 0; c < kCategoryCount; ++c) {
    const std::int64_t ns = o.mean_breakdown.ns[c];
    if (ns == 0) continue;
    out.add(fmt::format("| {} | {} | {} |", category_title(static_cast<Category>(c)), ms(ns),
                        share(ns, o.mean_step_ns)));
  }
  out.add(fmt::format("| **all** | **{}** | |", ms(o.mean_step_ns)));
}

void add_operators(const ReportFacts& f, Lines& out) {
  const auto rows = find_operators(f.trace, DeviceTimes(f.trace), f.selection, libtrace::Kind::kOp);
  if (rows.empty()) return;
  out.fold("Operators, ms of all chosen steps");
  out.add(
      "| operator | calls | device self | device total | host self | host total |\n"
      "|---|--:|--:|--:|--:|--:|");
  for (std::size_t i = 0; i < std::min(rows.size(), f.top); ++i) {
    const OperatorRow& r = rows[i];
    out.add(fmt::format("| {} | {} | {} | {} | {} | {} |", markdown_code(r.name, 100), r.calls,
                        ms(r.device_self_ns), ms(r.device_total_ns), ms(r.host_self_ns),
                        ms(r.host_total_ns)));
  }
  if (rows.size() > f.top) out.add(fmt::format("\nand {} more", rows.size() - f.top));
  out.end_fold();
}

void add_kernels(const ReportFacts& f, Lines& out) {
  const auto rows = find_kernels(f.trace, f.selection);
  if (rows.empty()) return;
  const std::int64_t all = total_of(rows);
  out.fold("Kernels, ms of all chosen steps");
  out.add("| kernel | calls | total | share | mean | longest |\n|---|--:|--:|--:|--:|--:|");
  for (std::size_t i = 0; i < std::min(rows.size(), f.top); ++i) {
    const KernelRow& r = rows[i];
    out.add(fmt::format("| {} | {} | {} | {} | {} | {} |", markdown_code(r.name, 100), r.calls,
                        ms(r.total_ns), share(r.total_ns, all), ms(r.mean_ns()), ms(r.max_ns)));
  }
  if (rows.size() > f.top) out.add(fmt::format("\nand {} more", rows.size() - f.top));
  out.end_fold();
}

void add_trust(const ReportFacts& f, Lines& out) {
  const Trust trust = judge(f.trace.report());
  out.add(fmt::format("\nTrust {}: {}", trust.grade, markdown_text(trust.sentence)));
  for (const libtrace::ReportEntry& entry : f.trace.report().entries()) {
    if (entry.severity == libtrace::Severity::kInfo) continue;
    out.add("- " + markdown_text(entry.message));
  }
}

}  // namespace

std::string report_markdown(const ReportFacts& f) {
  Lines out;
  out.add("### Traceglass: " + markdown_code(f.file, 200) + '\n');
  out.add(head(f));
  add_verdicts(f, out);
  add_parts(f, out);
  add_operators(f, out);
  add_kernels(f, out);
  add_trust(f, out);
  return out.text();
}

std::string report_markdown(const LoadedTrace& loaded, std::size_t top) {
  const StepChoice usual = usual_steps(loaded.steps);
  const Selection selection = usual.set_aside ? Selection::of(loaded.steps, usual.first, usual.last)
                                              : Selection::everything(loaded.steps);
  const libtrace::Trace& trace = *loaded.trace;
  const auto graph = graph_of(loaded.trace);
  return report_markdown({loaded.file.file, trace, selection,
                          find_overview(trace, DeviceTimes(trace), selection),
                          find_verdicts(*graph, selection), top});
}

}  // namespace traceglass
