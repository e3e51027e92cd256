// Idle time and critical path of the chosen steps.
#include "tb_backend/api/graph_cache.h"
#include "tb_backend/api/json.h"
#include "tb_backend/api/router.h"
#include "tb_backend/api/verdict_json.h"

namespace traceglass {
namespace {

Reply idle(const LoadedTrace& loaded, const Call& call, const PathArgs&) {
  return json_reply(idle_json(*graph_of(loaded.trace), selection_of(loaded, call)));
}

Reply critical_path(const LoadedTrace& loaded, const Call& call, const PathArgs&) {
  const Selection selection = selection_of(loaded, call);
  return json_reply(critical_path_json(*graph_of(loaded.trace), *loaded.timeline, selection,
                                       step_of(loaded, selection, call)));
}

}  // namespace

std::size_t step_of(const LoadedTrace& loaded, const Selection& selection, const Call& call) {
  const auto count = static_cast<std::int64_t>(loaded.steps.size());
  const std::int64_t step = call.query.integer("step", 0, INT32_MAX, count);
  if (call.query.find("step") == nullptr) return SIZE_MAX;
  if (step >= count || !selection.selected(static_cast<std::size_t>(step))) {
    throw BadRequest{"step", "Parameter step is none of the chosen steps; they count from 0."};
  }
  return static_cast<std::size_t>(step);
}

std::vector<TraceRoute> path_routes() {
  return {{"traces/{id}/critical-path", critical_path}, {"traces/{id}/idle", idle}};
}

}  // namespace traceglass
