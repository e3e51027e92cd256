// The return addresses around a scope: by frame pointers where they have shown to hold (0.9 ns a
// frame), else by backtrace() (100 ns a frame). Never libunwind: its library takes the place of
// backtrace() and _Unwind_* in the whole process.
#pragma once

#include <cstddef>
#include <cstdint>

namespace libtrace::detail {

// A readable piece of memory, a thread's stack in it. A walk stays within.
struct StackBounds {
  std::uintptr_t low = 0, high = 0;  // low == high: unknown
};
// Of the mapping the caller's stack lies in. Reads /proc/self/maps; safe in a signal handler.
StackBounds stack_bounds_here() noexcept;

enum class StackMethod : std::uint8_t { kFramePointers, kBacktrace };
// Compares the two on the caller's own stack, once a session. Frame pointers hold when they find
// every frame that backtrace() finds up to the C library's.
StackMethod choose_stack_method() noexcept;
void select_stack_method(StackMethod method) noexcept;
StackMethod selected_stack_method() noexcept;

// Innermost first, from the return into the caller on; returns how many. `hash` is theirs; 0: none.
std::size_t capture_stack(const StackBounds& bounds, std::uint64_t* frames, std::size_t most,
                          std::uint64_t& hash) noexcept;

}  // namespace libtrace::detail
