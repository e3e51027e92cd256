#include "libtrace/averages/function_names.h"

#include <algorithm>

namespace libtrace {
namespace {

constexpr std::string_view kSkipped[] = {"[memory]",
                                         "[OutOfMemory]",
                                         "profiler::_record_function_enter",
                                         "profiler::_record_function_enter_new",
                                         "profiler::_record_function_exit",
                                         "aten::is_leaf",
                                         "aten::output_nr",
                                         "aten::_version"};

constexpr bool is_word(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

bool starts_with(std::string_view text, std::string_view prefix) noexcept {
  return text.substr(0, prefix.size()) == prefix;
}

// "ns::op.overload", and nothing that is a sentence, a path or a template.
std::string_view overload_of(std::string_view name) noexcept {
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos || dot + 1 == name.size()) return {};
  const std::string_view op = name.substr(0, dot), overload = name.substr(dot + 1);
  const bool words =
      std::all_of(overload.begin(), overload.end(), is_word) &&
      std::all_of(op.begin(), op.end(), [](char c) { return is_word(c) || c == ':'; });
  return words && op.find("::") != std::string_view::npos ? overload : std::string_view();
}

}  // namespace

FunctionNames::FunctionNames(const Trace& trace)
    : trace_(trace), of_string_(trace.string_count() * 2, kNone) {
  for (const std::string_view name : kSkipped) intern(name);
  skipped_ = static_cast<Key>(texts_.size());
  for (StringId id = 0; id < trace.string_count() && !with_overloads_; ++id) {
    const std::string_view name = trace.text(id);
    with_overloads_ = starts_with(name, "aten::") && !overload_of(name).empty();
  }
}

std::string_view FunctionNames::overload(std::string_view op) const noexcept {
  return with_overloads_ ? overload_of(op) : std::string_view();
}

FunctionNames::Key FunctionNames::key(StringId name, bool is_op) {
  Key& key = of_string_[std::size_t{name} * 2 + (is_op ? 1 : 0)];
  if (key != kNone) return key;
  std::string_view text = trace_.text(name);
  if (starts_with(text, "ProfilerStep#")) {
    text = "ProfilerStep*";
  } else if (const std::string_view o = overload(text); is_op && !o.empty()) {
    text.remove_suffix(o.size() + 1);
  }
  return key = intern(text);
}

FunctionNames::Key FunctionNames::intern(std::string_view text) {
  const auto [it, is_new] = keys_.emplace(text, static_cast<Key>(texts_.size()));
  if (is_new) texts_.push_back(text);
  return it->second;
}

}  // namespace libtrace
