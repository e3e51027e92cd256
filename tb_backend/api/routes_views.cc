// The views of the page: parameters → analysis → JSON.
#include "tb_backend/api/graph_cache.h"
#include "tb_backend/api/json.h"
#include "tb_backend/api/problem.h"
#include "tb_backend/api/router.h"

namespace traceglass {
Selection selection_of(const LoadedTrace& loaded, const Call& call) {
  if (call.query.find("steps") == nullptr) return Selection::everything(loaded.steps);
  const auto [first, last] = call.query.range("steps");
  const auto count = static_cast<std::int64_t>(loaded.steps.size());
  if (first < 0 || first >= count) {
    throw BadRequest{"steps", "Parameter steps starts outside the trace's " +
                                  std::to_string(count) + " steps, which count from 0."};
  }
  return Selection::of(loaded.steps, static_cast<std::size_t>(first),
                       static_cast<std::size_t>(last));
}

namespace {

libtrace::Kind kind_of(const Call& call) {
  return call.query.choice("kind", {"op", "annotation"}) == "op" ? libtrace::Kind::kOp
                                                                 : libtrace::Kind::kAnnotation;
}

Reply overview(const LoadedTrace& loaded, const Call& call, const PathArgs&) {
  return json_reply(overview_json(*graph_of(loaded.trace), selection_of(loaded, call)));
}

Reply operators(const LoadedTrace& loaded, const Call& call, const PathArgs&) {
  const std::string group = call.query.choice("group", {"name", "shape", "stack"});
  const OperatorGroup by = group == "name"    ? OperatorGroup::kName
                           : group == "shape" ? OperatorGroup::kShape
                                              : OperatorGroup::kStack;
  return json_reply(operators_json(*loaded.trace, selection_of(loaded, call), kind_of(call), by));
}

Reply one_operator(const LoadedTrace& loaded, const Call& call, const PathArgs&) {
  const std::string& name = call.query.required("name");
  const auto json = operator_json(*loaded.trace, selection_of(loaded, call), kind_of(call), name);
  if (!json) {
    return problem_reply(
        {404, "not_found", "No operator of this name in the chosen steps.", loaded.file.file, {}});
  }
  return json_reply(*json);
}

Reply kernels(const LoadedTrace& loaded, const Call& call, const PathArgs&) {
  const bool by_name = call.query.choice("group", {"name", "launch"}) == "name";
  return json_reply(kernels_json(*loaded.trace, selection_of(loaded, call),
                                 by_name ? KernelGroup::kName : KernelGroup::kLaunch));
}

Reply memory(const LoadedTrace& loaded, const Call& call, const PathArgs&) {
  const std::int64_t points = call.query.integer("points", 16, 20000, 2000);
  return json_reply(
      memory_json(*loaded.trace, selection_of(loaded, call), static_cast<std::size_t>(points)));
}

Reply memory_blocks(const LoadedTrace& loaded, const Call& call, const PathArgs&) {
  BlockQuery query;
  query.type = call.query.required("type");
  query.device = call.query.integer("device", INT32_MIN, INT32_MAX);
  query.t0 = call.query.time("t0", query.t0);
  query.t1 = call.query.time("t1", query.t1);
  query.limit = static_cast<std::size_t>(call.query.integer("limit", 1, 100'000, 2000));
  return json_reply(memory_blocks_json(*loaded.trace, query));
}

}  // namespace

std::vector<TraceRoute> view_routes() {
  return {{"traces/{id}/overview", overview},     {"traces/{id}/operators", operators},
          {"traces/{id}/operator", one_operator}, {"traces/{id}/kernels", kernels},
          {"traces/{id}/memory", memory},         {"traces/{id}/memory/blocks", memory_blocks}};
}

}  // namespace traceglass
