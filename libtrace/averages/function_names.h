// Names as torch groups them.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "libtrace/trace.h"

namespace libtrace {

// "ProfilerStep#7" is "ProfilerStep*". Where the profiler was told to (torch's
// capture_overload_names, seen by an "aten::…" name that has one), operators are named with their
// overload: "aten::add.Tensor" is the overload "Tensor" of "aten::add".
class FunctionNames {
 public:
  using Key = std::uint32_t;  // of a name without its overload
  explicit FunctionNames(const Trace& trace);

  [[nodiscard]] Key key(StringId name, bool is_op);
  [[nodiscard]] std::string_view text(Key key) const { return texts_[key]; }
  [[nodiscard]] std::string_view overload(std::string_view op) const noexcept;
  // Utility rows that torch leaves out.
  [[nodiscard]] bool skipped(Key key) const noexcept { return key < skipped_; }

 private:
  Key intern(std::string_view text);

  const Trace& trace_;
  bool with_overloads_ = false;
  Key skipped_ = 0;
  std::vector<Key> of_string_;  // two a name: of an op, of another row
  std::vector<std::string_view> texts_;
  std::unordered_map<std::string_view, Key> keys_;
};

}  // namespace libtrace
