#include "tb_backend/api/summary.h"

#include <algorithm>
#include <map>

#include "tb_backend/analysis/activity.h"
#include "tb_backend/analysis/contents.h"
#include "tb_backend/analysis/memory.h"
#include "tb_backend/analysis/overview.h"
#include "tb_backend/api/verdict_json.h"
#include "tb_backend/ingest/ingest.h"
#include "tb_backend/logdir/names.h"

namespace traceglass {

using libtrace::Trace;

namespace {

// Fields of a row that the document has; the page's rows carry more.
Json only(Json row, std::initializer_list<const char*> fields) {
  Json out = Json::object();
  for (const char* f : fields) {
    if (row.contains(f)) out[f] = std::move(row[f]);
  }
  return out;
}

Json operators(const Trace& trace, const DeviceTimes& times, const Selection& all,
               libtrace::Kind kind) {
  Json out = Json::array();
  for (const OperatorRow& r : find_operators(trace, times, all, kind)) {
    out.push_back(only(operator_row_json(r), {"name", "calls", "host_total_ns", "host_self_ns",
                                              "device_total_ns", "device_self_ns"}));
  }
  return out;
}

Json memory(const Trace& trace) {
  Json out = Json::array();
  for (const MemoryDevice& d : find_memory(trace)) {
    Json j = {{"type", d.type},
              {"id", d.id},
              {"allocations", d.allocations},
              {"frees", d.frees},
              {"freed_from_before", d.freed_from_before}};
    if (d.peak_allocated) j["peak_allocated_bytes"] = *d.peak_allocated;
    if (d.peak_reserved) j["peak_reserved_bytes"] = *d.peak_reserved;
    out.push_back(std::move(j));
  }
  return out;
}

Json error_json(const TraceFile& file, const FileError& error) {
  Json j = {{"path", file.path.string()}, {"code", error.code}, {"message", error.message}};
  if (error.offset) j["offset"] = *error.offset;
  return j;
}

}  // namespace

Json summary_trace_json(const Trace& trace, const TraceFile& file) {
  const Selection all = Selection::everything(find_steps(trace));
  const DeviceTimes times(trace);
  const Overview overview = find_overview(trace, times, all);
  const Json overview_document = overview_json(overview);
  Json steps = Json::array(), devices = Json::array(), kernels = Json::array();
  for (const Json& s : overview_document["steps"]) {
    steps.push_back(
        only(s, {"name", "index", "synthetic", "incomplete", "host", "extended", "breakdown"}));
  }
  const std::vector<DeviceActivity> activity = find_devices(trace);
  for (std::size_t i = 0; i < activity.size(); ++i) {
    const DeviceActivity& d = activity[i];
    devices.push_back({{"type", d.type},
                       {"id", d.id},
                       {"name", d.name},
                       {"busy_ns", libtrace::length(d.busy)},
                       {"utilization_pct", overview.devices[i].utilization_pct}});
  }
  for (const KernelRow& r : find_kernels(trace, all)) {
    kernels.push_back(only(kernel_json(r), {"name", "calls", "total_ns", "mean_ns", "min_ns",
                                            "max_ns", "occupancy_pct"}));
  }
  Json j = {{"run", file.run},
            {"worker", file.worker},
            {"span", file.span},
            {"path", file.path.string()},
            {"rank_guessed", trace.rank_guessed()},
            {"events", trace.size()},
            {"events_by_kind", events_by_kind_json(trace)},
            {"range", range_json(trace.range())},
            {"report", report_json(trace.report())},
            {"steps", std::move(steps)},
            {"devices", std::move(devices)},
            {"communication", overview_document["communication"]},
            {"operators", operators(trace, times, all, libtrace::Kind::kOp)},
            {"annotations", operators(trace, times, all, libtrace::Kind::kAnnotation)},
            {"kernels", std::move(kernels)},
            {"memory", memory(trace)},
            {"views", find_contents(trace).views},
            {"verdicts", verdicts_json(trace, find_verdicts(trace, all))}};
  if (trace.rank()) j["rank"] = *trace.rank();
  if (trace.world_size()) j["world_size"] = *trace.world_size();
  if (trace.base_unix_ns()) j["base_unix_ns"] = std::to_string(*trace.base_unix_ns());
  return j;
}

void CollectiveCollector::add(const Trace& trace, const TraceFile& file) {
  if (!trace.rank()) return;
  std::vector<CollectiveKernel> kernels = collective_kernels(trace);
  if (kernels.empty()) return;
  std::vector<RankKernels>& ranks = spans_[{file.run, file.index}];
  const auto same = std::find_if(ranks.begin(), ranks.end(),
                                 [&](const RankKernels& r) { return r.rank == *trace.rank(); });
  if (same == ranks.end()) {
    ranks.push_back({*trace.rank(), std::move(kernels)});
  }  // a rank twice in one span: the first file speaks for it
}

Json CollectiveCollector::json() const {
  Json out = Json::array();
  for (const auto& [key, ranks] : spans_) {
    for (Json& c :
         collectives_json(key.first, std::to_string(key.second), match_collectives(ranks))) {
      out.push_back(std::move(c));
    }
  }
  return out;
}

Json summary_json(const std::vector<TraceFile>& files, const EachTrace& also) {
  Json traces = Json::array(), errors = Json::array();
  CollectiveCollector collectives;
  for (const TraceFile& file : files) {
    const IngestResult result = ingest_file(file.path);
    if (result.error) {
      errors.push_back(error_json(file, *result.error));
      continue;
    }
    traces.push_back(summary_trace_json(*result.trace, file));
    collectives.add(*result.trace, file);
    if (also) also(*result.trace, file);
  }
  return {{"schema", "traceglass.summary/1"},
          {"traces", std::move(traces)},
          {"errors", std::move(errors)},
          {"collectives", collectives.json()}};
}

std::vector<TraceFile> files_of(const std::vector<std::string>& paths, std::vector<Json>& errors) {
  std::vector<TraceFile> files;
  for (const std::string& path : paths) {
    std::error_code ignored;
    if (std::filesystem::is_directory(path, ignored)) {
      const Snapshot found = scan(single_logdir(path));
      files.insert(files.end(), found.files.begin(), found.files.end());
      if (found.files.empty()) {
        errors.push_back({{"path", path}, {"code", "empty"}, {"message", found.message}});
      }
      continue;
    }
    TraceFile file;
    file.path = path;
    const FileName name = parse_file_name(file.path.filename().string());
    file.run = file.path.has_parent_path() ? file.path.parent_path().string() : ".";
    file.worker = name.worker;
    file.span = name.span;
    // Its place among the spans of its worker that were named.
    file.index = 1;
    for (TraceFile& other : files) {
      if (other.run != file.run || other.worker != file.worker) continue;
      ++(span_less(file.span, other.span) ? other : file).index;
    }
    files.push_back(std::move(file));
  }
  return files;
}

}  // namespace traceglass
