// Two choices of steps against each other, of one trace or of two: how much longer a step of B
// takes than one of A, what the difference is made of, and whether it is one.
//
// Everything is of the mean step, in whole nanoseconds, and exchanging A and B changes nothing
// but signs. = the parts sum to the difference; = the splits of a part sum to its difference.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tb_backend/analysis/activity.h"
#include "tb_backend/analysis/compare_blocks.h"
#include "tb_backend/analysis/compare_rows.h"
#include "tb_backend/analysis/significance.h"
#include "tb_backend/analysis/steps.h"

namespace traceglass {

struct ComparedSide {
  std::size_t count = 0;                    // chosen steps
  std::int64_t mean_ns = 0, stddev_ns = 0;  // of the extended steps; of a sample (n - 1)
  Breakdown mean;                           // sums to mean_ns
  std::int64_t device_ns = 0;               // its kernel, copy, set and communication parts
  std::vector<std::int64_t> lengths;        // of the chosen steps
};

// Why a part that is made of calls differs: as many calls as in A and B on the mean, each longer
// or shorter; more or fewer calls; the rest, how much of them runs where the part is not counted
// (beside each other, or hidden behind a part that goes before it). Shared out evenly between A
// and B, by name.
struct PartSplit {
  double calls_a = 0, calls_b = 0;  // a step
  std::int64_t calls_ns = 0, per_call_ns = 0, overlap_ns = 0;
};

struct ComparedPart {
  Category category = Category::kOther;
  std::int64_t a_ns = 0, b_ns = 0;
  std::optional<PartSplit> split;  // kernel, copies, sets, communication, runtime
  [[nodiscard]] std::int64_t delta_ns() const { return b_ns - a_ns; }
};

enum class CompareVerdict : std::uint8_t {
  kNothing,   // a side has no steps
  kEqual,     // not a nanosecond
  kChance,    // tested, not significant
  kUntested,  // differs, with too few steps to tell
  kSlower,    // B, significantly
  kFaster,
};

struct Comparison {
  ComparedSide a, b;
  CompareVerdict verdict = CompareVerdict::kNothing;
  Significance significance;
  std::vector<ComparedPart> parts;  // all eight, largest difference first
  std::optional<double> delta_pct;  // of A; absent when A takes no time
  bool device_changed = false;      // device work differs by 1 % or more
  CompareRows rows;
  std::vector<CompareBlock> blocks;
  std::vector<std::string> notes;  // what makes the comparison less than it seems
  [[nodiscard]] std::int64_t delta_ns() const { return b.mean_ns - a.mean_ns; }
};

struct CompareInput {
  const libtrace::Trace& trace;
  const Selection& selection;
};
Comparison compare(const CompareInput& a, const CompareInput& b);

// The mean of sums over `n` steps in whole nanoseconds, so that the means sum to the mean of the
// total: what rounding leaves goes to the largest fractions.
Breakdown mean_breakdown(const Breakdown& sums, std::int64_t n);

}  // namespace traceglass
