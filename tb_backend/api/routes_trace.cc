// What a trace is: meta, its entry of the summary document, the names its tiles refer to.
#include "tb_backend/analysis/contents.h"
#include "tb_backend/api/json.h"
#include "tb_backend/api/router.h"
#include "tb_backend/api/summary.h"

namespace traceglass {
namespace {

Json groups_json(const Timeline& timeline) {
  Json out = Json::array();
  for (const Group& group : timeline.groups()) {
    out.push_back({{"id", group.id},
                   {"section", group.section},
                   {"section_label", group.section_label},
                   {"type", group_type_name(group.type)},
                   {"label", group.label},
                   {"sublabel", group.sublabel},
                   {"rows", group.rows.size()},
                   {"events", group.events}});
  }
  return out;
}

Json missing_json(const std::vector<MissingView>& missing) {
  Json out = Json::array();
  for (const MissingView& m : missing) out.push_back({{"view", m.view}, {"reason", m.reason}});
  return out;
}

Json metadata_json(const libtrace::Trace& trace) {
  Json out = Json::object();
  for (const auto& [key, text] : trace.metadata()) out[key] = text;
  return out;
}

Reply meta(const LoadedTrace& loaded, const Call&, const PathArgs&) {
  const libtrace::Trace& trace = *loaded.trace;
  const Contents contents = find_contents(trace);
  const Trust trust = judge(trace.report());
  Json out = {{"id", loaded.file.id},
              {"generation", loaded.generation},
              {"run", loaded.file.run},
              {"worker", loaded.file.worker},
              {"span", loaded.file.span},
              {"file", loaded.file.file},
              {"rank_guessed", trace.rank_guessed()},
              {"range", range_json(trace.range())},
              {"events", trace.size()},
              {"events_by_kind", events_by_kind_json(trace)},
              {"report", report_json(trace.report())},
              {"trust", {{"grade", std::string(1, trust.grade)}, {"sentence", trust.sentence}}},
              {"steps", steps_json(loaded.steps)},
              {"views", contents.views},
              {"missing_views", missing_json(contents.missing)},
              {"recorded", contents.recorded},
              {"not_recorded", contents.not_recorded},
              {"metadata", metadata_json(trace)},
              {"groups", groups_json(*loaded.timeline)},
              {"name_count", trace.string_count()}};
  if (trace.rank()) out["rank"] = *trace.rank();
  if (trace.world_size()) out["world_size"] = *trace.world_size();
  if (trace.base_unix_ns()) out["base_unix_ns"] = std::to_string(*trace.base_unix_ns());
  return json_reply(out);
}

Reply summary(const LoadedTrace& loaded, const Call&, const PathArgs&) {
  return json_reply(summary_trace_json(*loaded.trace, loaded.file));
}

// Every interned text has its place, but only names of slices are sent: the texts of arguments
// (call stacks) can be many times as long.
Reply names(const LoadedTrace& loaded, const Call& call, const PathArgs&) {
  const libtrace::Trace& trace = *loaded.trace;
  const std::int64_t from = call.query.integer("from", 0, INT64_MAX, 0);
  std::vector<bool> is_name(trace.string_count());
  for (libtrace::EventId e = 0; e < trace.size(); ++e) is_name[trace.name_id(e)] = true;
  Json list = Json::array();
  for (auto id = static_cast<std::uint64_t>(from); id < is_name.size(); ++id) {
    list.push_back(is_name[id] ? trace.text(static_cast<libtrace::StringId>(id)) : "");
  }
  return json_reply({{"from", from}, {"names", std::move(list)}});
}

}  // namespace

std::vector<TraceRoute> trace_routes() {
  return {
      {"traces/{id}/meta", meta}, {"traces/{id}/summary", summary}, {"traces/{id}/names", names}};
}

}  // namespace traceglass
