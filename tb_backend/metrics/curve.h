// A tag as a curve: the points of a range, few enough to draw, with no extreme lost.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "tb_backend/metrics/store.h"

namespace traceglass {

enum class MetricAxis : std::uint8_t { kStep, kWall, kRelative };

struct CurveQuery {
  MetricAxis axis = MetricAxis::kStep;
  std::size_t points = 2000;                               // about as many at most
  double smoothing = 0;                                    // weight of what came before, in [0, 1)
  double from = -std::numeric_limits<double>::infinity();  // on the axis
  double to = std::numeric_limits<double>::infinity();
  bool superseded = false;  // what a restart made void is shown too
};

// All of one length. Between two points that were written one after another nothing is hidden:
// where points were left out, the least, the greatest, the first and the last of their stretch
// stand, in their order.
struct CurveLine {
  bool superseded = false;
  std::vector<double> x;  // ascending
  std::vector<std::int64_t> step;
  std::vector<double> wall_time, value, smooth;  // NaN: a gap; smooth is empty without smoothing
};

struct Curve {
  // A line ends where x goes back: a program that started over, or that shares its steps.
  std::vector<CurveLine> lines;
  std::uint64_t count = 0;       // points of the tag, whatever is shown
  std::uint64_t superseded = 0;  // … of them
  std::uint64_t in_range = 0;
  std::uint64_t not_finite = 0;
  bool reordered = false;  // x goes back too often for lines: points stand in the order of x
  // Steps, and seconds, between the points in the middle: their usual distance.
  std::optional<double> median_gap_s;
};

Curve find_curve(const MetricRun& run, const MetricRun::Tag& tag, const CurveQuery& query);

// First event of the run: the zero of its relative time.
std::optional<double> run_start(const MetricRun& run);

// TensorBoard's smoothing: an exponential mean, freed of the pull to its start. Gaps stay gaps.
class Smoother {
 public:
  explicit Smoother(double weight) : weight_(weight) {}
  double next(double value);

 private:
  double weight_, mean_ = 0, pull_ = 1;
};

// "scalar", "histogram", …
const char* kind_name(MetricKind kind);

struct MetricTagRow {
  std::string tag, plugin;
  MetricKind kind = MetricKind::kOther;
  std::uint64_t count = 0, superseded = 0, not_finite = 0, of_other_kind = 0;
  // Of a scalar with points; the last in the order of writing.
  std::optional<MetricPoint> first, last;
};
MetricTagRow tag_row(const MetricRun& run, const MetricRun::Tag& tag);

// What is wrong with a run's files, a sentence each.
struct MetricNotice {
  std::string code, message, file;
  std::uint64_t count = 1;
};
std::vector<MetricNotice> notices(const MetricRun& run);

}  // namespace traceglass
