// Training of the network, one step at a time. Knows no profiler, and its header no torch: of the
// project's files only training.cc takes the time to compile torch's headers.
#pragma once

#include <cstdint>
#include <memory>

namespace example {

class Training {
 public:
  // `pixels`: of a picture's side, a multiple of 4.
  explicit Training(std::int64_t batch, std::int64_t pixels = 32);
  ~Training();
  Training(const Training&) = delete;
  Training& operator=(const Training&) = delete;

  float step();  // the loss before it

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace example
