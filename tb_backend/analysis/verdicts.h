// What limits a step and what to do about it: seven checks, each with its share, a ceiling of what
// fixing it could gain, evidence, events to look at and what to try.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "libtrace/trace.h"
#include "tb_backend/analysis/step_graph.h"
#include "tb_backend/analysis/steps.h"

namespace traceglass {

// high, medium, low: by the ceiling's share of the step; ok: checked, fine; unknown: the trace
// cannot tell, and `sentence` says what to record.
enum class VerdictSeverity : std::uint8_t { kHigh, kMedium, kLow, kOk, kUnknown };

struct Suggestion {
  std::string text;  // one sentence
  std::string code;  // lines of Python or C++; "" when there is nothing to type
};

struct Verdict {
  // data_loading, synchronization, small_kernels, inefficient_operators, memory, communication,
  // low_utilization
  std::string id;
  VerdictSeverity severity = VerdictSeverity::kUnknown;
  std::optional<double> share_pct;  // the ceiling's, of the mean selected step; absent: unknown
  std::optional<double>
      seen_pct;  // of it, what was seen takes, hidden or not; absent: no time was measured
  std::optional<std::int64_t> gain_ceiling_ns;  // most that a step could gain; never above it
  std::string sentence;                         // what was seen, with its two or three figures
  std::vector<std::string> evidence;            // further figures, a short sentence each
  std::vector<libtrace::EventId> events;        // where it shows, worst first; at most 20
  std::vector<Suggestion> suggestions;          // what to try, most promising first
};

// All seven: those that fire by ceiling, largest first, then ok, then unknown. Empty without steps.
std::vector<Verdict> find_verdicts(const StepGraph& graph, const Selection& selection);
std::vector<Verdict> find_verdicts(const libtrace::Trace& trace, const Selection& selection);

}  // namespace traceglass
