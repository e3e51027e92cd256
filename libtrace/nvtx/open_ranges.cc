#include "libtrace/nvtx/open_ranges.h"

#include <pthread.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <new>

namespace libtrace::nvtx {
namespace {

constexpr int kDeepest = 1024;           // levels a thread may have open
constexpr std::size_t kSlots = 1 << 16;  // ranges a process may have open at once
constexpr std::size_t kProbes = 64;

struct Entry {
  const void* domain;
  int level;
  OpenRange range;
};

struct Stack {
  int depth = 0;
  int deeper = 0;  // pushes beyond, whatever their domain
  std::array<Entry, kDeepest> entries;

  Entry* innermost(const void* domain) noexcept {
    for (int i = depth - 1; i >= 0; --i) {
      Entry& entry = entries[static_cast<std::size_t>(i)];
      if (entry.domain == domain) return &entry;
    }
    return nullptr;
  }
};

constinit thread_local Stack* this_stack __attribute__((tls_model("initial-exec"))) = nullptr;

void free_stack(void* stack) noexcept {
  delete static_cast<Stack*>(stack);
  this_stack = nullptr;
}

Stack* stack_of_thread() noexcept {
  static const pthread_key_t key = [] {
    pthread_key_t k{};
    pthread_key_create(&k, free_stack);
    return k;
  }();
  if (this_stack == nullptr) {
    this_stack = new (std::nothrow) Stack;
    pthread_setspecific(key, this_stack);
  }
  return this_stack;
}

// A slot is reserved by whoever turns its id from 0 to kTaken, and belongs to a range once it holds
// the range's id.
constexpr RangeId kTaken = 1;
struct Slot {
  std::atomic<RangeId> id{0};
  OpenRange range;
};
constinit std::array<Slot, kSlots> slots;
// Ids count up; a slot serves those that are equal modulo kSlots. None is 0 or kTaken.
constinit std::atomic<RangeId> next_id{2 * kSlots};

}  // namespace

int push_range(const void* domain, OpenRange*& slot) noexcept {
  slot = nullptr;
  Stack* const stack = stack_of_thread();
  if (stack == nullptr) return kNoPushPopTracking;
  if (stack->depth == kDeepest) return kDeepest + stack->deeper++;
  const Entry* const outer = stack->innermost(domain);
  const int level = outer != nullptr ? outer->level + 1 : 0;
  Entry& entry = stack->entries[static_cast<std::size_t>(stack->depth++)];
  entry = {domain, level, {}};
  slot = &entry.range;
  return level;
}

Popped pop_range(const void* domain) noexcept {
  Stack* const stack = this_stack;
  if (stack == nullptr) return {kNoPushPopTracking, {}};
  if (stack->deeper != 0) return {kDeepest + --stack->deeper, {}};
  Entry* const entry = stack->innermost(domain);
  if (entry == nullptr) return {kNoPushPopTracking, {}};
  const Popped popped{entry->level, entry->range};
  Entry* const end = stack->entries.data() + stack->depth;
  std::move(entry + 1, end, entry);
  --stack->depth;
  return popped;
}

RangeId reserve_range() noexcept {
  for (std::size_t probe = 0; probe < kProbes; ++probe) {
    const RangeId id = next_id.fetch_add(1, std::memory_order_relaxed);
    RangeId free = 0;
    if (slots[id % kSlots].id.compare_exchange_strong(free, kTaken, std::memory_order_acquire,
                                                      std::memory_order_relaxed)) {
      return id;
    }
  }
  return 0;
}

void fill_range(RangeId id, OpenRange range) noexcept {
  Slot& slot = slots[id % kSlots];
  slot.range = range;
  slot.id.store(id, std::memory_order_release);
}

OpenRange take_range(RangeId id) noexcept {
  if (id <= kTaken) return {};
  Slot& slot = slots[id % kSlots];
  if (!slot.id.compare_exchange_strong(id, kTaken, std::memory_order_acquire,
                                       std::memory_order_relaxed)) {
    return {};
  }
  const OpenRange range = slot.range;
  slot.id.store(0, std::memory_order_release);
  return range;
}

}  // namespace libtrace::nvtx
