// A lane: the records of one thread. The thread alone writes it, at the price of its clock
// readings; the collector (whoever opens and closes windows, one at a time) reads it meanwhile.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>

#include "libtrace/record/chunk.h"
#include "libtrace/record/stack.h"

namespace libtrace::detail {

inline constexpr std::size_t kThreadNameBytes = 16;  // with the NUL; the kernel's limit
inline constexpr std::size_t kSaidStacks = 256;

struct alignas(64) Lane {
  // -- the owner and its signal handlers
  Record* cursor = nullptr;  // next free slot of `chunk`
  Record* limit = nullptr;
  Chunk* chunk = nullptr;
  std::atomic<std::uint64_t> dropped{0};
  std::atomic<std::uint32_t> busy{0};  // within begin: a handler that records now is refused
  std::uint32_t full_window = 0;       // the window in which the pool had nothing left

  // -- written by the owner before others see the lane, but `first_chunk`: with its first scope
  std::atomic<Chunk*> first_chunk{nullptr};
  pid_t tid = 0;
  // -- the last that the owner writes; publishes what it wrote as it exited
  std::atomic<bool> retired{false};
  char name[kThreadNameBytes] = {};       // at its first scope
  char exit_name[kThreadNameBytes] = {};  // as it exited
  std::uint64_t exit_ticks = 0;

  // -- the collector
  Lane* next = nullptr;
  Chunk* unread = nullptr;      // first chunk with records not handed out; nullptr: first_chunk
  Record* unread_at = nullptr;  // within it
  std::uint64_t dropped_before = 0;

  // -- the owner again, and last: touched only where stacks are wanted
  StackBounds stack;
  std::uint32_t said_window = 0;  // the window in which `said` holds
  // Hashes of stacks whose frames stand in this window's records already, by their low bits.
  std::uint64_t said[kSaidStacks];
};

// A bit of `recording` beside those of Detail: set while a window is open.
inline constexpr std::uint32_t kStepsBit = 1U << 31;
// Number of the current or last window; changes only while none is open.
extern std::atomic<std::uint32_t> window_number;
// Scopes dropped on threads that could not even have a lane.
extern std::atomic<std::uint64_t> dropped_without_lane;

// A step's scope: begins a record whose name is made at export.
Record* begin_step(std::uint64_t number) noexcept;

// Lanes that threads made since the last call, as a list by `next`. For the collector.
Lane* take_new_lanes() noexcept;
// Returns the memory of a retired lane whose chunks are taken.
void free_lane(Lane* lane) noexcept;
// In the child of a fork: this thread has no lane, and there are no new ones.
void forget_lanes_after_fork() noexcept;

}  // namespace libtrace::detail
