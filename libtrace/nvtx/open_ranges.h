// Which recorded range a pop or an end means. Neither names it fully: a pop ends the thread's
// innermost range of a domain, an end gives back a number that we handed out and that a program may
// mistype, or use twice. Bounded: a range that finds no place is not recorded.
#pragma once

#include "libtrace/nvtx/abi.h"
#include "libtrace/record/nvtx_recorder.h"

namespace libtrace::nvtx {

// Where a range was recorded, so that it ends there even when another recorder has come meanwhile.
struct OpenRange {
  const RecorderTable* recorder = nullptr;
  void* handle = nullptr;  // null: nothing records it
};

// The ranges that this thread has pushed and not popped.
//
// Makes room for one more: sets `slot`, to be filled, or null when there is none. The result is
// NVTX's: the level of the new range within its domain, from 0.
int push_range(const void* domain, OpenRange*& slot) noexcept;
struct Popped {
  int level;  // of the range that ended; kNoPushPopTracking: none was open
  OpenRange range;
};
Popped pop_range(const void* domain) noexcept;

// Ranges that threads share. Takes a place for one, to be filled before its id is given away; 0:
// there is none.
RangeId reserve_range() noexcept;
void fill_range(RangeId id, OpenRange range) noexcept;
// The range of that number, once; empty when there is none.
OpenRange take_range(RangeId id) noexcept;

}  // namespace libtrace::nvtx
