#include "libtrace/record/process.h"

#include <pthread.h>

#include <atomic>
#include <fstream>
#include <mutex>
#include <vector>

#include "libtrace/record/chunk_pool.h"
#include "libtrace/record/window.h"

namespace libtrace::detail {
namespace {

constinit std::atomic<const void*> running{nullptr};
constinit std::atomic<std::uint64_t> forks{0};

// Of profilers: whoever forks holds them all, so that the child finds them free.
struct HeldMutexes {
  std::mutex mutex;
  std::vector<std::mutex*> all;
};
HeldMutexes& held_mutexes() {
  static auto* const held = new HeldMutexes;
  return *held;
}

void before_fork() {
  held_mutexes().mutex.lock();
  for (std::mutex* const m : held_mutexes().all) m->lock();
  chunk_pool().before_fork();
}
void release_mutexes() {
  for (std::mutex* const m : held_mutexes().all) m->unlock();
  held_mutexes().mutex.unlock();
}
void in_parent() {
  chunk_pool().after_fork_in_parent();
  release_mutexes();
}
// Plain stores only: the child of a threaded process may call little else.
void in_child() {
  chunk_pool().after_fork_in_child();
  Window::forget_after_fork();
  running.store(nullptr, std::memory_order_relaxed);
  forks.fetch_add(1, std::memory_order_relaxed);
  release_mutexes();
}

}  // namespace

void install_fork_handlers() {
  static std::once_flag once;
  std::call_once(once, [] {
    chunk_pool();  // made here, not between fork and the child's first instruction
    held_mutexes();
    pthread_atfork(before_fork, in_parent, in_child);
  });
}

bool claim_recorder(const void* profiler) noexcept {
  const void* none = nullptr;
  return running.compare_exchange_strong(none, profiler, std::memory_order_acq_rel);
}

void release_recorder(const void* profiler) noexcept {
  const void* expected = profiler;
  running.compare_exchange_strong(expected, nullptr, std::memory_order_acq_rel);
}

void hold_at_fork(std::mutex& mutex) {
  const std::lock_guard lock(held_mutexes().mutex);
  held_mutexes().all.push_back(&mutex);
}

void no_longer_hold_at_fork(std::mutex& mutex) noexcept {
  const std::lock_guard lock(held_mutexes().mutex);
  std::erase(held_mutexes().all, &mutex);
}

std::string thread_name(pid_t tid) {
  std::ifstream file("/proc/self/task/" + std::to_string(tid) + "/comm");
  std::string name;
  std::getline(file, name);
  return name;
}

std::uint64_t fork_count() noexcept { return forks.load(std::memory_order_relaxed); }

}  // namespace libtrace::detail
