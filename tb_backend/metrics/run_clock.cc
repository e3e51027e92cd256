#include "tb_backend/metrics/run_clock.h"

#include <algorithm>

namespace traceglass {
namespace {

using Stamp = RunClock::Stamp;

bool earlier(const MetricPoint& a, const MetricPoint& b) { return a.wall_time < b.wall_time; }

// How many of `ordered`, sorted by `time`, lie in [from, to].
template <class Ordered, class Time>
std::size_t inside(const Ordered& ordered, double from, double to, Time time) {
  const auto first = std::partition_point(ordered.begin(), ordered.end(),
                                          [&](const auto& one) { return time(one) < from; });
  const auto last =
      std::partition_point(first, ordered.end(), [&](const auto& one) { return time(one) <= to; });
  return static_cast<std::size_t>(last - first);
}

std::vector<Stamp> last_of_each_step(std::vector<Stamp> written) {
  std::stable_sort(written.begin(), written.end(),
                   [](const Stamp& a, const Stamp& b) { return a.step < b.step; });
  std::size_t kept = 0;
  for (std::size_t i = 0; i < written.size(); ++i) {
    if (i + 1 < written.size() && written[i + 1].step == written[i].step) continue;
    written[kept++] = written[i];
  }
  written.resize(kept);
  return written;
}

std::optional<double> usual_gap(const std::vector<Stamp>& by_time) {
  std::vector<double> gaps;
  for (std::size_t i = 1; i < by_time.size(); ++i) {
    const double gap = by_time[i].time - by_time[i - 1].time;
    if (gap > 0) gaps.push_back(gap);
  }
  if (gaps.empty()) return std::nullopt;
  const auto middle = gaps.begin() + static_cast<std::ptrdiff_t>(gaps.size() / 2);
  std::nth_element(gaps.begin(), middle, gaps.end());
  return *middle;
}

}  // namespace

RunClock::RunClock(const MetricRun& run) : run_(run) {
  for (const MetricRun::Tag& tag : run.tags()) {
    if (tag.kind() != MetricKind::kScalar) continue;
    Times times{&tag, 0, {}};
    for (const MetricRun::Part& part : tag.parts) {
      const std::vector<MetricPoint>& points = part.points->points;
      times.count += points.size();
      std::vector<double>& sorted = times.sorted.emplace_back();
      if (std::is_sorted(points.begin(), points.end(), earlier)) continue;
      sorted.reserve(points.size());
      for (const MetricPoint& p : points) sorted.push_back(p.wall_time);
      std::sort(sorted.begin(), sorted.end());
    }
    if (times.count > 0) tags_.push_back(std::move(times));
  }
}

const MetricRun::Tag* RunClock::tag_for(double from, double to) const {
  const MetricRun::Tag* best = nullptr;
  std::size_t most = 0;
  for (const Times& times : tags_) {
    std::size_t near = 0;
    for (std::size_t p = 0; p < times.sorted.size(); ++p) {
      near += times.sorted[p].empty()
                  ? inside(times.tag->parts[p].points->points, from, to,
                           [](const MetricPoint& point) { return point.wall_time; })
                  : inside(times.sorted[p], from, to, [](double time) { return time; });
    }
    // A point inside beats any number outside.
    const std::size_t score = near > 0 ? near + (std::size_t{1} << 40U) : times.count;
    if (score > most) {
      most = score;
      best = times.tag;
    }
  }
  return best;
}

const RunClock::Stamps& RunClock::stamps(const MetricRun::Tag& tag) {
  const auto [it, fresh] = stamps_.try_emplace(&tag);
  Stamps& out = it->second;
  if (!fresh) return out;
  run_.for_each(tag, [&](const MetricPoint& p, bool superseded) {
    if (!superseded) out.by_time.push_back({p.wall_time, p.step});
  });
  out.by_step = last_of_each_step(out.by_time);
  std::stable_sort(out.by_time.begin(), out.by_time.end(),
                   [](const Stamp& a, const Stamp& b) { return a.time < b.time; });
  out.usual_gap = usual_gap(out.by_time);
  return out;
}

}  // namespace traceglass
