// The tolerant path: one JSON value as some recorder really wrote it, rewritten as valid JSON.
// Slow and careful; it runs only on values that the strict path refused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace traceglass {

// Where the value stands decides where a string with stray quotes ends.
enum class RepairContext { kEvent, kTopLevel };

struct Repaired {
  enum class Status { kDone, kNeedMore, kFailed };
  Status status = Status::kFailed;
  std::size_t length = 0;           // bytes of the input the value took
  std::string json;                 // the value as valid JSON
  bool strings_changed = false;     // quotes, escapes, control characters, bytes
  bool structure_changed = false;   // stray or missing commas and values, odd numbers
  std::int64_t missing_values = 0;  // inf, nan, N/A: written as null
  std::size_t in_vain = 0;          // bytes looked at and not taken
};

// Reads the value that begins at text[0]. `at_end`: no more text will come; otherwise kNeedMore
// may ask for it. Nesting beyond 512 levels fails.
Repaired repair_value(std::string_view text, RepairContext context, bool at_end);

}  // namespace traceglass
