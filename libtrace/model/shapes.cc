#include "libtrace/model/shapes.h"

#include <algorithm>

#include "libtrace/model/whole_number.h"

namespace libtrace {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";

std::string_view trimmed(std::string_view s) {
  const std::size_t first = s.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return s.substr(first, s.find_last_not_of(kBlanks) - first + 1);
}

// Elements of the JSON array `json`, untouched; none when it is no array.
std::vector<std::string_view> elements(std::string_view json) {
  std::vector<std::string_view> out;
  json = trimmed(json);
  if (json.size() < 2 || json.front() != '[' || json.back() != ']') return out;
  json = trimmed(json.substr(1, json.size() - 2));
  std::size_t begin = 0;
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (in_string) {
      if (c == '\\') ++i;
      in_string = c != '"';
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      ++depth;
    } else if (c == ']' || c == '}') {
      --depth;
    } else if (c == ',' && depth == 0) {
      out.push_back(trimmed(json.substr(begin, i - begin)));
      begin = i + 1;
    }
  }
  if (!json.empty()) out.push_back(trimmed(json.substr(begin)));
  return out;
}

}  // namespace

std::vector<std::int64_t> parse_numbers(std::string_view text) {
  std::vector<std::int64_t> out;
  if (const auto one = whole_number(trimmed(text))) return {*one};
  for (const std::string_view element : elements(text)) {
    const auto number = whole_number(element);
    if (!number) return {};
    out.push_back(*number);
  }
  return out;
}

std::vector<std::vector<std::int64_t>> parse_shapes(std::string_view json) {
  std::vector<std::vector<std::int64_t>> out;
  for (const std::string_view element : elements(json)) {
    const bool list = !element.empty() && element.front() == '[';
    out.push_back(list ? parse_numbers(element) : std::vector<std::int64_t>());
  }
  return out;
}

std::string shapes_text(const std::vector<std::vector<std::int64_t>>& shapes) {
  std::string out = "[";
  for (const auto& shape : shapes) {
    if (out.size() > 1) out += ", ";
    out += '[';
    for (const std::int64_t n : shape) {
      if (out.back() != '[') out += ", ";
      out += std::to_string(n);
    }
    out += ']';
  }
  return out + ']';
}

std::vector<std::string> parse_strings(std::string_view json) {
  std::vector<std::string> out;
  for (const std::string_view element : elements(json)) {
    const bool text = element.size() >= 2 && element.front() == '"' && element.back() == '"';
    out.emplace_back(text ? element.substr(1, element.size() - 2) : std::string_view());
  }
  return out;
}

}  // namespace libtrace
