#include "libtrace/record/window_hook.h"

#include <array>
#include <atomic>
#include <cstddef>

namespace libtrace::detail {
namespace {

constexpr std::size_t kMost = 8;
constinit std::array<std::atomic<const WindowHook*>, kMost> hooks{};

template <class F>
void for_each(F&& f) {
  for (const auto& slot : hooks) {
    if (const WindowHook* const hook = slot.load(std::memory_order_acquire)) f(*hook);
  }
}

}  // namespace

bool add_window_hook(const WindowHook& hook) noexcept {
  for (auto& slot : hooks) {
    const WindowHook* none = nullptr;
    if (slot.compare_exchange_strong(none, &hook, std::memory_order_acq_rel) || none == &hook) {
      return true;
    }
  }
  return false;
}

void open_window_hooks(std::uint32_t mask) noexcept {
  for_each([mask](const WindowHook& hook) { hook.open(mask); });
}

void close_window_hooks(Notes& notes) {
  for_each([&notes](const WindowHook& hook) { hook.close(notes); });
}

}  // namespace libtrace::detail
