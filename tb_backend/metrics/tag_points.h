// The points of one tag in one event file, in the order of the file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tb_backend/metrics/event.h"

namespace traceglass {

struct MetricPoint {
  std::int64_t step = 0;
  double wall_time = 0;  // seconds since 1970; finite
  double value = 0;      // NaN and infinities too: they are gaps that a chart shows
};

struct TagPoints {
  // Points from `first` on were written after so many restarts in their file.
  struct Epoch {
    std::size_t first = 0, restarts = 0;
  };

  std::string tag, plugin;
  MetricKind kind = MetricKind::kOther;
  std::vector<MetricPoint> points;  // of a scalar
  std::vector<Epoch> epochs;        // at least one where there are points
  std::uint64_t count = 0;          // all that were read, whatever is kept
  std::uint64_t not_finite = 0;
  std::uint64_t of_other_kind = 0;  // values that do not go with what the tag was first

  void append(const MetricPoint& point, std::size_t restarts);
  // Of each run of 8 points keeps the first, the last, the least, the greatest and the first gap;
  // returns how many points went.
  std::size_t thin();
};

}  // namespace traceglass
