// When a run's steps were logged: made once for all profiles that are laid beside the run, so that
// each of them costs no pass over the points.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "tb_backend/metrics/join.h"
#include "tb_backend/metrics/store.h"

namespace traceglass {

// Of a run that does not change meanwhile. Not thread-safe.
class RunClock {
 public:
  struct Stamp {
    double time = 0;
    std::int64_t step = 0;
  };
  // Live points of one tag.
  struct Stamps {
    std::vector<Stamp> by_time;
    std::vector<Stamp> by_step;       // of each step the last that was written
    std::optional<double> usual_gap;  // median between two times
  };

  explicit RunClock(const MetricRun& run);

  // The tag that tells time best: the one with the most points in [from, to]. Curves that are
  // written once an epoch say little about a step. Where none has a point there, the one with the
  // most at all. The first of equals, so that the choice is stable. Null: no points.
  [[nodiscard]] const MetricRun::Tag* tag_for(double from, double to) const;
  [[nodiscard]] const Stamps& stamps(const MetricRun::Tag& tag);

 private:
  // Times of a part whose points are not in their order, sorted.
  struct Times {
    const MetricRun::Tag* tag = nullptr;
    std::size_t count = 0;
    std::vector<std::vector<double>> sorted;  // by part; empty where its points are in order
  };

  const MetricRun& run_;
  std::vector<Times> tags_;  // scalars with points
  std::map<const MetricRun::Tag*, Stamps> stamps_;
};

// As find_join() of a run.
Join find_join(RunClock& clock, const std::vector<ProfiledStep>& steps, JoinBy by,
               std::int64_t shift = 0, double clock_offset = 0);

}  // namespace traceglass
