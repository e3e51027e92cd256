#include "tb_backend/api/query.h"

#include <algorithm>

#include "libtrace/model/whole_number.h"

namespace traceglass {

using libtrace::whole_number;

namespace {

constexpr std::size_t kShown = 60;  // bytes of a wrong value that an answer repeats

[[noreturn]] void wrong(std::string_view name, const std::string& what, std::string_view value) {
  std::string shown(value.substr(0, kShown));
  if (value.size() > kShown) shown += "…";
  throw BadRequest{std::string(name), "Parameter " + std::string(name) + " must be " + what +
                                          ", not \"" + shown + "\"."};
}

}  // namespace

const std::string* Query::find(std::string_view name) const {
  for (const auto& [key, value] : values_) {
    if (key == name) return &value;
  }
  return nullptr;
}

const std::string& Query::required(std::string_view name) const {
  const std::string* value = find(name);
  if (value == nullptr) {
    throw BadRequest{std::string(name), "Parameter " + std::string(name) + " is missing."};
  }
  return *value;
}

std::int64_t Query::integer(std::string_view name, std::int64_t least, std::int64_t most,
                            std::optional<std::int64_t> otherwise) const {
  if (otherwise && find(name) == nullptr) return *otherwise;
  const std::string& text = required(name);
  const auto value = whole_number(text);
  if (!value || *value < least || *value > most) {
    wrong(name, "an integer from " + std::to_string(least) + " to " + std::to_string(most), text);
  }
  return *value;
}

std::string Query::choice(std::string_view name, std::initializer_list<std::string_view> choices,
                          bool must) const {
  const std::string* value = must ? &required(name) : find(name);
  if (value == nullptr) return std::string(*choices.begin());
  if (std::find(choices.begin(), choices.end(), *value) != choices.end()) return *value;
  std::string list;
  for (const std::string_view c : choices) list += (list.empty() ? "" : ", ") + std::string(c);
  wrong(name, "one of " + list, *value);
}

std::pair<std::int64_t, std::int64_t> Query::range(std::string_view name) const {
  const std::string& text = required(name);
  const auto dash = text.find('-', 1);  // a leading one is a sign
  const auto first = whole_number(std::string_view(text).substr(0, dash));
  const auto last =
      dash == std::string::npos ? first : whole_number(std::string_view(text).substr(dash + 1));
  if (text.empty() || !first || !last || *first > *last) {
    wrong(name, "a number or first-last", text);
  }
  return {*first, *last};
}

std::vector<std::uint32_t> Query::ids(std::string_view name, std::size_t count) const {
  std::string_view rest = required(name);
  std::vector<std::uint32_t> out;
  std::vector<bool> seen(count);
  while (true) {
    const auto comma = rest.find(',');
    const std::string_view part = rest.substr(0, comma);
    const auto dash = part.find('-', 1);
    const auto first = whole_number(part.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : whole_number(part.substr(dash + 1));
    if (!first || !last || *first < 0 || *last < *first ||
        static_cast<std::uint64_t>(*last) >= count) {
      wrong(name, "ids below " + std::to_string(count) + ", alone or first-last, with commas",
            part);
    }
    for (auto id = static_cast<std::size_t>(*first); id <= static_cast<std::size_t>(*last); ++id) {
      if (!seen[id]) out.push_back(static_cast<std::uint32_t>(id));
      seen[id] = true;
    }
    if (comma == std::string_view::npos) return out;
    rest.remove_prefix(comma + 1);
  }
}

std::string Query::canonical() const {
  auto sorted = values_;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::string text;
  for (const auto& [key, value] : sorted) {
    text += std::to_string(key.size()) + ':' + key + std::to_string(value.size()) + ':' + value;
  }
  return text;
}

}  // namespace traceglass
