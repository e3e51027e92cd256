// What a trace is: meta, its entry of the summary document, the names its tiles refer to.
#include "handler/chrome_writer.h"
#include "handler/gzip_sink.h"
#include "tb_backend/analysis/contents.h"
#include "tb_backend/analysis/excerpt.h"
#include "tb_backend/api/json.h"
#include "tb_backend/api/problem.h"
#include "tb_backend/api/router.h"
#include "tb_backend/api/summary.h"
#include "tb_backend/api/track_json.h"
#include "tb_backend/timeline/track_list.h"

namespace traceglass {
namespace {

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
  const TrackPage tracks = first_tracks(*loaded.timeline);
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
              {"trust", trust_json(judge(trace.report()))},
              {"steps", steps_json(loaded.steps)},
              {"views", contents.views},
              {"missing_views", missing_json(contents.missing)},
              {"recorded", contents.recorded},
              {"not_recorded", contents.not_recorded},
              {"metadata", metadata_json(trace)},
              {"groups", groups_json(*loaded.timeline, tracks.groups)},
              {"group_count", tracks.total},
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
// (call stacks) can be many times as long. A trace may have a million names: they come in parts.
Reply names(const LoadedTrace& loaded, const Call& call, const PathArgs&) {
  const libtrace::Trace& trace = *loaded.trace;
  const std::int64_t from = call.query.integer("from", 0, INT64_MAX, 0);
  const std::int64_t most = call.query.integer("n", 1, INT64_MAX, INT64_MAX);
  std::vector<bool> is_name(trace.string_count());
  for (libtrace::EventId e = 0; e < trace.size(); ++e) is_name[trace.name_id(e)] = true;
  Json list = Json::array();
  for (auto id = static_cast<std::uint64_t>(from);
       id < is_name.size() && list.size() < static_cast<std::uint64_t>(most); ++id) {
    list.push_back(is_name[id] ? trace.text(static_cast<libtrace::StringId>(id)) : "");
  }
  return json_reply({{"from", from}, {"names", std::move(list)}});
}

// A part of the trace, or all of it, for Perfetto and other readers of Chrome's JSON.
class TextSink final : public libtrace::ByteSink {
 public:
  libtrace::Status write(std::string_view bytes) override {
    text.append(bytes);
    return {};
  }
  libtrace::Status finish() override { return {}; }
  std::string text;
};

// The trace's own name with what was done to it, in letters that a header and a disk take.
std::string download_name(const std::string& file, bool part) {
  std::string stem = file.substr(file.rfind('/') + 1);
  for (const char* end : {".gz", ".json", ".pftrace", ".pt.trace"}) {
    if (stem.ends_with(end)) stem.resize(stem.size() - std::string_view(end).size());
  }
  for (char& c : stem) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (!plain && c != '.' && c != '-') c = '_';
  }
  return stem + (part ? ".cut" : "") + ".pt.trace.json.gz";
}

Reply download(const LoadedTrace& loaded, const Call& call, const PathArgs&) {
  libtrace::TimeRange range{call.query.time("t0", INT64_MIN), call.query.time("t1", INT64_MAX)};
  const bool part = call.query.find("t0") != nullptr || call.query.find("t1") != nullptr;
  if (range.start >= range.end) throw BadRequest{"t1", "Parameter t1 must lie behind t0."};
  TextSink text;
  libtrace::GzipSink gzip(text);
  const libtrace::TracePtr chosen = part ? excerpt(*loaded.trace, range) : loaded.trace;
  const libtrace::Status written = libtrace::write_chrome_trace(*chosen, gzip);
  if (!written.ok()) return problem_reply({500, "internal", written.message(), "", {}});
  Reply reply = Reply::text(200, "application/gzip", std::move(text.text));
  reply.headers.emplace_back(
      "Content-Disposition",
      "attachment; filename=\"" + download_name(loaded.file.file, part) + '"');
  return reply;
}

}  // namespace

std::vector<TraceRoute> trace_routes() {
  return {{"traces/{id}/meta", meta},
          {"traces/{id}/summary", summary},
          {"traces/{id}/names", names},
          {"traces/{id}/download", download, "application/gzip"}};
}

}  // namespace traceglass
