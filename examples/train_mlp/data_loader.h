// Draws batches on a thread of its own, a few ahead of the training loop.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <random>
#include <thread>

#include "examples/train_mlp/digits.h"

namespace example {

class DataLoader {
 public:
  DataLoader(std::size_t batch_size, unsigned seed);
  ~DataLoader();
  DataLoader(const DataLoader&) = delete;
  DataLoader& operator=(const DataLoader&) = delete;

  // The next batch; the wait for it is what a profile shows as data loading.
  Batch next();

 private:
  void run();

  static constexpr std::size_t kAhead = 2;
  const std::size_t batch_size_;
  std::mt19937 random_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Batch> ready_;
  bool stops_ = false;
  std::thread worker_;
};

}  // namespace example
