// A row-major matrix of floats: all the tensor this program needs.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace example {

struct Tensor {
  std::size_t rows = 0, cols = 0;
  std::vector<float> data;

  Tensor() = default;
  Tensor(std::size_t r, std::size_t c) : rows(r), cols(c), data(r * c) {}

  float& at(std::size_t r, std::size_t c) { return data[r * cols + c]; }
  float at(std::size_t r, std::size_t c) const { return data[r * cols + c]; }
  std::span<float> row(std::size_t r) { return {data.data() + r * cols, cols}; }
  std::span<const float> row(std::size_t r) const { return {data.data() + r * cols, cols}; }
};

}  // namespace example
