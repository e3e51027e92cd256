// What a file name says: whether it is a trace, and of which worker and span. The rules, with an
// example for each, stand in this folder's README. Knows no file system.
#pragma once

#include <string>
#include <string_view>

namespace traceglass {

struct FileName {
  enum class Type { kOther, kTrace, kTemporary };  // kTemporary: a trace being written
  Type type = Type::kOther;
  std::string worker;
  std::string span;  // the stamp's digits; "" without one
};

FileName parse_file_name(std::string_view name);

// TensorBoard's own test for an event file: "tfevents" anywhere in the name.
bool is_event_file_name(std::string_view name);

// Order of spans by the number their digits make, whatever its length; "" comes first.
bool span_less(std::string_view a, std::string_view b);

}  // namespace traceglass
