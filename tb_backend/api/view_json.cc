#include "tb_backend/api/view_json.h"

#include <array>

#include "tb_backend/analysis/activity.h"
#include "tb_backend/api/verdict_json.h"

namespace traceglass {

using libtrace::kNone;
using libtrace::Trace;

namespace {

Json histogram_json(const Histogram& h) { return {{"min_exp", h.min_exp}, {"counts", h.counts}}; }

Json breakdown_json(const Breakdown& b) {
  return {{"kernel_ns", b.of(Category::kKernel)},
          {"memcpy_ns", b.of(Category::kMemcpy)},
          {"memset_ns", b.of(Category::kMemset)},
          {"communication_ns", b.of(Category::kCommunication)},
          {"runtime_ns", b.of(Category::kRuntime)},
          {"dataloader_ns", b.of(Category::kDataLoader)},
          {"cpu_ns", b.of(Category::kCpu)},
          {"other_ns", b.of(Category::kOther)}};
}

Json step_json(const Step& s) {
  return {{"name", s.name},
          {"index", s.index},
          {"synthetic", s.synthetic},
          {"incomplete", s.incomplete},
          {"host", range_json(s.host)},
          {"extended", range_json(s.extended)}};
}

Json device_card_json(const DeviceCard& d) {
  Json j = {{"type", d.type},
            {"id", d.id},
            {"name", d.name},
            {"busy_ns", d.busy_ns},
            {"utilization_pct", d.utilization_pct},
            {"kernel_ns", d.kernel_ns},
            {"tensor_core_ns", d.tensor_core_ns}};
  put(j, "occupancy_pct", d.occupancy_pct);
  put(j, "sm_efficiency_pct", d.sm_efficiency_pct);
  if (!d.compute.empty()) j["compute"] = d.compute;
  put(j, "sm_count", d.sm_count);
  put(j, "memory_total_bytes", d.memory_total_bytes);
  put(j, "memory_peak_bytes", d.memory_peak_bytes);
  return j;
}

template <typename Rows, typename ToJson>
Json rows_json(const Rows& rows, ToJson&& to_json) {
  Json out = Json::array();
  for (const auto& row : rows) out.push_back(to_json(row));
  return out;
}

}  // namespace

std::string dump(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

Json range_json(libtrace::TimeRange range) {
  return {{"start_ns", range.start}, {"end_ns", range.end}};
}

Json trust_json(const Trust& trust) {
  return {{"grade", std::string(1, trust.grade)}, {"sentence", trust.sentence}};
}

Json report_json(const libtrace::Report& report) {
  return rows_json(report.entries(), [](const libtrace::ReportEntry& e) {
    return Json{{"code", e.code},
                {"severity", libtrace::severity_name(e.severity)},
                {"count", e.count},
                {"message", e.message},
                {"first", e.first}};
  });
}

Json steps_json(const std::vector<Step>& steps) { return rows_json(steps, step_json); }

Json events_by_kind_json(const Trace& trace) {
  std::array<std::int64_t, libtrace::kKindCount> counts{};
  for (libtrace::EventId e = 0; e < trace.size(); ++e) {
    ++counts[static_cast<std::size_t>(trace.kind(e))];
  }
  Json out = Json::object();
  for (std::size_t k = 0; k < counts.size(); ++k) {
    if (counts[k] > 0) out[std::string(kind_name(static_cast<libtrace::Kind>(k)))] = counts[k];
  }
  return out;
}

Json kernel_json(const KernelRow& r) {
  Json j = {{"name", r.name},
            {"calls", r.calls},
            {"total_ns", r.total_ns},
            {"mean_ns", r.mean_ns()},
            {"min_ns", r.min_ns},
            {"max_ns", r.max_ns},
            {"tensor_cores", tensor_cores_name(r.tensor_cores)},
            {"histogram", histogram_json(r.histogram)}};
  put(j, "operator", r.op);
  put(j, "grid", r.grid);
  put(j, "block", r.block);
  put(j, "registers_per_thread", r.registers_per_thread);
  put(j, "shared_memory_bytes", r.shared_memory_bytes);
  put(j, "occupancy_pct", r.occupancy_pct);
  put(j, "blocks_per_sm", r.blocks_per_sm);
  if (r.longest != kNone) j["first_event"] = r.longest;
  return j;
}

Json operator_row_json(const OperatorRow& r) {
  Json j = {{"name", r.name},
            {"calls", r.calls},
            {"host_total_ns", r.host_total_ns},
            {"host_self_ns", r.host_self_ns},
            {"device_total_ns", r.device_total_ns},
            {"device_self_ns", r.device_self_ns}};
  put(j, "input_shapes", r.input_shapes);
  if (!r.stack.empty()) j["stack"] = r.stack;
  if (r.tensor_cores) j["tensor_cores"] = tensor_cores_name(*r.tensor_cores);
  if (r.longest != kNone) j["first_event"] = r.longest;
  return j;
}

// More than anybody looks through, less than a browser chokes on; what is left out is summed.
constexpr std::size_t kMostRows = 20'000;

Json overview_json(const StepGraph& graph, const Selection& selection) {
  const Trace& trace = graph.trace();
  Json out = overview_json(find_overview(trace, DeviceTimes(trace), selection));
  out["verdicts"] = verdicts_json(trace, find_verdicts(graph, selection));
  return out;
}

Json overview_json(const Overview& o) {
  const Json steps = rows_json(o.steps, [](const StepRow& row) {
    Json j = step_json(row.step);
    j["selected"] = row.selected;
    j["breakdown"] = breakdown_json(row.breakdown);
    j["device_busy_pct"] = row.device_busy_pct;
    return j;
  });
  return {{"step_count", o.step_count},
          {"mean_step_ns", o.mean_step_ns},
          {"stddev_step_ns", o.stddev_step_ns},
          {"mean_breakdown", breakdown_json(o.mean_breakdown)},
          {"steps", steps},
          {"devices", rows_json(o.devices, device_card_json)},
          {"communication",
           {{"total_ns", o.communication.total_ns}, {"exposed_ns", o.communication.exposed_ns}}},
          {"top_operators", rows_json(o.top_operators, operator_row_json)},
          {"top_kernels", rows_json(o.top_kernels, kernel_json)},
          {"top_host", rows_json(o.top_host, operator_row_json)},
          {"verdicts", Json::array()}};
}

Json operators_json(const Trace& trace, const Selection& selection, libtrace::Kind kind,
                    OperatorGroup group) {
  auto rows = find_operators(trace, DeviceTimes(trace), selection, kind, group);
  Json out = {{"steps", selection.count()}};
  if (rows.size() > kMostRows) {
    std::int64_t host = 0, device = 0;
    for (std::size_t i = kMostRows; i < rows.size(); ++i) {
      host += rows[i].host_self_ns;
      device += rows[i].device_self_ns;
    }
    out["left_out"] = {
        {"rows", rows.size() - kMostRows}, {"host_self_ns", host}, {"device_self_ns", device}};
    rows.resize(kMostRows);
  }
  out["rows"] = rows_json(rows, operator_row_json);
  return out;
}

std::optional<Json> operator_json(const Trace& trace, const Selection& selection,
                                  libtrace::Kind kind, std::string_view name) {
  const auto detail = find_operator(trace, DeviceTimes(trace), selection, kind, name);
  if (!detail) return std::nullopt;
  const Json stacks = rows_json(detail->stacks, [](const OperatorRow& r) {
    return Json{{"calls", r.calls}, {"frames", r.stack}};
  });
  return Json{{"name", detail->row.name},
              {"row", operator_row_json(detail->row)},
              {"kernels", rows_json(detail->kernels, kernel_json)},
              {"histogram", histogram_json(detail->histogram)},
              {"shapes", rows_json(detail->shapes, operator_row_json)},
              {"stacks", stacks}};
}

Json kernels_json(const Trace& trace, const Selection& selection, KernelGroup group) {
  auto rows = find_kernels(trace, selection, group);
  const std::int64_t total = total_of(rows);
  Json out = {{"steps", selection.count()}, {"total_ns", total}};
  if (rows.size() > kMostRows) {
    const std::size_t left_out = rows.size() - kMostRows;
    rows.resize(kMostRows);
    out["left_out"] = {{"rows", left_out}, {"total_ns", total - total_of(rows)}};
  }
  const auto copies = find_kernels(trace, selection, KernelGroup::kName, KernelFilter::kCopies);
  out["rows"] = rows_json(rows, kernel_json);
  out["copies"] = rows_json(copies, kernel_json);
  return out;
}

Json collectives_json(const std::string& run, const std::string& span,
                      const std::vector<Collective>& collectives) {
  return rows_json(collectives, [&](const Collective& c) {
    Json j = {{"run", run},
              {"span", span},
              {"group", c.group},
              {"name", c.name},
              {"transfer_ns", c.transfer_ns},
              {"last_rank", c.last_rank},
              {"ranks", rows_json(c.ranks, [](const Collective::Wait& w) {
                 return Json{{"rank", w.rank}, {"wait_ns", w.wait_ns}};
               })}};
    put(j, "seq", c.seq);
    return j;
  });
}

}  // namespace traceglass
