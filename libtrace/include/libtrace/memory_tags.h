// What a program knows of its memory, told to export_memory_timeline(). What is not told is
// inferred from where blocks are allocated and freed, or unknown.
//
//   { const libtrace::MemoryCategoryScope scope(libtrace::MemoryCategory::kInput); batch = load();
//   } libtrace::tag_parameter(weight.data());
//
// Costs of a range with an argument, and of a mark, while a profile records; else one load.
#pragma once

#include <cstdio>
#include <string_view>

#include "libtrace/memory_category.h"
#include "libtrace/range.h"

namespace libtrace {

// All that this thread allocates in the block.
class MemoryCategoryScope {
 public:
  explicit MemoryCategoryScope(MemoryCategory category) noexcept {
    const RangeArg arg = {kMemoryCategoryArg, Value::string(memory_category_name(category))};
    RangeDetails details;
    details.args = &arg;
    details.arg_count = 1;
    range_ = begin_range("memory category", RecordScope::kUserScope, details);
  }
  ~MemoryCategoryScope() { end_range(range_); }
  MemoryCategoryScope(const MemoryCategoryScope&) = delete;
  MemoryCategoryScope& operator=(const MemoryCategoryScope&) = delete;

 private:
  OpenRange* range_ = nullptr;
};

// The block that begins at `address`, from its allocation to its release.
inline void tag_memory(const void* address, MemoryCategory category) noexcept {
  if (!wants(Detail::kMemory)) return;
  char text[64];
  const std::string_view name = memory_category_name(category);
  const int n = std::snprintf(
      text, sizeof text, "%s%.*s 0x%llx", kMemoryTagMark.data(), static_cast<int>(name.size()),
      name.data(), static_cast<unsigned long long>(reinterpret_cast<std::uintptr_t>(address)));
  mark(std::string_view(text, static_cast<std::size_t>(n)));
}
inline void tag_parameter(const void* address) noexcept {
  tag_memory(address, MemoryCategory::kParameter);
}
inline void tag_optimizer_state(const void* address) noexcept {
  tag_memory(address, MemoryCategory::kOptimizerState);
}
inline void tag_gradient(const void* address) noexcept {
  tag_memory(address, MemoryCategory::kGradient);
}

}  // namespace libtrace
