// The cost of every operator call of a trace whose inputs were recorded, each product counted once:
// of nested operators that do the same work the innermost with a formula stands for it.
#pragma once

#include <cstdint>
#include <vector>

#include "libtrace/trace.h"
#include "tb_backend/analysis/op_cost.h"

namespace traceglass {

class OpWork {
 public:
  // O(number of slices); equal inputs are read once.
  explicit OpWork(const libtrace::Trace& trace);

  // 0 for what has no formula, no shapes, or an operator below that does the work.
  [[nodiscard]] double flops(libtrace::EventId e) const {
    return counts_[e] ? costs_[cost_[e]].flops : 0;
  }
  // Of the inputs alone, whatever lies below.
  [[nodiscard]] const OpCost& cost(libtrace::EventId e) const { return costs_[cost_[e]]; }
  [[nodiscard]] bool counts(libtrace::EventId e) const { return counts_[e]; }

 private:
  std::vector<OpCost> costs_{OpCost{}};
  std::vector<std::uint32_t> cost_;  // by slice, 0: none
  std::vector<bool> counts_;
};

}  // namespace traceglass
