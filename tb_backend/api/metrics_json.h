// Metrics as the JSON of openapi.yaml. No arithmetic: names and nesting only.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "tb_backend/api/metric_book.h"
#include "tb_backend/api/view_json.h"
#include "tb_backend/metrics/curve.h"
#include "tb_backend/metrics/join.h"

namespace traceglass {

// Which tags of a run are told.
struct TagChoice {
  std::string filter;  // in the tag, in any case; "": all
  std::size_t limit = 2000;
};

// Schema MetricRun.
Json metric_run_json(const MetricRun& run, bool related, const TagChoice& choice);
// Schema MetricSeries.
Json series_json(const MetricRun& run, const MetricRun::Tag& tag, const CurveQuery& query);
// Schema MetricMark.
Json mark_json(const TraceFile& file, std::size_t workers, const ProfileClock& clock,
               const Join& join, std::optional<double> run_start);
// Fields of schema MetricsAt that a join gives.
void put_join(Json& json, const ProfileClock& clock, const Join& join);
// … and the scalars at its steps, tags that have none left out.
void put_values(Json& json, const MetricRun& run, const Join& join, std::size_t limit);

const char* axis_name(MetricAxis axis);

}  // namespace traceglass
