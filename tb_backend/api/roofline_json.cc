#include "tb_backend/api/roofline_json.h"

namespace traceglass {
namespace {

Json row_json(const RooflineRow& r) {
  Json j = {{"name", r.name},
            {"precision", precision_name(r.precision)},
            {"calls", r.calls},
            {"ns", r.ns},
            {"bound", bound_name(r.bound)}};
  put(j, "input_shapes", r.input_shapes);
  put(j, "flops", r.flops);
  put(j, "bytes", r.bytes);
  put(j, "flops_per_s", r.flops_per_s);
  put(j, "bytes_per_s", r.bytes_per_s);
  put(j, "flops_per_byte", r.flops_per_byte);
  put(j, "roof_pct", r.roof_pct);
  if (r.longest != libtrace::kNone) j["longest_event"] = r.longest;
  return j;
}

}  // namespace

Json roofline_json(const Roofline& roofline, const Selection& selection) {
  Json rows = Json::array(), roofs = Json::array();
  for (const RooflineRow& r : roofline.rows) rows.push_back(row_json(r));
  Json j = {{"host_time", roofline.host_time},
            {"device", roofline.device},
            {"steps", selection.count()},
            {"total_ns", roofline.total_ns},
            {"known_ns", roofline.known_ns},
            {"roofed_ns", roofline.roofed_ns},
            {"far_below_ns", roofline.far_below_ns},
            {"far_below_pct", kFarBelowPct},
            {"left_out", roofline.left_out}};
  if (roofline.peaks) {
    j["model"] = roofline.peaks->model;
    j["memory_bytes_per_s"] = roofline.peaks->memory_bytes_per_s();
    for (const Precision p : kRoofs) {
      const auto peak = peak_of(*roofline.peaks, p);
      if (peak) roofs.push_back({{"precision", precision_name(p)}, {"flops_per_s", *peak}});
    }
  }
  j["roofs"] = std::move(roofs);
  j["rows"] = std::move(rows);
  return j;
}

}  // namespace traceglass
