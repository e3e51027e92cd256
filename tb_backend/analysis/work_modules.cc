#include "tb_backend/analysis/work_modules.h"

#include "tb_backend/analysis/figures.h"

namespace traceglass {

using libtrace::EventId;
using libtrace::kNone;

WorkModules::Place WorkModules::place(EventId host) const {
  if (host == kNone) return {};
  if (const std::uint32_t s = scopes.around[host]; s != kNone) return {s, false};
  const EventId forward = links.forward_of[host];
  return forward == kNone ? Place{} : Place{scopes.around[forward], true};
}

WorkModules::Place WorkModules::place_of_work(EventId device) const {
  const EventId launch = trace_.launch(device);
  return place(launch != kNone ? launch : trace_.owner(device));
}

std::string WorkModules::words(std::uint32_t module) const {
  const ModulePath& path = scopes.modules[module];
  std::string text = short_name(path.name);
  if (path.parent != kNone) text += " in " + short_name(scopes.modules[path.parent].name);
  return text;
}

}  // namespace traceglass
