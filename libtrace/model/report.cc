// The closed list of what can be wrong with a profile: code, severity, sentence.
#include "libtrace/report.h"

#include <algorithm>
#include <stdexcept>

namespace libtrace {
namespace {

struct Code {
  std::string_view code;
  Severity severity;
  std::string_view sentence;
};
constexpr Code kCodes[] = {
    {"incomplete", Severity::kWarning,
     "The file ends in the middle: what follows the cut is missing."},
    {"changed", Severity::kWarning,
     "The file was written to while it was read: what is shown may be of two contents."},
    {"checksum", Severity::kWarning,
     "The checksum of the compressed data is wrong: names or values may differ from what was "
     "written."},
    {"empty", Severity::kError, "The file is empty."},
    {"documents", Severity::kWarning,
     "The file holds several JSON documents one after another; the first one is shown."},
    {"not_a_trace", Severity::kError, "The file is not a trace."},
    {"repaired", Severity::kWarning,
     "Invalid JSON was repaired: names or values may differ from what was meant."},
    {"skipped", Severity::kWarning, "Events that could not be read were left out."},
    {"missing_value", Severity::kInfo, "Values written as inf, nan or N/A count as unknown."},
    {"duplicate_rows", Severity::kInfo, "Rows equal in every field; all are kept."},
    {"crossing", Severity::kWarning,
     "Host ranges that overlap without one containing the other; each instant is counted once."},
    {"overlap", Severity::kWarning,
     "Device slices of one stream overlap; all are kept in full, busy time is their union."},
    {"zero_time", Severity::kWarning,
     "Slices without a time (start 0); shown in the trace, counted in no table."},
    {"negative_duration", Severity::kWarning,
     "Slices with a negative duration; shown in the trace, counted in no table."},
    {"overrun", Severity::kWarning,
     "Device slices of impossible length; shown in the trace, counted in no table."},
    {"far_time", Severity::kWarning,
     "Times and durations of more than 73 years count as 73 years: nanoseconds of 64 bits hold no "
     "more."},
    {"far_marker", Severity::kWarning,
     "Markers more than a day after the last event; they do not stretch the time range."},
    {"before_launch", Severity::kWarning,
     "Device work that starts before its launch: the clocks of host and device disagree."},
    {"no_kernel", Severity::kWarning,
     "Launches without a device event: work outside the recorded window, or lost."},
    {"no_launch", Severity::kInfo,
     "Device events without a launch event; they stand in a row of their own."},
    {"no_device_events", Severity::kWarning,
     "Device work was launched or asked for, but none was recorded: the device part of the "
     "recording failed or was off."},
    {"guessed_rank", Severity::kInfo, "The rank was guessed from the file name."},
    {"unfinished", Severity::kInfo,
     "Ranges still open when the recording ended; their length is a lower bound."},
    {"broken", Severity::kError, "The file is broken before its first event."},
    {"unreadable", Severity::kError, "The file cannot be read."},
    {"dropped_by_recorder", Severity::kWarning,
     "The recorder lost events: beyond its memory limit, of a trace that there was no memory to "
     "make, by the device's own profiler, of ranges nested too deep, or begun by a signal handler "
     "within the recorder."},
    {"dropped_traces", Severity::kInfo,
     "Whole traces before this one were dropped: the handler was behind, or memory was short."},
};

const Code& known(std::string_view code) {
  const auto* it = std::find_if(std::begin(kCodes), std::end(kCodes),
                                [&](const Code& c) { return c.code == code; });
  if (it == std::end(kCodes)) throw std::logic_error("unknown report code " + std::string(code));
  return *it;
}

}  // namespace

std::string_view severity_name(Severity severity) noexcept {
  constexpr std::string_view kNames[] = {"info", "warning", "error"};
  return kNames[static_cast<std::size_t>(severity)];
}

void Report::add(std::string_view code, std::int64_t count, std::string place,
                 std::string_view detail) {
  if (count <= 0) return;
  const Code& meaning = known(code);
  auto it = std::find_if(entries_.begin(), entries_.end(),
                         [&](const ReportEntry& e) { return e.code == code; });
  if (it == entries_.end()) {
    entries_.push_back({std::string(code), meaning.severity, 0, std::string(meaning.sentence), {}});
    it = entries_.end() - 1;
  }
  it->count += count;
  if (!place.empty() && it->first.size() < kFirst) it->first.push_back(std::move(place));
  if (!detail.empty()) {
    it->message = meaning.sentence;
    it->message.append(" ").append(detail);
  }
}

const ReportEntry* Report::find(std::string_view code) const noexcept {
  for (const ReportEntry& e : entries_) {
    if (e.code == code) return &e;
  }
  return nullptr;
}

std::int64_t Report::count(std::string_view code) const noexcept {
  const ReportEntry* e = find(code);
  return e == nullptr ? 0 : e->count;
}

}  // namespace libtrace
