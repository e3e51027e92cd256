#include "tb_backend/api/http_server_workers.h"

#include <system_error>
#include <utility>

namespace traceglass {

void WorkerPool::enqueue(std::function<void()> job) {
  const std::lock_guard lock(mutex_);
  jobs_.push_back(std::move(job));
  if (idle_ < jobs_.size() && threads_.size() < kMost) {
    try {
      threads_.emplace_back([this] { work(); });
    } catch (const std::system_error&) {
      // No more to be had: it waits for one of those that are there.
      if (threads_.empty()) throw;
    }
  }
  wanted_.notify_one();
}

void WorkerPool::work() {
  while (true) {
    std::function<void()> job;
    {
      std::unique_lock lock(mutex_);
      ++idle_;
      wanted_.wait(lock, [this] { return ending_ || !jobs_.empty(); });
      --idle_;
      if (jobs_.empty()) return;
      job = std::move(jobs_.front());
      jobs_.pop_front();
    }
    job();
  }
}

void WorkerPool::shutdown() {
  std::vector<std::thread> threads;
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    threads.swap(threads_);
  }
  wanted_.notify_all();
  for (std::thread& thread : threads) thread.join();
}

}  // namespace traceglass
