#include "libtrace/record/stack.h"

#include <execinfo.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <string_view>

namespace libtrace::detail {
namespace {

constinit std::atomic<StackMethod> method{StackMethod::kBacktrace};

constexpr std::uint64_t kMultiplier = 0x9E37'79B9'7F4A'7C15;

std::uint64_t mixed(std::uint64_t hash, std::uint64_t frame) noexcept {
  return (hash ^ frame) * kMultiplier;
}
std::uint64_t finished(std::uint64_t hash) noexcept {
  hash ^= hash >> 32;
  return hash != 0 ? hash : 1;
}

// Value of a lower-case hexadecimal number at the start of `text`, which it is cut off.
std::uintptr_t take_hex(std::string_view& text) noexcept {
  std::uintptr_t v = 0;
  while (!text.empty()) {
    const char c = text.front();
    const int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
    if (digit < 0) break;
    v = v * 16 + static_cast<std::uintptr_t>(digit);
    text.remove_prefix(1);
  }
  return v;
}

// `line`: "low-high perms …".
StackBounds parse(std::string_view line) noexcept {
  StackBounds b;
  b.low = take_hex(line);
  if (!line.starts_with('-')) return {};
  line.remove_prefix(1);
  b.high = take_hex(line);
  if (!line.starts_with(" r")) return {};
  if (line.ends_with("[stack]")) {  // of the first thread: grows downwards as far as its limit
    rlimit limit{};
    constexpr rlim_t kMost = rlim_t{1} << 30;
    getrlimit(RLIMIT_STACK, &limit);
    b.low = std::min(b.low, b.high - std::min(limit.rlim_cur, kMost));
  }
  return b;
}

// The layout x86-64 and AArch64 share: [fp] the caller's fp, [fp + 8] the return address.
std::size_t walk(const void* from, const StackBounds& bounds, std::uint64_t* frames,
                 std::size_t most, std::uint64_t& hash) noexcept {
  auto fp = reinterpret_cast<std::uintptr_t>(from);
  std::size_t n = 0;
  if (bounds.high < bounds.low || bounds.high - bounds.low < 16) return 0;
  while (n < most) {
    // Only upwards and only within the stack: whatever a register held, no read can fault.
    if (fp < bounds.low || fp > bounds.high - 16 || fp % alignof(std::uintptr_t) != 0) break;
    // NOLINTNEXTLINE(performance-no-int-to-ptr): an address is what a frame holds.
    const auto* const frame = reinterpret_cast<const std::uintptr_t*>(fp);
    const std::uintptr_t next = frame[0], address = frame[1];
    if (address < 4096) break;
    frames[n++] = address;
    hash = mixed(hash, address);
    if (next <= fp) break;
    fp = next;
  }
  return n;
}

}  // namespace

StackBounds stack_bounds_here() noexcept {
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  const int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return {};
  StackBounds found;
  char block[2048];
  std::size_t held = 0;
  for (bool skipping = false; found.high == 0;) {
    const ssize_t n = read(fd, block + held, sizeof block - held);
    if (n <= 0) break;
    std::string_view text(block, held + static_cast<std::size_t>(n));
    for (std::size_t end; (end = text.find('\n')) != text.npos; text.remove_prefix(end + 1)) {
      const StackBounds b = skipping ? StackBounds{} : parse(text.substr(0, end));
      skipping = false;
      if (here >= b.low && here < b.high) found = b;
    }
    if (text.size() == sizeof block) {  // a line longer than the block: its start is all we need
      const StackBounds b = skipping ? StackBounds{} : parse(text);
      if (here >= b.low && here < b.high) found = b;
      skipping = true;
      text = {};
    }
    held = text.size();
    std::copy(text.begin(), text.end(), block);
  }
  close(fd);
  return found;
}

StackMethod selected_stack_method() noexcept { return method.load(std::memory_order_relaxed); }
void select_stack_method(StackMethod m) noexcept { method.store(m, std::memory_order_relaxed); }

__attribute__((noinline)) StackMethod choose_stack_method() noexcept {
  constexpr int kMost = 64;
  // The outermost are the C library's, built without frame pointers. Where the program's outermost
  // function returns to stands in its own frame, and is the last that must be found.
  constexpr std::size_t kLibraryFrames = 3;  // of the program: _start, __libc_start_main, …
  // The recorder itself is built with them: what its own frames say proves nothing. Into the
  // caller, which is the recorder's too; into the program; and where that returns to.
  constexpr std::size_t kFewest = 3;
  void* real[kMost];
  const auto count = static_cast<std::size_t>(std::max(0, backtrace(real, kMost)));
  const StackBounds bounds = stack_bounds_here();
  if (count < kFewest + 2 || bounds.high == 0) return StackMethod::kBacktrace;
  std::uint64_t found[kMost], hash = 0;
  const std::size_t n = walk(__builtin_frame_address(0), bounds, found, kMost, hash);
  // real[0] is this function.
  const std::size_t wanted = std::max(count - kLibraryFrames, kFewest);
  if (n < wanted) return StackMethod::kBacktrace;
  for (std::size_t i = 0; i < wanted; ++i) {
    if (found[i] != reinterpret_cast<std::uintptr_t>(real[i + 1])) return StackMethod::kBacktrace;
  }
  return StackMethod::kFramePointers;
}

__attribute__((noinline)) std::size_t capture_stack(const StackBounds& bounds,
                                                    std::uint64_t* frames, std::size_t most,
                                                    std::uint64_t& hash) noexcept {
  hash = 0;
  std::size_t n = 0;
  const void* const here = __builtin_frame_address(0);
  const auto at = reinterpret_cast<std::uintptr_t>(here);
  // A fibre or a signal's own stack: its end is not known, so that nothing is read there.
  const bool on_stack = at >= bounds.low && at < bounds.high;
  if (method.load(std::memory_order_relaxed) == StackMethod::kFramePointers) {
    if (on_stack) {
      n = walk(here, bounds, frames, most, hash);
    }
  } else {
    void* found[256];
    const int count = backtrace(found, static_cast<int>(std::min<std::size_t>(most + 1, 256)));
    for (int i = 1; i < count; ++i) {
      frames[n] = reinterpret_cast<std::uintptr_t>(found[i]);
      hash = mixed(hash, frames[n++]);
    }
  }
  hash = n != 0 ? finished(hash) : 0;
  return n;
}

}  // namespace libtrace::detail
