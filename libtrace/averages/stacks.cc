#include "libtrace/averages/stacks.h"

#include <algorithm>
#include <unordered_map>

#include "libtrace/averages/backward.h"

namespace libtrace {
namespace {

using What = FunctionEvents::What;

bool contains(std::string_view text, std::string_view part) noexcept {
  return text.find(part) != std::string_view::npos;
}

bool is_hidden(std::string_view frame) noexcept {
  if (contains(frame, "autograd/__init__")) {
    return contains(frame, "_make_grads") || contains(frame, "backward");
  }
  if (contains(frame, "torch/tensor")) return contains(frame, "backward");
  if (contains(frame, "_internal/common_utils")) {
    return contains(frame, "prof_callable") || contains(frame, "prof_func_call") ||
           contains(frame, "prof_meth_call");
  }
  return false;
}

}  // namespace

Stacks::Stacks(const FunctionEvents& events) {
  const Trace& trace = events.trace();
  const auto n = static_cast<EventId>(trace.size());
  text_.resize(n);
  for (EventId e = 0; e < n; ++e) {
    if (events.what(e) == What::kNo) continue;
    const auto stack = trace.arg(e, "Call stack");
    if (!stack || stack->type != Value::Type::kString || stack->text.empty()) continue;
    text_[e] = stack->text;
    any_ = true;
  }
  if (!any_) {
    text_ = {};
    return;
  }

  // The outermost backward row around each event; forward events by their sequence number.
  std::vector<EventId> backward(n, kNone);
  struct Forward {
    EventId main = kNone, other = kNone;  // the first one on the main thread, on any other
  };
  std::unordered_map<std::int64_t, Forward> forwards;
  std::vector<EventId> todo;
  for (const Lane& lane : trace.lanes()) {
    const bool main = lane.pid == lane.tid;
    for (EventId e = lane.first; e < lane.last; ++e) {
      const What what = events.what(e);
      if (what != What::kHost && what != What::kPython) continue;
      const EventId parent = events.parent(e);
      if (parent != kNone) {
        const bool begins =
            trace.kind(e) == Kind::kOp && is_backward(trace.name(e), trace.name(parent));
        backward[e] = begins ? e : backward[parent];
      }
      if (backward[e] != kNone) {
        todo.push_back(e);
      } else if (const auto sequence = trace.int_arg(e, "Sequence number")) {
        Forward& found = forwards[*sequence];
        EventId& first = main ? found.main : found.other;
        if (first == kNone || events.before(e, first)) first = e;
      }
    }
  }
  for (const EventId e : todo) {
    const auto sequence = trace.int_arg(backward[e], "Sequence number");
    const auto it = sequence ? forwards.find(*sequence) : forwards.end();
    const Forward found = it == forwards.end() ? Forward() : it->second;
    const EventId forward = found.main != kNone ? found.main : found.other;
    text_[e] = forward == kNone ? std::string_view() : text_[forward];
  }
}

std::vector<std::string_view> Stacks::frames(std::string_view text, std::size_t n) {
  std::vector<std::string_view> out;
  while (!text.empty() && out.size() < n) {
    const std::size_t end = std::min(text.find(';'), text.size());
    const std::string_view frame = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!frame.empty() && !is_hidden(frame)) out.push_back(frame);
  }
  return out;
}

}  // namespace libtrace
