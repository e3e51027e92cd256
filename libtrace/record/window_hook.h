// What runs as windows open and close: for adapters that watch a library only while something
// records.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace libtrace::detail {

// Keys and JSON values for the trace's metadata.
using Notes = std::vector<std::pair<std::string, std::string>>;

// Called on the thread of start(), step() or stop().
struct WindowHook {
  // Right before ranges are recorded; `mask` are the bits of Detail that are asked for.
  void (*open)(std::uint32_t mask) noexcept;
  // Right after.
  void (*close)(Notes& notes);
};

// For good. `hook` has static storage. False when there are too many.
bool add_window_hook(const WindowHook& hook) noexcept;

void open_window_hooks(std::uint32_t mask) noexcept;
void close_window_hooks(Notes& notes);

}  // namespace libtrace::detail
