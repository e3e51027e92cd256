#include "libtrace/record/process.h"

#include <pthread.h>

#include <atomic>
#include <fstream>
#include <mutex>

#include "libtrace/record/chunk_pool.h"
#include "libtrace/record/site.h"
#include "libtrace/record/window.h"

namespace libtrace::detail {
namespace {

constinit std::atomic<const void*> running{nullptr};
constinit std::atomic<std::uint64_t> forks{0};

void before_fork() {
  lock_sites();
  chunk_pool().before_fork();
}
void in_parent() {
  chunk_pool().after_fork_in_parent();
  unlock_sites();
}
// Plain stores only: the child of a threaded process may call little else.
void in_child() {
  chunk_pool().after_fork_in_child();
  unlock_sites();
  Window::forget_after_fork();
  running.store(nullptr, std::memory_order_relaxed);
  forks.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

void install_fork_handlers() {
  static std::once_flag once;
  std::call_once(once, [] {
    chunk_pool();  // made here, not between fork and the child's first instruction
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

std::string thread_name(pid_t tid) {
  std::ifstream file("/proc/self/task/" + std::to_string(tid) + "/comm");
  std::string name;
  std::getline(file, name);
  return name;
}

std::uint64_t fork_count() noexcept { return forks.load(std::memory_order_relaxed); }

}  // namespace libtrace::detail
