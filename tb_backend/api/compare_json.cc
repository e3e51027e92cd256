#include "tb_backend/api/compare_json.h"

#include "tb_backend/analysis/compare_words.h"
#include "tb_backend/analysis/step_choice.h"
#include "tb_backend/api/query.h"

namespace traceglass {

using libtrace::kNone;

namespace {

Json steps_of(const Selection& selection) {
  Json out = Json::array();
  for (std::size_t i = 0; i < selection.steps().size(); ++i) {
    const Step& s = selection.steps()[i];
    out.push_back({{"name", s.name},
                   {"index", s.index},
                   {"ns", s.extended.length()},
                   {"selected", selection.selected(i)},
                   {"synthetic", s.synthetic},
                   {"incomplete", s.incomplete}});
  }
  return out;
}

Json side_json(const CompareSource& source, const ComparedSide& side) {
  return {{"id", source.file.id},
          {"run", source.file.run},
          {"worker", source.file.worker},
          {"span", source.file.span},
          {"index", source.file.index},
          {"file", source.file.file.empty() ? source.file.path.string() : source.file.file},
          {"set_aside", source.set_aside},
          {"trust", trust_json(judge(source.trace.report()))},
          {"label", steps_words(source.selection)},
          {"count", side.count},
          {"mean_ns", side.mean_ns},
          {"stddev_ns", side.stddev_ns},
          {"device_ns", side.device_ns},
          {"steps", steps_of(source.selection)}};
}

Json significance_json(const Comparison& c) {
  const Significance& s = c.significance;
  const char* method = s.method == Significance::Method::kNone    ? "none"
                       : s.method == Significance::Method::kExact ? "exact"
                                                                  : "sampled";
  Json j = {{"method", method}, {"significant", s.significant}, {"text", significance_text(c)}};
  if (s.method != Significance::Method::kNone) j["p"] = s.p;
  put(j, "low_ns", s.low);
  put(j, "high_ns", s.high);
  return j;
}

Json part_json(const ComparedPart& part) {
  Json j = {{"category", category_id(part.category)},
            {"a_ns", part.a_ns},
            {"b_ns", part.b_ns},
            {"delta_ns", part.delta_ns()}};
  if (part.split) {
    j["split"] = {{"calls_a", part.split->calls_a},
                  {"calls_b", part.split->calls_b},
                  {"calls_ns", part.split->calls_ns},
                  {"per_call_ns", part.split->per_call_ns},
                  {"overlap_ns", part.split->overlap_ns}};
  }
  return j;
}

void put_events(Json& j, libtrace::EventId a, libtrace::EventId b) {
  if (a != kNone) j["event_a"] = a;
  if (b != kNone) j["event_b"] = b;
}

Json row_json(const CompareRow& row) {
  Json j = {{"name", row.name},
            {"measure", measure_name(row.measure)},
            {"category", category_id(row.category)},
            {"calls_a", row.calls_a},
            {"calls_b", row.calls_b},
            {"a_ns", row.a_ns},
            {"b_ns", row.b_ns},
            {"delta_ns", row.delta_ns()}};
  put(j, "delta_pct", row.delta_pct);
  put_events(j, row.event_a, row.event_b);
  return j;
}

Json block_json(const CompareBlock& block) {
  Json j = {{"state", state_name(block.state)},
            {"name", block.name},
            {"path", block.path},
            {"count", block.count},
            {"occurrence", block.occurrence},
            {"host_a_ns", block.host_a_ns},
            {"host_b_ns", block.host_b_ns},
            {"host_delta_ns", block.host_b_ns - block.host_a_ns},
            {"device_a_ns", block.device_a_ns},
            {"device_b_ns", block.device_b_ns},
            {"device_delta_ns", block.device_b_ns - block.device_a_ns}};
  put_events(j, block.event_a, block.event_b);
  return j;
}

ChosenSelection usual(const std::vector<Step>& steps, StepChoice choice) {
  return {Selection::of(steps, choice.first, choice.last), choice.set_aside};
}

ChosenSelection choose(const AskedSteps& side, const char* parameter) {
  if (side.asked.empty()) return usual(side.steps, usual_steps(side.steps));
  if (side.asked == "all") return {Selection::everything(side.steps), false};
  const auto [first, last] =
      Query(std::vector<std::pair<std::string, std::string>>{{parameter, side.asked}})
          .range(parameter);
  const auto count = static_cast<std::int64_t>(side.steps.size());
  if (first < 0 || first >= count) {
    throw BadRequest{parameter, "Parameter " + std::string(parameter) +
                                    " starts outside the trace's " + std::to_string(count) +
                                    " steps, which count from 0."};
  }
  return {
      Selection::of(side.steps, static_cast<std::size_t>(first), static_cast<std::size_t>(last)),
      false};
}

template <typename Items, typename ToJson>
Json list(const Items& items, ToJson&& to_json) {
  Json out = Json::array();
  for (const auto& item : items) out.push_back(to_json(item));
  return out;
}

}  // namespace

std::pair<ChosenSelection, ChosenSelection> choose_selections(const AskedSteps& a,
                                                              const AskedSteps& b) {
  if (a.asked.empty() && b.asked.empty()) {
    const auto [usual_a, usual_b] = usual_steps(a.steps, b.steps);
    return {usual(a.steps, usual_a), usual(b.steps, usual_b)};
  }
  return {choose(a, "steps_a"), choose(b, "steps_b")};
}

std::string steps_words(const Selection& selection) {
  const std::vector<Step>& steps = selection.steps();
  std::size_t first = 0, last = steps.size();
  while (first < last && !selection.selected(first)) ++first;
  while (first < last && !selection.selected(last - 1)) --last;
  if (first == last) return "no steps";
  if (steps[first].synthetic) return "the whole recording";
  if (last - first == 1) return "step " + std::to_string(steps[first].index);
  return "steps " + std::to_string(steps[first].index) + "\xE2\x80\x93" +
         std::to_string(steps[last - 1].index);
}

const char* verdict_name(CompareVerdict verdict) {
  switch (verdict) {
    case CompareVerdict::kNothing:
      return "nothing";
    case CompareVerdict::kEqual:
      return "equal";
    case CompareVerdict::kChance:
      return "chance";
    case CompareVerdict::kUntested:
      return "untested";
    case CompareVerdict::kSlower:
      return "slower";
    case CompareVerdict::kFaster:
      return "faster";
  }
  return "";
}

Json comparison_json(const CompareSource& a, const CompareSource& b, const Comparison& c) {
  Json j = {{"a", side_json(a, c.a)},
            {"b", side_json(b, c.b)},
            {"verdict", verdict_name(c.verdict)},
            {"delta_ns", c.delta_ns()},
            {"sentence",
             list(compare_sentence(c),
                  [](const Words& w) { return Json{{"text", w.text}, {"strong", w.strong}}; })},
            {"significance", significance_json(c)},
            {"parts", list(c.parts, part_json)},
            {"device_changed", c.device_changed},
            {"rows", list(c.rows.rows, row_json)},
            {"appeared", c.rows.appeared},
            {"vanished", c.rows.vanished},
            {"blocks", list(c.blocks, block_json)},
            {"notes", c.notes}};
  put(j, "delta_pct", c.delta_pct);
  return j;
}

}  // namespace traceglass
