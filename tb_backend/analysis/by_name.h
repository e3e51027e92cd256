// What follows from a name alone, found once for each name instead of once for each event.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "libtrace/trace.h"

namespace traceglass {

// `make(std::string_view)` gives the value of a name; 1 look-up an event, no hashing.
template <class Make>
class ByName {
 public:
  using Value = decltype(std::declval<Make>()(std::string_view()));
  ByName(const libtrace::Trace& trace, Make make)
      : trace_(trace), make_(std::move(make)), values_(trace.string_count()) {}
  const Value& operator()(libtrace::StringId name) {
    std::optional<Value>& value = values_[name];
    if (!value) value = make_(trace_.text(name));
    return *value;
  }

 private:
  const libtrace::Trace& trace_;
  Make make_;
  std::vector<std::optional<Value>> values_;
};

}  // namespace traceglass
