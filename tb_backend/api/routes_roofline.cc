// The roofline view: parameters → analysis → JSON.
#include "tb_backend/api/json.h"
#include "tb_backend/api/roofline_json.h"
#include "tb_backend/api/router.h"

namespace traceglass {
namespace {

Reply roofline(const LoadedTrace& loaded, const Call& call, const PathArgs&) {
  const Selection selection = selection_of(loaded, call);
  const bool by_operator = call.query.choice("group", {"operator", "kernel"}) == "operator";
  return json_reply(
      roofline_json(find_roofline(*loaded.trace, selection,
                                  by_operator ? RooflineGroup::kOperator : RooflineGroup::kKernel),
                    selection));
}

}  // namespace

std::vector<TraceRoute> roofline_routes() { return {{"traces/{id}/roofline", roofline}}; }

}  // namespace traceglass
