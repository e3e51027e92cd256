// Hands what is written to another thread, which writes it on: text is made while what was made
// before is compressed. Two blocks are under way at most.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "handler/byte_sink.h"

namespace libtrace {

class ThreadSink final : public ByteSink {
 public:
  explicit ThreadSink(ByteSink& next);  // must outlive this
  ~ThreadSink() override;
  ThreadSink(const ThreadSink&) = delete;
  ThreadSink& operator=(const ThreadSink&) = delete;

  // An error of `next` is told by a later call.
  Status write(std::string_view bytes) override;
  Status finish() override;  // finishes `next` too, on this thread

 private:
  void run();
  void wait_until_empty(std::unique_lock<std::mutex>& lock);
  void write_block(std::unique_lock<std::mutex>& lock);

  ByteSink& next_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string block_;  // to be written while full_, by whoever sets busy_
  std::string spare_;
  bool full_ = false, busy_ = false, stops_ = false;
  Status status_;
  std::thread thread_;  // none to be had: everything happens here
};

}  // namespace libtrace
