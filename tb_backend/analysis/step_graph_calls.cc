#include "tb_backend/analysis/step_graph_calls.h"

#include <algorithm>
#include <string>

namespace traceglass {
namespace {

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace

CallClass class_of_call(std::string_view name) {
  constexpr std::size_t kLongest = 96;  // no API has a longer name
  if (name.size() > kLongest) return CallClass::kOther;
  std::string lower(name);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  if (has(lower, "synchronize") || has(lower, "queuefinish") || lower == "ureventwait") {
    return CallClass::kSync;
  }
  if (has(lower, "memcpy") || has(lower, "enqueuemembuffer")) return CallClass::kMemcpy;
  if (has(lower, "async") || has(lower, "pool")) return CallClass::kOther;  // in stream order
  if (has(lower, "free") || has(lower, "cumemunmap") || has(lower, "cumemrelease")) {
    return CallClass::kFree;
  }
  if (has(lower, "malloc") || has(lower, "hostalloc") || has(lower, "memalloc") ||
      has(lower, "cumemcreate") || has(lower, "cumemmap") || has(lower, "cumemaddressreserve")) {
    return CallClass::kAlloc;
  }
  return CallClass::kOther;
}

bool reads_a_value(std::string_view op) {
  return op == "aten::item" || op == "aten::_local_scalar_dense" || op == "aten::is_nonzero";
}

std::uint8_t CallNames::look_up(libtrace::StringId id) {
  if (!known_[id]) {
    known_[id] = true;
    const std::string_view name = trace_.text(id);
    value_[id] = static_cast<std::uint8_t>(static_cast<unsigned>(class_of_call(name)) |
                                           (reads_a_value(name) ? 8U : 0U));
  }
  return value_[id];
}

}  // namespace traceglass
