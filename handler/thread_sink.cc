#include "handler/thread_sink.h"

#include <pthread.h>
#include <signal.h>

#include <exception>
#include <utility>

namespace libtrace {

ThreadSink::ThreadSink(ByteSink& next) : next_(next) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);  // the host's signals are none of its business
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::exception&) {
    thread_ = {};
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

ThreadSink::~ThreadSink() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stops_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

Status ThreadSink::write(std::string_view bytes) {
  if (!thread_.joinable()) return next_.write(bytes);
  spare_.assign(bytes);
  std::unique_lock lock(mutex_);
  wait_until_empty(lock);
  if (!status_.ok()) return status_;
  block_.swap(spare_);
  full_ = true;
  changed_.notify_all();
  return {};
}

Status ThreadSink::finish() {
  if (thread_.joinable()) {
    std::unique_lock lock(mutex_);
    wait_until_empty(lock);
    if (!status_.ok()) return status_;
  }
  return next_.finish();
}

// A block that the other thread has not begun with is done here: where the cores are busy it may
// not get its turn for long.
void ThreadSink::wait_until_empty(std::unique_lock<std::mutex>& lock) {
  if (full_ && !busy_) write_block(lock);
  changed_.wait(lock, [&] { return !full_; });
}

// Lets go of the lock meanwhile.
void ThreadSink::write_block(std::unique_lock<std::mutex>& lock) {
  busy_ = true;
  lock.unlock();
  Status status;
  try {
    status = next_.write(block_);
  } catch (const std::exception& e) {
    status = Status::io_error(e.what());
  }
  lock.lock();
  if (status_.ok()) status_ = std::move(status);
  busy_ = full_ = false;
  changed_.notify_all();
}

void ThreadSink::run() {
  pthread_setname_np(pthread_self(), "libtrace-gzip");
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return (full_ && !busy_) || stops_; });
    if (!full_ || busy_) return;
    write_block(lock);
  }
}

}  // namespace libtrace
