#include "examples/train_mlp/digits.h"

#include <array>

#include "libtrace/record_function.h"

namespace example {
namespace {

constexpr std::size_t kWide = 5, kHigh = 7, kScale = 2;

// Rows of five bits, top to bottom.
constexpr std::array<std::array<unsigned, kHigh>, kClasses> kFont = {{
    {0b01110, 0b10001, 0b10011, 0b10101, 0b11001, 0b10001, 0b01110},
    {0b00100, 0b01100, 0b00100, 0b00100, 0b00100, 0b00100, 0b01110},
    {0b01110, 0b10001, 0b00001, 0b00110, 0b01000, 0b10000, 0b11111},
    {0b11110, 0b00001, 0b00001, 0b01110, 0b00001, 0b00001, 0b11110},
    {0b00010, 0b00110, 0b01010, 0b10010, 0b11111, 0b00010, 0b00010},
    {0b11111, 0b10000, 0b11110, 0b00001, 0b00001, 0b10001, 0b01110},
    {0b01110, 0b10000, 0b11110, 0b10001, 0b10001, 0b10001, 0b01110},
    {0b11111, 0b00001, 0b00010, 0b00100, 0b01000, 0b01000, 0b01000},
    {0b01110, 0b10001, 0b10001, 0b01110, 0b10001, 0b10001, 0b01110},
    {0b01110, 0b10001, 0b10001, 0b01111, 0b00001, 0b00001, 0b01110},
}};

void draw(int digit, std::span<float> picture, std::mt19937& random) {
  std::uniform_int_distribution<std::size_t> left(0, kSide - kWide * kScale);
  std::uniform_int_distribution<std::size_t> top(0, kSide - kHigh * kScale);
  const std::size_t x0 = left(random), y0 = top(random);
  for (std::size_t y = 0; y < kHigh * kScale; ++y) {
    for (std::size_t x = 0; x < kWide * kScale; ++x) {
      const unsigned bits = kFont[static_cast<std::size_t>(digit)][y / kScale];
      const bool ink = (bits >> (kWide - 1 - x / kScale) & 1) != 0;
      if (ink) picture[(y0 + y) * kSide + x0 + x] += 1.0F;
    }
  }
}

}  // namespace

Batch draw_digits(std::size_t count, std::mt19937& random) {
  Batch batch{Tensor(count, kPixels), std::vector<int>(count)};
  {
    LIBTRACE_OP("aten::normal_");
    std::normal_distribution<float> noise(0.0F, 0.4F);
    for (float& v : batch.pixels.data) v = noise(random);
  }
  LIBTRACE_SCOPE("draw_digits");
  std::uniform_int_distribution<int> digit(0, kClasses - 1);
  for (std::size_t i = 0; i < count; ++i) {
    batch.labels[i] = digit(random);
    draw(batch.labels[i], batch.pixels.row(i), random);
  }
  return batch;
}

}  // namespace example
