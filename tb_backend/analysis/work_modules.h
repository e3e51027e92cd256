// Which module a slice or a piece of device work belongs to: it ran in one of its calls, or is part
// of the backward pass of what did.
#pragma once

#include <cstdint>
#include <string>

#include "tb_backend/analysis/backward_links.h"
#include "tb_backend/analysis/module_scopes.h"

namespace traceglass {

struct WorkModules {
  // O(number of slices).
  explicit WorkModules(const libtrace::Trace& trace) : trace_(trace), scopes(trace), links(trace) {}

  struct Place {
    std::uint32_t scope = libtrace::kNone;
    bool backward = false;
  };
  [[nodiscard]] Place place(libtrace::EventId host) const;
  // By its launch, else by its owner.
  [[nodiscard]] Place place_of_work(libtrace::EventId device) const;
  // A module for a sentence: "Linear_0 in Net_0".
  [[nodiscard]] std::string words(std::uint32_t module) const;

 private:
  const libtrace::Trace& trace_;

 public:
  ModuleScopes scopes;
  BackwardLinks links;
};

}  // namespace traceglass
