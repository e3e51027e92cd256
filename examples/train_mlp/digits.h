// Noisy pictures of digits, drawn on the fly: a small real task that needs no download.
#pragma once

#include <random>
#include <vector>

#include "examples/train_mlp/tensor.h"

namespace example {

inline constexpr std::size_t kSide = 16, kPixels = kSide * kSide, kClasses = 10;

struct Batch {
  Tensor pixels;            // one picture a row
  std::vector<int> labels;  // the digit it shows
};

Batch draw_digits(std::size_t count, std::mt19937& random);

}  // namespace example
