#include "libtrace/record/background.h"

#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
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
constexpr std::chrono::milliseconds kLongest = std::chrono::hours(24 * 365);  // still a time

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

// Whose thread this is.
thread_local const Background* of_this_thread = nullptr;

// A thread of the caller's priority, with the host's signals blocked.
template <class F>
std::thread without_signals(F&& f) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    std::thread thread(std::forward<F>(f));
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return thread;
  } catch (...) {
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw;
  }
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
  thread_ = without_signals([this] { run(); });
  const std::lock_guard lock(living().mutex);
  living().all.insert(this);
}

Background::~Background() {
  {
    const std::lock_guard lock(living().mutex);
    living().all.erase(this);
  }
  {
    Lock lock(mutex_);
    wait_for(lock, {}, [&] { return idle(); });
    stops_ = true;
  }
  changed_.notify_all();
  thread_.join();
  if (helper_.joinable()) helper_.join();
}

bool Background::on_its_thread() const noexcept { return of_this_thread == this; }

bool Background::submit(Cycle& cycle, bool block) {
  Lock lock(mutex_);
  if (block) wait_for(lock, {}, [&] { return waiting_.size() < kMostWaiting; });
  if (waiting_.size() >= kMostWaiting) return false;
  waiting_.push_back(std::move(cycle));
  changed_.notify_all();
  return true;
}

Status Background::flush(std::chrono::milliseconds timeout) {
  const auto deadline = std::chrono::steady_clock::now() + std::min(timeout, kLongest);
  Lock lock(mutex_);
  if (!wait_for(lock, deadline, [&] { return idle(); })) {
    return {StatusCode::kTimeout, "Traces are still being written"};
  }
  // The helper is gone when nobody waits and nothing is left: no thread stays behind unjoined.
  changed_.wait(lock, [&] {
    return !helping_.load(std::memory_order_relaxed) || busy_ ||
           waiters_.load(std::memory_order_relaxed) != 0;
  });
  if (!helping_.load(std::memory_order_relaxed) && helper_.joinable()) helper_.join();
  if (failure_.empty()) return {};
  return Status::io_error(std::exchange(failure_, {}));
}

template <class Done>
bool Background::wait_for(Lock& lock, const Deadline& deadline, Done done) {
  if (done()) return true;
  waiters_.fetch_add(1, std::memory_order_relaxed);
  bool in_time = true;
  while (!done() && in_time) {
    start_helper();
    if (deadline) {
      in_time = changed_.wait_until(lock, *deadline) != std::cv_status::timeout;
    } else {
      changed_.wait(lock);
    }
  }
  waiters_.fetch_sub(1, std::memory_order_relaxed);
  changed_.notify_all();
  return done();
}

// Under the lock. Without a thread to be had the one of low priority goes on alone.
void Background::start_helper() noexcept {
  if (helping_.load(std::memory_order_relaxed) || idle()) return;
  try {
    if (helper_.joinable()) helper_.join();  // at its end, and past the lock
    helper_ = without_signals([this] { help(); });
    helping_.store(true, std::memory_order_relaxed);
  } catch (const std::exception&) {
    return;
  }
}

void Background::run() noexcept {
  of_this_thread = this;
  piece_runner = this;
  pthread_setname_np(pthread_self(), "libtrace-write");
  setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), kNice);  // of this thread alone, on Linux
  Lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] {
      return stops_ || (!waiting_.empty() && !busy_ && !helping_.load(std::memory_order_relaxed));
    });
    if (stops_) return;
    do_next(lock);
  }
}

// While anybody waits.
void Background::help() noexcept {
  of_this_thread = this;
  pthread_setname_np(pthread_self(), "libtrace-help");
  Lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] {
      return offered_ != nullptr || !busy_ || waiters_.load(std::memory_order_relaxed) == 0;
    });
    if (waiters_.load(std::memory_order_relaxed) == 0) break;
    if (offered_ != nullptr) {
      do_pieces(lock);
    } else if (!waiting_.empty()) {
      do_next(lock);
    } else {
      break;
    }
  }
  offered_ = nullptr;  // goes back as it is
  helping_.store(false, std::memory_order_relaxed);
  changed_.notify_all();
}

// Lets go of the lock meanwhile.
void Background::do_next(Lock& lock) {
  {
    Cycle cycle = std::move(waiting_.front());
    waiting_.pop_front();
    busy_ = true;
    lock.unlock();
    changed_.notify_all();
    std::string failure;
    try {
      work_(cycle);
    } catch (const std::exception& e) {
      failure = e.what();
    } catch (...) {
      failure = "unknown exception";
    }
    lock.lock();
    if (failure_.empty()) failure_ = std::move(failure);
    lock.unlock();  // for the cycle's end
  }
  lock.lock();
  busy_ = false;
  changed_.notify_all();
}

// On the thread of low priority.
void Background::run(const Piece& piece) {
  for (;;) {
    if (!helping_.load(std::memory_order_relaxed)) {
      if (!piece()) return;
      continue;
    }
    Lock lock(mutex_);
    if (!helping_.load(std::memory_order_relaxed)) continue;
    offered_ = &piece;
    offer_done_ = false;
    changed_.notify_all();
    changed_.wait(lock, [&] { return offered_ == nullptr; });
    if (offer_error_) std::rethrow_exception(std::exchange(offer_error_, nullptr));
    if (offer_done_) return;
  }
}

// On the helper.
void Background::do_pieces(Lock& lock) {
  const Piece& piece = *offered_;
  lock.unlock();
  bool more = true;
  std::exception_ptr error;
  try {
    while (more && waiters_.load(std::memory_order_relaxed) != 0) more = piece();
  } catch (...) {
    error = std::current_exception();
  }
  lock.lock();
  offered_ = nullptr;
  offer_done_ = !more;
  offer_error_ = std::move(error);
  changed_.notify_all();
}

}  // namespace libtrace::detail
