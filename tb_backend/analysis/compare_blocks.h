// Where in the program a step of B differs from one of A: the two call trees aligned, the calls
// that are longer or shorter, and the blocks that appeared, vanished or moved.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "libtrace/trace.h"
#include "tb_backend/analysis/call_tree.h"

namespace traceglass {

struct CompareBlock {
  enum class State : std::uint8_t { kMatched, kInserted, kVanished, kMoved };
  State state = State::kMatched;
  std::string name;
  std::vector<std::string> path;  // the calls around it, outermost first; the innermost few
  std::int64_t count = 1;         // calls of this path that are alike in state, together
  std::int64_t occurrence =
      0;  // of one call among several beside it, from 1; 0: not one of several
  // Of a step, with everything below; a device's is what was launched there.
  std::int64_t host_a_ns = 0, host_b_ns = 0, device_a_ns = 0, device_b_ns = 0;
  libtrace::EventId event_a = libtrace::kNone, event_b = libtrace::kNone;
};
const char* state_name(CompareBlock::State state);  // matched, inserted, vanished, moved

// Largest difference first, at most `most`. Calls of one path are one row, unless one of them makes
// most of their difference; a row stands here if no row directly below it does.
std::vector<CompareBlock> compare_blocks(const CallTree& a, const CallTree& b, std::size_t most);

}  // namespace traceglass
