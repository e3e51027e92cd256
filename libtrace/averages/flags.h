// The options that a profile was recorded with, as its metadata tells: "with_stack": 1.
#pragma once

#include <string_view>

#include "libtrace/trace.h"

namespace libtrace {

inline bool flag_set(const Trace& trace, std::string_view name) {
  const std::string* value = trace.metadata(name);
  return value != nullptr && *value != "0" && *value != "false" && *value != "null";
}

}  // namespace libtrace
