// Analyses as the JSON of openapi.yaml. No arithmetic: names and nesting only.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tb_backend/analysis/collectives.h"
#include "tb_backend/analysis/contents.h"
#include "tb_backend/analysis/kernels.h"
#include "tb_backend/analysis/operators.h"
#include "tb_backend/analysis/overview.h"
#include "tb_backend/analysis/step_graph.h"
#include "tb_backend/analysis/steps.h"

namespace traceglass {

using Json = nlohmann::json;

// A JSON text that is always valid UTF-8, whatever stands in names.
std::string dump(const Json& json, int indent = -1);

// A field is absent when it is unknown.
template <typename T>
void put(Json& json, const char* key, const std::optional<T>& value) {
  if (value) json[key] = *value;
}

Json range_json(libtrace::TimeRange range);
Json trust_json(const Trust& trust);
Json report_json(const libtrace::Report& report);
Json steps_json(const std::vector<Step>& steps);
Json events_by_kind_json(const libtrace::Trace& trace);
Json kernel_json(const KernelRow& row);
Json operator_row_json(const OperatorRow& row);

// Schemas Overview, Operators, OperatorDetail, Kernels, Memory, MemoryBlocks.
Json overview_json(const StepGraph& graph, const Selection& selection);
Json overview_json(const Overview& overview);  // its verdicts empty
Json operators_json(const libtrace::Trace& trace, const Selection& selection, libtrace::Kind kind,
                    OperatorGroup group);
std::optional<Json> operator_json(const libtrace::Trace& trace, const Selection& selection,
                                  libtrace::Kind kind, std::string_view name);
Json kernels_json(const libtrace::Trace& trace, const Selection& selection, KernelGroup group);
Json memory_json(const libtrace::Trace& trace, const Selection& selection, std::size_t points);

// Blocks of one device that live at some time in [t0, t1), largest first.
struct BlockQuery {
  std::string type;
  std::int64_t device = 0;
  std::int64_t t0 = INT64_MIN, t1 = INT64_MAX;
  std::size_t limit = 2000;
};
Json memory_blocks_json(const libtrace::Trace& trace, const BlockQuery& query);

// One span index of one run.
Json collectives_json(const std::string& run, const std::string& span,
                      const std::vector<Collective>& collectives);

}  // namespace traceglass
