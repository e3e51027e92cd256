#include "libtrace/torch/open_ops.h"

#include <pthread.h>

#include <mutex>
#include <new>
#include <type_traits>

namespace libtrace::torch_adapter {
namespace {

thread_local OpenOps* this_thread __attribute__((tls_model("initial-exec"))) = nullptr;

// Threads may end while the process exits: constant, and nothing to destroy.
struct All {
  std::mutex mutex;
  OpenOps* first = nullptr;
  std::size_t ended = 0;  // of threads that have ended
};
// What a program never ends must not grow for ever.
constexpr std::size_t kMostEnded = 1024;
static_assert(std::is_trivially_destructible<All>::value, "see above");
All all;

}  // namespace

bool OpenOps::Entry::take(const void* wanted, OpenOp& op) noexcept {
  if (key.load(std::memory_order_acquire) != wanted) return false;
  op = {range.load(std::memory_order_relaxed), is_async.load(std::memory_order_relaxed)};
  key.store(nullptr, std::memory_order_release);
  return true;
}

OpenOps* OpenOps::of_this_thread() noexcept {
  return this_thread != nullptr ? this_thread : make();
}

OpenOps* OpenOps::make() noexcept {
  static const pthread_key_t key = [] {
    pthread_key_t k{};
    pthread_key_create(&k, destroy);
    return k;
  }();
  auto* const ops = new (std::nothrow) OpenOps;
  if (ops == nullptr) return nullptr;
  {
    const std::lock_guard<std::mutex> lock(all.mutex);
    ops->next_ = all.first;
    ops->link_ = &all.first;
    if (ops->next_ != nullptr) ops->next_->link_ = &ops->next_;
    all.first = ops;
  }
  pthread_setspecific(key, ops);
  this_thread = ops;
  return ops;
}

void OpenOps::destroy(void* p) noexcept {
  auto* const ops = static_cast<OpenOps*>(p);
  this_thread = nullptr;
  {
    const std::lock_guard<std::mutex> lock(all.mutex);
    if (all.ended < kMostEnded && ops->has_open_async()) {
      ops->ended_ = true;  // another thread may end them, and then this is freed
      ++all.ended;
      return;
    }
    ops->unlink();
  }
  delete ops;
}

bool OpenOps::has_open_async() const noexcept {
  for (std::size_t i = depth_.load(std::memory_order_relaxed); i > 0; --i) {
    const Entry& entry = entries_[i - 1];
    if (entry.key.load(std::memory_order_acquire) != nullptr &&
        entry.is_async.load(std::memory_order_relaxed)) {
      return true;
    }
  }
  return false;
}

void OpenOps::unlink() noexcept {
  *link_ = next_;
  if (next_ != nullptr) next_->link_ = link_;
}

bool OpenOps::push(const void* key, OpenOp op) noexcept {
  const std::size_t depth = depth_.load(std::memory_order_relaxed);
  if (depth == kDeepest) return false;
  Entry& entry = entries_[depth];
  entry.range.store(op.range, std::memory_order_relaxed);
  entry.is_async.store(op.is_async, std::memory_order_relaxed);
  entry.key.store(key, std::memory_order_release);
  depth_.store(depth + 1, std::memory_order_release);
  return true;
}

bool OpenOps::pop(const void* key, OpenOp& op) noexcept {
  std::size_t depth = depth_.load(std::memory_order_relaxed);
  bool found = false;
  // Nearly always the innermost. Others leave a gap, which goes when what is above it has gone.
  for (std::size_t i = depth; i > 0 && !found; --i) found = entries_[i - 1].take(key, op);
  while (depth > 0 && entries_[depth - 1].key.load(std::memory_order_acquire) == nullptr) --depth;
  depth_.store(depth, std::memory_order_relaxed);
  return found;
}

bool OpenOps::take_elsewhere(const void* key, OpenOp& op) noexcept {
  const std::lock_guard<std::mutex> lock(all.mutex);
  for (OpenOps* ops = all.first; ops != nullptr; ops = ops->next_) {
    const std::size_t depth = ops->depth_.load(std::memory_order_acquire);
    for (std::size_t i = 0; i < depth; ++i) {
      if (!ops->entries_[i].take(key, op)) continue;
      if (ops->ended_ && !ops->has_open_async()) {
        --all.ended;
        ops->unlink();
        delete ops;
      }
      return true;
    }
  }
  return false;
}

}  // namespace libtrace::torch_adapter
