// Sets of instants as sorted, disjoint, non-empty half-open intervals.
#pragma once

#include <cstdint>
#include <vector>

#include "libtrace/trace.h"

namespace libtrace {

using Intervals = std::vector<TimeRange>;

// Union of any intervals, in any order; empty and negative ones vanish. O(n log n), O(n) sorted.
Intervals united(std::vector<TimeRange> ranges);
Intervals united(const Intervals& a, const Intervals& b);
// What of `a` is not in `b`.
Intervals without(const Intervals& a, const Intervals& b);
Intervals common(const Intervals& a, const Intervals& b);
std::int64_t length(const Intervals& set);

// Answers "how much of the set lies in [start, end)" in O(log n).
class Measure {
 public:
  explicit Measure(Intervals set);
  [[nodiscard]] std::int64_t within(TimeRange range) const;
  [[nodiscard]] const Intervals& set() const { return set_; }

 private:
  [[nodiscard]] std::int64_t before(std::int64_t at) const;
  Intervals set_;
  std::vector<std::int64_t> sum_;  // length of all intervals before the i-th
};

}  // namespace libtrace
