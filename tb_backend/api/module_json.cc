#include "tb_backend/api/module_json.h"

namespace traceglass {
namespace {

Json row_json(const ModuleRow& r) {
  const ModuleTimes& t = r.times;
  Json j = {{"id", r.id},
            {"depth", r.depth},
            {"name", r.name},
            {"calls", r.calls},
            {"operators", t.operators},
            {"host_total_ns", t.host_total_ns},
            {"host_self_ns", t.host_self_ns},
            {"device_total_ns", t.device_total_ns},
            {"device_self_ns", t.device_self_ns},
            {"backward_host_total_ns", t.backward_host_total_ns},
            {"backward_host_self_ns", t.backward_host_self_ns},
            {"backward_device_total_ns", t.backward_device_total_ns},
            {"backward_device_self_ns", t.backward_device_self_ns}};
  if (r.parent != libtrace::kNone) j["parent"] = r.parent;
  if (t.flops > 0) j["flops"] = t.flops;
  if (t.backward_flops > 0) j["backward_flops"] = t.backward_flops;
  if (r.longest != libtrace::kNone) j["longest_event"] = r.longest;
  return j;
}

}  // namespace

Json modules_json(const Modules& m, const Selection& selection) {
  Json rows = Json::array();
  for (const ModuleRow& r : m.rows) rows.push_back(row_json(r));
  return {{"source", module_source_name(m.source)},
          {"steps", selection.count()},
          {"rows", std::move(rows)},
          {"left_out", m.left_out},
          {"device_ns", m.device_ns},
          {"no_module", {{"device_ns", m.no_module_device_ns}, {"host_ns", m.no_module_host_ns}}},
          {"backward", {{"linked", m.linked}, {"missing", m.missing}, {"doubled", m.doubled}}},
          {"has_flops", m.has_flops}};
}

Json module_json(const ModuleDetail& d) {
  Json instances = Json::array(), operators = Json::array();
  for (const ModuleInstance& i : d.instances) {
    instances.push_back({{"event", i.event},
                         {"start_ns", i.start_ns},
                         {"host_ns", i.host_ns},
                         {"device_ns", i.device_ns},
                         {"backward_host_ns", i.backward_host_ns},
                         {"backward_device_ns", i.backward_device_ns}});
  }
  for (const ModuleOperator& o : d.operators) {
    operators.push_back({{"name", o.name},
                         {"calls", o.calls},
                         {"host_self_ns", o.host_self_ns},
                         {"device_self_ns", o.device_self_ns}});
  }
  return {{"row", row_json(d.row)},
          {"path", d.path},
          {"instance_count", d.instance_count},
          {"instances", std::move(instances)},
          {"operators", std::move(operators)}};
}

}  // namespace traceglass
