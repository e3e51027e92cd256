#include "libtrace/model/flops.h"

#include <algorithm>

#include "libtrace/model/shapes.h"

namespace libtrace {
namespace {

using Dims = std::vector<std::int64_t>;

// A product that remembers that it left 63 bits or met a negative dimension.
class Product {
 public:
  Product& operator*=(std::int64_t factor) noexcept {
    ok_ = ok_ && factor >= 0 && !__builtin_mul_overflow(value_, factor, &value_);
    return *this;
  }
  Product& operator*=(const Dims& dims) noexcept {
    for (const std::int64_t d : dims) *this *= d;
    return *this;
  }
  [[nodiscard]] std::int64_t value() const noexcept { return ok_ ? value_ : 0; }

 private:
  std::int64_t value_ = 1;
  bool ok_ = true;
};

// 2·m·n·k, times the batch: the inner dimension, and that of the batch, stand in both operands.
std::int64_t multiplication(const Dims& a, const Dims& b, bool batched) {
  if (a.empty() || b.empty() || a.back() <= 0 || (batched && a.front() <= 0)) return 0;
  Product p;
  p *= 2;
  p *= Dims(a.begin() + (batched && a.size() > 1 ? 1 : 0), a.end() - 1);
  p *= b;
  return p.value();
}

std::int64_t convolution(const std::vector<Dims>& dims, const std::vector<std::string>& concrete) {
  constexpr std::size_t kStride = 3, kPadding = 4, kDilation = 5, kGroups = 6;
  if (dims.size() <= kGroups || concrete.size() <= kGroups) return 0;
  const Dims &input = dims[0], &weight = dims[1];
  const Dims stride = parse_numbers(concrete[kStride]), padding = parse_numbers(concrete[kPadding]),
             dilation = parse_numbers(concrete[kDilation]),
             groups = parse_numbers(concrete[kGroups]);
  if (input.size() != 4 || weight.size() != 4 || groups.size() != 1 || groups[0] <= 0) return 0;
  Product p;
  p *= 2;
  p *= input[0];
  for (std::size_t i = 0; i < 2; ++i) {
    const auto of = [i](const Dims& pair) { return pair[pair.size() == 2 ? i : 0]; };
    for (const Dims* pair : {&stride, &padding, &dilation}) {
      if (pair->empty() || pair->size() > 2 || of(*pair) < 0 || of(*pair) > INT32_MAX) return 0;
    }
    const std::int64_t size = input[2 + i], kernel = weight[2 + i];
    if (of(stride) == 0 || size < 0 || size > INT32_MAX || kernel < 1 || kernel > INT32_MAX) {
      return 0;
    }
    const std::int64_t covered = of(dilation) * (kernel - 1) + 1;
    p *= (size + 2 * of(padding) - covered) / of(stride) + 1;
    p *= kernel;
  }
  p *= input[1];
  p *= weight[0];
  return p.value() / groups[0];
}

enum class Formula : unsigned char {
  kNone,
  kConvolution,
  kPairAt0,
  kPairAt1,
  kBatchAt0,
  kBatchAt1,
  kElements
};

Formula formula_of(std::string_view op) noexcept {
  if (op == "aten::conv2d") return Formula::kConvolution;
  if (op == "aten::mm") return Formula::kPairAt0;
  if (op == "aten::addmm") return Formula::kPairAt1;
  if (op == "aten::bmm") return Formula::kBatchAt0;
  if (op == "aten::baddbmm") return Formula::kBatchAt1;
  if (op == "aten::mul" || op == "aten::add") return Formula::kElements;
  return Formula::kNone;
}

}  // namespace

bool has_flops(std::string_view op) noexcept { return formula_of(op) != Formula::kNone; }

std::int64_t count_flops(std::string_view op, const std::vector<Dims>& dims,
                         const std::vector<std::string>& concrete) {
  const auto pair = [&](std::size_t first, bool batched) {
    return dims.size() < first + 2 ? 0 : multiplication(dims[first], dims[first + 1], batched);
  };
  switch (formula_of(op)) {
    case Formula::kConvolution:
      return convolution(dims, concrete);
    case Formula::kPairAt0:
      return pair(0, false);
    case Formula::kPairAt1:
      return pair(1, false);
    case Formula::kBatchAt0:
      return pair(0, true);
    case Formula::kBatchAt1:
      return pair(1, true);
    case Formula::kElements:
      return dims.empty() ? 0 : (Product() *= dims[0]).value();
    case Formula::kNone:
      break;
  }
  return 0;
}

}  // namespace libtrace
