#include "tb_backend/metrics/join.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "tb_backend/metrics/run_clock.h"

namespace traceglass {
namespace {

using Stamp = RunClock::Stamp;

double median(std::vector<double> values) {
  const std::size_t half = values.size() / 2;
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(half),
                   values.end());
  return values[half];
}

void join_by_clock(const std::vector<Stamp>& stamps, double clock_offset, Join& out) {
  for (JoinedStep& step : out.steps) {
    const double at = step.end + clock_offset;
    const auto after = std::lower_bound(stamps.begin(), stamps.end(), at,
                                        [](const Stamp& s, double t) { return s.time < t; });
    const Stamp* nearest = after != stamps.end() ? &*after : nullptr;
    if (after != stamps.begin()) {
      const Stamp& before = *std::prev(after);
      if (nearest == nullptr || at - before.time < nearest->time - at) nearest = &before;
    }
    if (nearest == nullptr) continue;
    // An event that is farther than the step is long and than events are apart tells nothing.
    const double reach = std::max(step.end - step.start, 2 * out.uncertainty_s.value_or(0));
    if (std::abs(nearest->time - at) > reach + 1e-9) continue;
    step.metric_step = nearest->step;
    step.distance_s = nearest->time - step.end;
  }
}

void join_by_number(const std::vector<Stamp>& by_step, std::int64_t shift, Join& out) {
  for (JoinedStep& step : out.steps) {
    const auto wanted = static_cast<std::int64_t>(static_cast<std::uint64_t>(step.number) +
                                                  static_cast<std::uint64_t>(shift));
    const auto it = std::lower_bound(by_step.begin(), by_step.end(), wanted,
                                     [](const Stamp& s, std::int64_t n) { return s.step < n; });
    if (it == by_step.end() || it->step != wanted) continue;
    step.metric_step = wanted;
    step.distance_s = it->time - step.end;
  }
}

// Of the gaps that touch [from, to], else the usual one.
void measure_gap(const RunClock::Stamps& stamps, double from, double to, Join& out) {
  const std::vector<Stamp>& all = stamps.by_time;
  std::vector<double> near;
  auto it = std::lower_bound(all.begin(), all.end(), from,
                             [](const Stamp& s, double t) { return s.time < t; });
  if (it == all.begin() && it != all.end()) ++it;
  for (; it != all.end() && std::prev(it)->time <= to; ++it) {
    const double gap = it->time - std::prev(it)->time;
    if (gap > 0) near.push_back(gap);
  }
  if (!near.empty()) {
    out.uncertainty_s = median(std::move(near)) / 2;
  } else if (stamps.usual_gap) {
    out.uncertainty_s = *stamps.usual_gap / 2;
  }
}

void measure_offset(Join& out) {
  std::vector<double> distances;
  bool same = true;
  for (const JoinedStep& step : out.steps) {
    if (!step.metric_step) continue;
    distances.push_back(step.distance_s);
    const auto shift = static_cast<std::int64_t>(static_cast<std::uint64_t>(*step.metric_step) -
                                                 static_cast<std::uint64_t>(step.number));
    same = same && out.shift.value_or(shift) == shift;
    out.shift = shift;
  }
  if (!same) out.shift.reset();
  if (distances.empty()) return;
  out.offset_s = median(distances);
  std::sort(distances.begin(), distances.end());
  const std::size_t n = distances.size();
  out.offset_error_s = (distances[n - 1 - n / 4] - distances[n / 4]) / 2;
}

std::vector<std::string_view> parts_of(std::string_view path) {
  std::vector<std::string_view> parts;
  while (!path.empty()) {
    const auto slash = path.find('/');
    const std::string_view part = path.substr(0, slash);
    if (!part.empty() && part != ".") parts.push_back(part);
    path.remove_prefix(slash == std::string_view::npos ? path.size() : slash + 1);
  }
  return parts;
}

}  // namespace

Join find_join(const MetricRun& run, const std::vector<ProfiledStep>& steps, JoinBy by,
               std::int64_t shift, double clock_offset) {
  RunClock clock(run);
  return find_join(clock, steps, by, shift, clock_offset);
}

Join find_join(RunClock& clock, const std::vector<ProfiledStep>& steps, JoinBy by,
               std::int64_t shift, double clock_offset) {
  Join out;
  out.by = by;
  double from = std::numeric_limits<double>::infinity();
  double to = -from;
  for (const ProfiledStep& step : steps) {
    out.steps.push_back({step.number, step.start, step.end, std::nullopt, 0});
    from = std::min(from, step.start);
    to = std::max(to, step.end);
  }
  if (steps.empty()) return out;
  const double offset = by == JoinBy::kClock ? clock_offset : 0;
  const double margin = std::max(1.0, to - from);
  const MetricRun::Tag* tag = clock.tag_for(from + offset - margin, to + offset + margin);
  if (tag == nullptr) return out;
  out.clock_tag = tag->name;
  const RunClock::Stamps& stamps = clock.stamps(*tag);
  measure_gap(stamps, from + offset, to + offset, out);
  if (by == JoinBy::kClock) {
    join_by_clock(stamps.by_time, clock_offset, out);
  } else {
    join_by_number(stamps.by_step, shift, out);
  }
  measure_offset(out);
  return out;
}

std::optional<std::pair<std::int64_t, std::int64_t>> joined_range(const Join& join) {
  std::optional<std::pair<std::int64_t, std::int64_t>> range;
  for (const JoinedStep& step : join.steps) {
    if (!step.metric_step) continue;
    if (!range) range = {*step.metric_step, *step.metric_step};
    range->first = std::min(range->first, *step.metric_step);
    range->second = std::max(range->second, *step.metric_step);
  }
  return range;
}

std::vector<std::optional<double>> values_at(const MetricRun& run, const MetricRun::Tag& tag,
                                             const std::vector<JoinedStep>& steps) {
  std::map<std::int64_t, std::optional<double>> found;
  for (const JoinedStep& step : steps) {
    if (step.metric_step) found.emplace(*step.metric_step, std::nullopt);
  }
  run.for_each(tag, [&](const MetricPoint& p, bool superseded) {
    if (superseded) return;
    if (const auto it = found.find(p.step); it != found.end()) it->second = p.value;
  });
  std::vector<std::optional<double>> out;
  for (const JoinedStep& step : steps) {
    out.push_back(step.metric_step ? found[*step.metric_step] : std::nullopt);
  }
  return out;
}

std::optional<double> stamp_seconds(std::string_view digits) {
  double per_second = 1;
  switch (digits.size()) {
    case 10:
      break;
    case 13:
      per_second = 1e3;
      break;
    case 16:
      per_second = 1e6;
      break;
    case 19:
      per_second = 1e9;
      break;
    default:
      return std::nullopt;
  }
  double value = 0;
  for (const char c : digits) {
    if (c < '0' || c > '9') return std::nullopt;
    value = 10 * value + (c - '0');
  }
  return value / per_second;
}

std::size_t common_parts(std::string_view profile_run, std::string_view metric_run) {
  std::vector<std::string_view> profile = parts_of(profile_run);
  const std::size_t n = profile.size();
  if (n >= 3 && profile[n - 3] == "plugins" && profile[n - 2] == "profile") profile.resize(n - 3);
  const std::vector<std::string_view> metrics = parts_of(metric_run);
  std::size_t common = 0;
  while (common < profile.size() && common < metrics.size() && profile[common] == metrics[common]) {
    ++common;
  }
  return common;
}

}  // namespace traceglass
