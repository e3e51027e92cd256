// Floating point operations of the few operators that torch counts, from their inputs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace libtrace {

// Whether torch has a formula for this operator.
bool has_flops(std::string_view op) noexcept;

// 0 when there is no formula, or the inputs do not fit it or 63 bits. `concrete` is read by
// convolutions only: stride, padding, dilation and groups.
std::int64_t count_flops(std::string_view op, const std::vector<std::vector<std::int64_t>>& dims,
                         const std::vector<std::string>& concrete);

}  // namespace libtrace
