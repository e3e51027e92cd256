// What one call of an operator must do at least: floating point operations and bytes moved, from
// its input shapes and types. Bytes count each input once and the output once: what a kernel with
// a perfect cache would move.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace traceglass {

// The roof that the work runs against.
enum class Precision : std::uint8_t { kUnknown, kFp64, kFp32, kTf32, kHalf, kFp8, kVector };
std::string_view precision_name(Precision precision);  // "fp16/bf16", "vector fp32", …

struct OpCost {
  double flops = 0;  // 0: no formula, or the inputs do not fit it
  std::optional<double> bytes;
  Precision precision = Precision::kUnknown;
  bool matrix = false;  // products, convolutions, attention: work of the matrix units
  [[nodiscard]] bool known() const { return flops > 0 || bytes; }
};

// Whether any rule exists for this name.
bool has_cost(std::string_view op);

// `dims`, `types`, `concrete`: one entry an input, as the file gives them; entries may be absent.
OpCost cost_of(std::string_view op, const std::vector<std::vector<std::int64_t>>& dims,
               const std::vector<std::string>& types, const std::vector<std::string>& concrete);

}  // namespace traceglass
