// Profile steps beside metric steps: by the clock, or by their numbers when the user says that
// both count the same. Either way with the error that it may have.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tb_backend/metrics/store.h"

namespace traceglass {

// Seconds since 1970, by the clock of the machine that recorded the profile.
struct ProfiledStep {
  std::int64_t number = 0;
  double start = 0, end = 0;
};

enum class JoinBy : std::uint8_t { kClock, kNumber };

struct JoinedStep {
  std::int64_t number = 0;  // the profile's
  double start = 0, end = 0;
  std::optional<std::int64_t> metric_step;  // absent: no event is near
  double distance_s = 0;  // from the step's end to the event: negative, the event comes first

  [[nodiscard]] double duration_ms() const { return (end - start) * 1e3; }
};

struct Join {
  JoinBy by = JoinBy::kClock;
  std::string clock_tag;  // whose events tell the time of a metric step
  // How far a time may be from the step that it belongs to: half the median gap between events
  // around the profile. Absent without two events.
  std::optional<double> uncertainty_s;
  // What the events' clock and the end of a step differ by, over the joined steps: their median,
  // and half the width that the middle half of them takes. By the clock this is the time between
  // a step's end and its logging; by number also what two machines' clocks differ by.
  std::optional<double> offset_s, offset_error_s;
  // metric step - profile step, where it is the same for all joined steps.
  std::optional<std::int64_t> shift;
  std::vector<JoinedStep> steps;
};

// `shift`: by number, metric step = profile step + shift. `clock_offset`: by the clock, seconds
// that the events' clock is ahead of the profile's.
Join find_join(const MetricRun& run, const std::vector<ProfiledStep>& steps, JoinBy by,
               std::int64_t shift = 0, double clock_offset = 0);

// Least and greatest metric step that was joined.
std::optional<std::pair<std::int64_t, std::int64_t>> joined_range(const Join& join);

// The value of `tag` at each step, the last one written; absent where there is none.
std::vector<std::optional<double>> values_at(const MetricRun& run, const MetricRun::Tag& tag,
                                             const std::vector<JoinedStep>& steps);

// Seconds since 1970 of a file name's stamp, which torch writes in ns and wrote in ms; by its
// length. It is the time of writing: after the profile's end.
std::optional<double> stamp_seconds(std::string_view digits);

// How much two runs' folders have in common: whole parts of their paths, without the
// plugins/profile/<time> that TensorBoard's own profiler adds. The nearest common folder relates
// a profile to metrics.
std::size_t common_parts(std::string_view profile_run, std::string_view metric_run);

}  // namespace traceglass
