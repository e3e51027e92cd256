// Which forward operator a backward one belongs to: by the `fwdbwd` arrows, else by sequence number
// and forward thread. A link that is missing or doubled costs itself alone and is counted.
#pragma once

#include <cstdint>
#include <vector>

#include "libtrace/trace.h"

namespace traceglass {

struct BackwardLinks {
  // O(number of slices); arguments of operators are only read where arrows leave something open.
  explicit BackwardLinks(const libtrace::Trace& trace);

  // By slice of a linked backward call's subtree: the forward operator; kNone elsewhere. A call is
  // the engine's `evaluate_function: …` where there is one, with the AccumulateGrad behind it.
  std::vector<libtrace::EventId> forward_of;
  std::vector<libtrace::EventId> calls;  // the roots of these subtrees, by id
  std::int64_t missing = 0;              // backward calls whose forward operator is unknown
  std::int64_t doubled = 0;              // arrows and calls with more than one partner
};

}  // namespace traceglass
