// Host and device time by module: the tree of modules, their calls, and the backward pass of what
// ran in them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tb_backend/analysis/module_scopes.h"
#include "tb_backend/analysis/steps.h"

namespace traceglass {

// Times of what ran in a scope itself (self), and with all scopes within it (total). Device: work
// launched there. Backward: calls of the engine that belong to operators of the forward pass there,
// unless they run in a scope themselves (a recomputed forward pass).
struct ModuleTimes {
  std::int64_t host_self_ns = 0, host_total_ns = 0, device_self_ns = 0, device_total_ns = 0;
  std::int64_t backward_host_self_ns = 0, backward_host_total_ns = 0;
  std::int64_t backward_device_self_ns = 0, backward_device_total_ns = 0;
  std::int64_t operators = 0;  // called by its code or that of modules within, not by operators
  double flops = 0, backward_flops = 0;  // total, of operators whose inputs tell
};

struct ModuleRow {
  std::uint32_t id = 0;                    // of the trace, whatever the selection
  std::uint32_t parent = libtrace::kNone;  // id
  std::uint32_t depth = 0;
  std::string name;
  std::int64_t calls = 0;
  ModuleTimes times;
  libtrace::EventId longest = libtrace::kNone;
};

struct Modules {
  ModuleSource source = ModuleSource::kNone;
  // Depth first, siblings by device total (backward included), host total, first call.
  std::vector<ModuleRow> rows;
  std::int64_t left_out = 0;  // smallest rows beyond `most`
  // What ran in no module and belongs to none. Device self of the rows, forward and backward, and
  // this sum to `device_ns`, the duration of all device work of the selection.
  std::int64_t no_module_device_ns = 0, no_module_host_ns = 0, device_ns = 0;
  std::int64_t linked = 0, missing = 0, doubled = 0;  // calls of the backward pass
  bool has_flops = false;
};

// Scopes that start in the selection. At most `most` rows.
Modules find_modules(const libtrace::Trace& trace, const Selection& selection,
                     std::size_t most = 20'000);

struct ModuleInstance {
  libtrace::EventId event = 0;
  std::int64_t start_ns = 0, host_ns = 0, device_ns = 0;  // with the scopes within
  std::int64_t backward_host_ns = 0, backward_device_ns = 0;
};
struct ModuleOperator {
  std::string name;
  std::int64_t calls = 0, host_self_ns = 0, device_self_ns = 0;
};
struct ModuleDetail {
  ModuleRow row;
  std::vector<std::string> path;  // outermost first
  std::int64_t instance_count = 0;
  std::vector<ModuleInstance> instances;  // in order of time, the first `most`
  std::vector<ModuleOperator> operators;  // that ran in it itself, by device self, host self
};
// nullopt: no such module, or it is not called in the selection.
std::optional<ModuleDetail> find_module(const libtrace::Trace& trace, const Selection& selection,
                                        std::uint32_t id, std::size_t most = 2000);

}  // namespace traceglass
