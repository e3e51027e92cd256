#include "tb_backend/metrics/tag_points.h"

#include <algorithm>
#include <cmath>

namespace traceglass {
namespace {

constexpr std::size_t kRun = 8;

// Appends what is kept of [begin, end) to `out`.
void keep_extremes(const MetricPoint* begin, const MetricPoint* end,
                   std::vector<MetricPoint>& out) {
  const MetricPoint *least = nullptr, *greatest = nullptr, *gap = nullptr;
  for (const MetricPoint* p = begin; p != end; ++p) {
    if (!std::isfinite(p->value)) {
      if (gap == nullptr) gap = p;
      continue;
    }
    if (least == nullptr || p->value < least->value) least = p;
    if (greatest == nullptr || p->value > greatest->value) greatest = p;
  }
  for (const MetricPoint* p = begin; p != end; ++p) {
    if (p == begin || p + 1 == end || p == least || p == greatest || p == gap) out.push_back(*p);
  }
}

}  // namespace

void TagPoints::append(const MetricPoint& point, std::size_t restarts) {
  if (epochs.empty() || epochs.back().restarts != restarts) {
    epochs.push_back({points.size(), restarts});
  }
  points.push_back(point);
  ++count;
  if (!std::isfinite(point.value)) ++not_finite;
}

std::size_t TagPoints::thin() {
  std::vector<MetricPoint> kept;
  kept.reserve(points.size() / 2 + epochs.size());
  for (std::size_t e = 0; e < epochs.size(); ++e) {
    const std::size_t end = e + 1 < epochs.size() ? epochs[e + 1].first : points.size();
    const std::size_t begin = epochs[e].first;
    epochs[e].first = kept.size();
    for (std::size_t at = begin; at < end; at += kRun) {
      keep_extremes(points.data() + at, points.data() + std::min(at + kRun, end), kept);
    }
  }
  const std::size_t gone = points.size() - kept.size();
  kept.shrink_to_fit();
  points = std::move(kept);
  return gone;
}

}  // namespace traceglass
