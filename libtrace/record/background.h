// A thread that makes finished cycles into traces and calls the handler, beside the program: of low
// priority, with the host's signals blocked, at most kMostWaiting cycles behind.
//
// Where the program keeps every core busy, such a thread gets a few per cent of one. So whoever
// waits for it brings a helper: a thread that inherits the waiter's own priority, takes what is
// waiting, and of the cycle in progress the pieces that are left (model/pieces.h).
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "libtrace/model/pieces.h"
#include "libtrace/record/build_trace.h"
#include "libtrace/status.h"

namespace libtrace::detail {

class Background final : private PieceRunner {
 public:
  static constexpr std::size_t kMostWaiting = 2;

  // `work` runs on one of the threads, never on two at a time; what it throws is a failure.
  explicit Background(std::function<void(Cycle&)> work);
  ~Background() override;  // does what is waiting first
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  // false: kMostWaiting wait already, and `block` is not set; the cycle is as it was.
  bool submit(Cycle& cycle, bool block);
  // Waits until nothing is left to do. Not ok: it took too long, or work failed since the last
  // call.
  Status flush(std::chrono::milliseconds timeout);
  [[nodiscard]] bool on_its_thread() const noexcept;

 private:
  using Deadline = std::optional<std::chrono::steady_clock::time_point>;
  using Lock = std::unique_lock<std::mutex>;

  void run() noexcept;
  void help() noexcept;
  void do_next(Lock& lock);
  void run(const Piece& piece) override;
  void do_pieces(Lock& lock);
  template <class Done>
  bool wait_for(Lock& lock, const Deadline& deadline, Done done);
  void start_helper() noexcept;
  [[nodiscard]] bool idle() const { return waiting_.empty() && !busy_; }

  std::function<void(Cycle&)> work_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Cycle> waiting_;
  bool busy_ = false, stops_ = false;
  std::string failure_;

  std::atomic<int> waiters_{0};       // written under the lock, as is the next
  std::atomic<bool> helping_{false};  // the helper lives: new cycles are its to do
  const Piece* offered_ = nullptr;    // to the helper, by the thread of low priority
  bool offer_done_ = false;
  std::exception_ptr offer_error_;

  std::thread thread_, helper_;
};

}  // namespace libtrace::detail
