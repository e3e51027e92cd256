#include "tb_backend/api/metrics_json.h"

#include <algorithm>
#include <cmath>

namespace traceglass {
namespace {

// JSON has no NaN and no infinity: a gap is null.
Json number(double value) { return std::isfinite(value) ? Json(value) : Json(); }

Json numbers(const std::vector<double>& values) {
  Json out = Json::array();
  for (const double value : values) out.push_back(number(value));
  return out;
}

Json numbers(const std::vector<std::optional<double>>& values) {
  Json out = Json::array();
  for (const auto& value : values) out.push_back(value ? number(*value) : Json());
  return out;
}

// How a value that is no number is called.
const char* not_finite(double value) {
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

Json tag_json(const MetricTagRow& row) {
  Json out = {{"tag", row.tag},
              {"kind", kind_name(row.kind)},
              {"count", row.count},
              {"superseded", row.superseded},
              {"not_finite", row.not_finite},
              {"of_other_kind", row.of_other_kind}};
  if (!row.plugin.empty()) out["plugin"] = row.plugin;
  if (row.first) {
    out["first_step"] = row.first->step;
    out["first_wall_time"] = row.first->wall_time;
  }
  if (row.last) {
    out["last_step"] = row.last->step;
    out["last_wall_time"] = row.last->wall_time;
    const bool finite = std::isfinite(row.last->value);
    out["last_value"] = finite ? Json(row.last->value) : Json(not_finite(row.last->value));
  }
  return out;
}

bool contains_ignoring_case(std::string_view text, std::string_view part) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : int{c}; };
  const auto same = [&](char a, char b) { return lower(a) == lower(b); };
  return std::search(text.begin(), text.end(), part.begin(), part.end(), same) != text.end();
}

const char* source_name(ProfileClock::Source source) {
  switch (source) {
    case ProfileClock::Source::kTrace:
      return "trace";
    case ProfileClock::Source::kName:
      return "name";
    case ProfileClock::Source::kModified:
      break;
  }
  return "modified";
}

}  // namespace

const char* axis_name(MetricAxis axis) {
  switch (axis) {
    case MetricAxis::kStep:
      return "step";
    case MetricAxis::kWall:
      return "wall";
    case MetricAxis::kRelative:
      break;
  }
  return "relative";
}

Json metric_run_json(const MetricRun& run, bool related, const TagChoice& choice) {
  std::uint64_t bytes = 0;
  for (const MetricRun::File& file : run.files()) bytes += file.bytes;
  Json out = {{"name", run.name()},      {"files", run.files().size()},    {"bytes", bytes},
              {"related", related},      {"tag_count", run.tags().size()}, {"tags", Json::array()},
              {"notices", Json::array()}};
  put(out, "start_unix_s", run_start(run));
  Json& tags = out["tags"];
  std::size_t matching = 0;
  for (const MetricRun::Tag& tag : run.tags()) {
    if (!contains_ignoring_case(tag.name, choice.filter)) continue;
    ++matching;
    if (tags.size() < choice.limit) tags.push_back(tag_json(tag_row(run, tag)));
  }
  out["matching"] = matching;
  for (const MetricNotice& notice : notices(run)) {
    out["notices"].push_back({{"code", notice.code},
                              {"message", notice.message},
                              {"file", notice.file},
                              {"count", notice.count}});
  }
  return out;
}

Json series_json(const MetricRun& run, const MetricRun::Tag& tag, const CurveQuery& query) {
  const Curve curve = find_curve(run, tag, query);
  Json lines = Json::array();
  for (const CurveLine& line : curve.lines) {
    Json one = {{"superseded", line.superseded},
                {"x", line.x},
                {"step", line.step},
                {"wall_time", line.wall_time},
                {"value", numbers(line.value)}};
    if (!line.smooth.empty()) one["smooth"] = numbers(line.smooth);
    lines.push_back(std::move(one));
  }
  Json out = {{"run", run.name()},
              {"tag", tag.name},
              {"axis", axis_name(query.axis)},
              {"count", curve.count},
              {"superseded", curve.superseded},
              {"in_range", curve.in_range},
              {"not_finite", curve.not_finite},
              {"reordered", curve.reordered},
              {"lines", std::move(lines)}};
  put(out, "median_gap_s", curve.median_gap_s);
  return out;
}

void put_join(Json& json, const ProfileClock& clock, const Join& join) {
  json["by"] = join.by == JoinBy::kClock ? "clock" : "number";
  json["source"] = source_name(clock.source);
  json["loaded"] = clock.loaded;
  if (!join.clock_tag.empty()) json["clock_tag"] = join.clock_tag;
  put(json, "uncertainty_s", join.uncertainty_s);
  put(json, "offset_s", join.offset_s);
  put(json, "offset_error_s", join.offset_error_s);
  json["steps"] = Json::array();
  if (clock.steps.empty()) return;
  put(json, "shift", join.shift);
  for (const JoinedStep& step : join.steps) {
    Json one = {{"number", step.number},
                {"start_unix_s", step.start},
                {"end_unix_s", step.end},
                {"duration_ms", step.duration_ms()}};
    put(one, "metric_step", step.metric_step);
    if (step.metric_step) one["distance_s"] = step.distance_s;
    json["steps"].push_back(std::move(one));
  }
}

Json mark_json(const TraceFile& file, std::size_t workers, const ProfileClock& clock,
               const Join& join, std::optional<double> run_start) {
  Json out = {{"id", file.id},          {"run", file.run},     {"worker", file.worker},
              {"span", file.span},      {"index", file.index}, {"workers", workers},
              {"end_unix_s", clock.end}};
  put(out, "start_unix_s", clock.start);
  put_join(out, clock, join);
  if (const auto range = joined_range(join)) {
    out["first_metric_step"] = range->first;
    out["last_metric_step"] = range->second;
  }
  if (run_start) {
    out["relative_end_s"] = clock.end - *run_start;
    if (clock.start) out["relative_start_s"] = *clock.start - *run_start;
  }
  return out;
}

void put_values(Json& json, const MetricRun& run, const Join& join, std::size_t limit) {
  Json rows = Json::array();
  std::size_t matching = 0;
  for (const MetricRun::Tag& tag : run.tags()) {
    if (tag.kind() != MetricKind::kScalar) continue;
    const auto values = values_at(run, tag, join.steps);
    const bool any = std::any_of(values.begin(), values.end(), [](const auto& v) { return v; });
    if (!any) continue;
    if (++matching <= limit) rows.push_back({{"tag", tag.name}, {"values", numbers(values)}});
  }
  json["rows"] = std::move(rows);
  json["row_count"] = matching;
}

}  // namespace traceglass
