// The modules view: parameters → analysis → JSON.
#include "tb_backend/api/json.h"
#include "tb_backend/api/module_json.h"
#include "tb_backend/api/problem.h"
#include "tb_backend/api/router.h"

namespace traceglass {
namespace {

Reply modules(const LoadedTrace& loaded, const Call& call, const PathArgs&) {
  const Selection selection = selection_of(loaded, call);
  return json_reply(modules_json(find_modules(*loaded.trace, selection), selection));
}

Reply one_module(const LoadedTrace& loaded, const Call& call, const PathArgs&) {
  const auto id = static_cast<std::uint32_t>(call.query.integer("module", 0, UINT32_MAX));
  const auto detail = find_module(*loaded.trace, selection_of(loaded, call), id);
  if (!detail) {
    return problem_reply(
        {404, "not_found", "No such module in the chosen steps.", loaded.file.file, {}});
  }
  return json_reply(module_json(*detail));
}

}  // namespace

std::vector<TraceRoute> module_routes() {
  return {{"traces/{id}/modules", modules}, {"traces/{id}/module", one_module}};
}

}  // namespace traceglass
