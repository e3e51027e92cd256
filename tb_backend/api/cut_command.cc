#include "tb_backend/api/cut_command.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstdio>
#include <utility>

#include "libtrace/exports.h"
#include "libtrace/model/whole_number.h"
#include "tb_backend/analysis/excerpt.h"
#include "tb_backend/analysis/steps.h"
#include "tb_backend/api/terminal_text.h"
#include "tb_backend/ingest/ingest.h"

namespace traceglass {
namespace {

using libtrace::TimeRange;
using libtrace::Trace;

int refuse(std::string sentence) {
  fmt::print(stderr, "{}\n", printable(std::move(sentence)));
  return 1;
}

// The chosen steps from the first one's start to the last one's end on the host, so that nothing of
// the next one is in it; the device work they launched comes along. nullopt: there are none such.
std::optional<TimeRange> range_of_steps(const Trace& trace, std::string_view text) {
  const std::size_t dash = text.find('-');
  const auto first = libtrace::whole_number(text.substr(0, dash));
  const auto last =
      dash == std::string_view::npos ? first : libtrace::whole_number(text.substr(dash + 1));
  if (!first || !last) return std::nullopt;
  std::optional<TimeRange> range;
  for (const Step& step : find_steps(trace)) {
    if (step.synthetic || step.index < *first || step.index > *last) continue;
    if (!range) range = step.host;
    range->end = step.host.end;
  }
  return range;
}

}  // namespace

std::optional<std::int64_t> parse_time(std::string_view text) {
  constexpr std::pair<std::string_view, double> kUnits[] = {
      {"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
  double value = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return std::nullopt;
  std::string_view unit(rest, static_cast<std::size_t>(text.data() + text.size() - rest));
  if (unit.empty()) unit = "ms";
  for (const auto& [name, ns] : kUnits) {
    if (unit != name) continue;
    if (!std::isfinite(value) || std::abs(value * ns) > 4e18) return std::nullopt;
    return std::llround(value * ns);
  }
  return std::nullopt;
}

int run_cut(const CutCommand& command) {
  std::optional<std::int64_t> from, to;
  if (command.from && !(from = parse_time(*command.from))) {
    return refuse("--from is no time: " + *command.from + ". Write 1.5s, 20ms, 7us or 12ns.");
  }
  if (command.to && !(to = parse_time(*command.to))) {
    return refuse("--to is no time: " + *command.to + ". Write 1.5s, 20ms, 7us or 12ns.");
  }
  const IngestResult loaded = ingest_file(command.path);
  if (loaded.error) return refuse(command.path + ": " + loaded.error->message);
  const Trace& trace = *loaded.trace;
  TimeRange range = trace.range();
  if (!command.steps.empty()) {
    const auto steps = range_of_steps(trace, command.steps);
    if (!steps) return refuse(command.path + ": has no steps " + command.steps + ".");
    range = *steps;
  } else {
    const std::int64_t start = range.start;
    if (from) range.start = start + *from;
    range.end = to ? start + *to : range.end + 1;
  }
  if (range.length() <= 0 && from && to) {
    return refuse("The end of the part lies before its start.");
  }
  const libtrace::TracePtr part = excerpt(trace, range);
  if (part->size() == 0) return refuse(command.path + ": nothing happens in that part.");
  const libtrace::Status written = libtrace::export_chrome_trace(*part, command.output);
  if (!written.ok()) return refuse(command.output + ": " + written.message());
  fmt::print("{} of {} events in {}\n", part->size(), trace.size(), command.output);
  return 0;
}

}  // namespace traceglass
