#include "libtrace/record/background.h"

#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <set>
#include <utility>

#include "libtrace/record/process.h"

namespace libtrace::detail {
namespace {

constexpr int kNice = 10;
constexpr std::chrono::seconds kAtExit{60};

// Those alive in this process, so that an exit() without stop() loses no finished cycle. Never
// destroyed; a forked child starts with none, whatever the parent's mutex was at.
struct Living {
  std::uint64_t fork = 0;
  Living* parents = nullptr;  // in a forked child: what it left behind
  std::mutex mutex;
  std::set<Background*> all;
};
Living& living() {
  static std::atomic<Living*> current{new Living};
  Living* l = current.load(std::memory_order_acquire);
  if (l->fork == fork_count()) return *l;
  auto* const fresh = new Living;
  fresh->fork = fork_count();
  fresh->parents = l;
  if (!current.compare_exchange_strong(l, fresh, std::memory_order_acq_rel)) {
    delete fresh;
    return *l;
  }
  return *fresh;
}

void finish_all_at_exit() {
  const std::lock_guard lock(living().mutex);
  for (Background* const b : living().all) {
    if (!b->on_its_thread()) (void)b->flush(kAtExit);
  }
}

}  // namespace

Background::Background(std::function<void(Cycle&)> work) : work_(std::move(work)) {
  static std::once_flag once;
  std::call_once(once, [] { std::atexit(finish_all_at_exit); });
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    thread_ = std::thread([this] { run(); });
  } catch (...) {
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  const std::lock_guard lock(living().mutex);
  living().all.insert(this);
}

Background::~Background() {
  {
    const std::lock_guard lock(living().mutex);
    living().all.erase(this);
  }
  {
    const std::lock_guard lock(mutex_);
    stops_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

bool Background::submit(Cycle& cycle, bool block) {
  std::unique_lock lock(mutex_);
  if (block) changed_.wait(lock, [&] { return waiting_.size() < kMostWaiting; });
  if (waiting_.size() >= kMostWaiting) return false;
  waiting_.push_back(std::move(cycle));
  changed_.notify_all();
  return true;
}

Status Background::flush(std::chrono::milliseconds timeout) {
  std::unique_lock lock(mutex_);
  const bool done = changed_.wait_for(lock, timeout, [&] { return waiting_.empty() && !busy_; });
  if (!done) return {StatusCode::kTimeout, "Traces are still being written"};
  if (failure_.empty()) return {};
  return Status::io_error(std::exchange(failure_, {}));
}

void Background::fail(std::string what) {
  const std::lock_guard lock(mutex_);
  if (failure_.empty()) failure_ = std::move(what);
}

void Background::run() {
  pthread_setname_np(pthread_self(), "libtrace-write");
  setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), kNice);  // of this thread alone, on Linux
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return stops_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    {
      Cycle cycle = std::move(waiting_.front());
      waiting_.pop_front();
      busy_ = true;
      lock.unlock();
      changed_.notify_all();
      try {
        work_(cycle);
      } catch (const std::exception& e) {
        fail(e.what());
      } catch (...) {
        fail("unknown exception");
      }
    }
    lock.lock();
    busy_ = false;
    changed_.notify_all();
  }
}

}  // namespace libtrace::detail
