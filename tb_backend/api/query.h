// Query parameters with their checks. A wrong one throws BadRequest, which names it and says what
// would be right; the router turns that into a problem.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace traceglass {

struct BadRequest {
  std::string parameter;
  std::string sentence;
};

class Query {
 public:
  Query() = default;
  explicit Query(std::vector<std::pair<std::string, std::string>> values)
      : values_(std::move(values)) {}

  [[nodiscard]] const std::string* find(std::string_view name) const;
  [[nodiscard]] const std::string& required(std::string_view name) const;
  [[nodiscard]] std::int64_t integer(std::string_view name, std::int64_t least, std::int64_t most,
                                     std::optional<std::int64_t> otherwise = std::nullopt) const;
  [[nodiscard]] std::int64_t time(std::string_view name,
                                  std::optional<std::int64_t> otherwise = std::nullopt) const {
    return integer(name, INT64_MIN, INT64_MAX, otherwise);
  }
  // One of `choices`; the first when absent, unless `must`.
  [[nodiscard]] std::string choice(std::string_view name,
                                   std::initializer_list<std::string_view> choices,
                                   bool must = false) const;
  // "3-5", "3", "-2-5": first and last, first <= last.
  [[nodiscard]] std::pair<std::int64_t, std::int64_t> range(std::string_view name) const;
  // "0,3-5": ids below `count`, alone or first-last, each once, in the order given.
  [[nodiscard]] std::vector<std::uint32_t> ids(std::string_view name, std::size_t count) const;

  // One text for equal queries, whatever the order of their parameters.
  [[nodiscard]] std::string canonical() const;

 private:
  std::vector<std::pair<std::string, std::string>> values_;
};

}  // namespace traceglass
