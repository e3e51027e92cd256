// What tests ask of a recorded trace.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "libtrace/trace.h"

namespace libtrace::testing {

inline std::vector<EventId> events(const Trace& trace, std::string_view name) {
  std::vector<EventId> found;
  for (EventId e = 0; e < trace.size(); ++e) {
    if (trace.name(e) == name) found.push_back(e);
  }
  return found;
}

// The one event of this name.
inline EventId event(const Trace& trace, std::string_view name) {
  const std::vector<EventId> found = events(trace, name);
  EXPECT_EQ(found.size(), 1U) << name;
  return found.empty() ? kNone : found[0];
}

// An argument as text; "-" when there is none.
inline std::string arg(const Trace& trace, EventId e, std::string_view key) {
  const auto value = trace.arg(e, key);
  if (!value) return "-";
  switch (value->type) {
    case Value::Type::kNull:
      return "null";
    case Value::Type::kBool:
      return value->i != 0 ? "true" : "false";
    case Value::Type::kInt:
      return std::to_string(value->i);
    case Value::Type::kUint:
      return std::to_string(value->u);
    case Value::Type::kDouble:
      return std::to_string(value->d);
    default:
      return std::string(value->text);
  }
}

}  // namespace libtrace::testing
