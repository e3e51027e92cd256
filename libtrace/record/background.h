// A thread that makes finished cycles into traces and calls the handler, beside the program: of low
// priority, with the host's signals blocked, at most kMostWaiting cycles behind.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "libtrace/record/build_trace.h"
#include "libtrace/status.h"

namespace libtrace::detail {

class Background {
 public:
  static constexpr std::size_t kMostWaiting = 2;

  // `work` runs on the thread; what it throws is a failure.
  explicit Background(std::function<void(Cycle&)> work);
  ~Background();  // does what is waiting first
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  // false: kMostWaiting wait already, and `block` is not set; the cycle is as it was.
  bool submit(Cycle& cycle, bool block);
  // Waits until nothing is left to do. Not ok: it took too long, or work failed since the last
  // call.
  Status flush(std::chrono::milliseconds timeout);
  [[nodiscard]] bool on_its_thread() const noexcept {
    return std::this_thread::get_id() == thread_.get_id();
  }

 private:
  void run();
  void fail(std::string what);

  std::function<void(Cycle&)> work_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Cycle> waiting_;
  bool busy_ = false, stops_ = false;
  std::string failure_;
  std::thread thread_;
};

}  // namespace libtrace::detail
