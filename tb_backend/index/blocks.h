// Work on pieces of a column by several threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

namespace traceglass::index {

// fn(i) for i in [0, count), each once, in any order; `fn` does not throw. Few threads: what it is
// used for is bound by memory.
template <typename Fn>
void for_each_block(std::size_t count, Fn&& fn) {
  constexpr std::size_t kMostThreads = 8;
  constexpr std::size_t kWorthAThread = 4;  // blocks
  const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
  const std::size_t threads = std::min({kMostThreads, cores, count / kWorthAThread + 1});
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < count; i = next++) fn(i);
  };
  std::vector<std::thread> helpers;
  for (std::size_t i = 1; i < threads; ++i) {
    try {
      helpers.emplace_back(work);
    } catch (...) {  // no more threads to be had: fewer do the same
      break;
    }
  }
  work();
  for (std::thread& helper : helpers) helper.join();
}

}  // namespace traceglass::index
