// What a block of memory is for, in the memory timeline. Numbers as in torch's files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace libtrace {

enum class MemoryCategory : std::uint8_t {
  kParameter,
  kOptimizerState,
  kInput,
  kTemporary,
  kActivation,
  kGradient,
  kAutogradDetail,
  kUnknown,
};
inline constexpr std::size_t kMemoryCategories = 8;

// "PARAMETER", …, "Unknown": as the argument kMemoryCategoryArg of a range, and after
// kMemoryTagMark (then a blank and the address, "0x7f00") in the name of a mark.
constexpr std::string_view memory_category_name(MemoryCategory category) noexcept {
  constexpr std::string_view kNames[kMemoryCategories] = {
      "PARAMETER",  "OPTIMIZER_STATE", "INPUT",           "TEMPORARY",
      "ACTIVATION", "GRADIENT",        "AUTOGRAD_DETAIL", "Unknown"};
  const auto i = static_cast<std::size_t>(category);
  return i < kMemoryCategories ? kNames[i] : kNames[kMemoryCategories - 1];
}
inline constexpr std::string_view kMemoryCategoryArg = "Memory category";
inline constexpr std::string_view kMemoryTagMark = "Memory category ";

}  // namespace libtrace
