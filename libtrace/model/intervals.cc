#include "libtrace/model/intervals.h"

#include <algorithm>
#include <iterator>

namespace libtrace {
namespace {

bool by_start(const TimeRange& a, const TimeRange& b) { return a.start < b.start; }

}  // namespace

Intervals united(std::vector<TimeRange> ranges) {
  std::erase_if(ranges, [](const TimeRange& r) { return r.end <= r.start; });
  if (!std::is_sorted(ranges.begin(), ranges.end(), by_start)) {
    std::sort(ranges.begin(), ranges.end(), by_start);
  }
  std::size_t kept = 0;
  for (const TimeRange& r : ranges) {
    if (kept > 0 && r.start <= ranges[kept - 1].end) {
      ranges[kept - 1].end = std::max(ranges[kept - 1].end, r.end);
    } else {
      ranges[kept++] = r;
    }
  }
  ranges.resize(kept);
  return ranges;
}

Intervals united(const Intervals& a, const Intervals& b) {
  std::vector<TimeRange> all;
  all.reserve(a.size() + b.size());
  std::merge(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(all), by_start);
  return united(std::move(all));
}

Intervals without(const Intervals& a, const Intervals& b) {
  Intervals out;
  std::size_t j = 0;
  for (TimeRange r : a) {
    while (j < b.size() && b[j].end <= r.start) ++j;
    for (std::size_t i = j; i < b.size() && b[i].start < r.end; ++i) {
      if (b[i].start > r.start) out.push_back({r.start, b[i].start});
      r.start = std::max(r.start, b[i].end);
    }
    if (r.start < r.end) out.push_back(r);
  }
  return out;
}

Intervals common(const Intervals& a, const Intervals& b) {
  Intervals out;
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    const TimeRange r{std::max(a[i].start, b[j].start), std::min(a[i].end, b[j].end)};
    if (r.start < r.end) out.push_back(r);
    (a[i].end < b[j].end ? i : j) += 1;
  }
  return out;
}

std::int64_t length(const Intervals& set) {
  std::int64_t sum = 0;
  for (const TimeRange& r : set) sum += r.length();
  return sum;
}

Measure::Measure(Intervals set) : set_(std::move(set)) {
  std::int64_t sum = 0;
  sum_.reserve(set_.size());
  for (const TimeRange& r : set_) {
    sum_.push_back(sum);
    sum += r.length();
  }
}

std::int64_t Measure::before(std::int64_t at) const {
  const auto behind = std::upper_bound(set_.begin(), set_.end(), TimeRange{at, at}, by_start);
  if (behind == set_.begin()) return 0;
  const auto i = static_cast<std::size_t>(behind - set_.begin()) - 1;
  return sum_[i] + std::min(at, set_[i].end) - set_[i].start;
}

std::int64_t Measure::within(TimeRange range) const {
  return range.end <= range.start ? 0 : before(range.end) - before(range.start);
}

}  // namespace libtrace
