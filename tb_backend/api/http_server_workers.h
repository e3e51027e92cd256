// Threads of the server: each open connection holds one while it lives. A browser opens six, and
// one more that stays open as long as it follows the notes; so there are few at first and more when
// all are held.
#pragma once

#include <httplib.h>

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace traceglass {

class WorkerPool : public httplib::TaskQueue {
 public:
  static constexpr std::size_t kMost = 64 + 256;  // the latter for NoteFeed::kMostFollowers

  WorkerPool() = default;
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;
  ~WorkerPool() override = default;

  void enqueue(std::function<void()> job) override;
  void shutdown() override;

 private:
  void work();

  std::mutex mutex_;  // guards all below
  std::condition_variable wanted_;
  std::deque<std::function<void()>> jobs_;
  std::vector<std::thread> threads_;
  std::size_t idle_ = 0;
  bool ending_ = false;
};

}  // namespace traceglass
