// What a block of memory was for, as far as a trace tells.
//
//   told            by a mark of its address, or by a range around its allocation (memory_tags.h)
//   TEMPORARY       allocated and freed in one operator
//   OPTIMIZER_STATE allocated in an optimizer's step, outlives it
//   GRADIENT        made in backward and freed by zero_grad, or alive when the optimizer steps
//   AUTOGRAD_DETAIL made in backward otherwise
//   INPUT           made by data loading
//   ACTIVATION      made by a forward operator that backward came back to
//   unknown         the rest, and all that lived before the trace but what zero_grad frees
#include <algorithm>
#include <charconv>
#include <system_error>
#include <unordered_set>
#include <utility>

#include "libtrace/averages/backward.h"
#include "libtrace/averages/memory_blocks.h"

namespace libtrace {
namespace {

bool starts_with(std::string_view text, std::string_view prefix) noexcept {
  return text.substr(0, prefix.size()) == prefix;
}

// What stood open around a memory row, on its own thread.
struct Place {
  EventId op = kNone;    // the outermost operator; in backward the node
  EventId step = kNone;  // Optimizer.step
  bool backward = false, zero_grad = false, loading = false, forward = false;
  MemoryCategory asked = MemoryCategory::kUnknown;
};

MemoryCategory category_named(std::string_view name) noexcept {
  for (std::size_t i = 0; i < kMemoryCategories; ++i) {
    const auto category = static_cast<MemoryCategory>(i);
    if (memory_category_name(category) == name) return category;
  }
  return MemoryCategory::kUnknown;
}

// Categories told by marks "Memory category PARAMETER 0x7f00": by address, in order of time.
struct Tag {
  std::uint64_t address = 0;
  std::int64_t at = 0;
  MemoryCategory category = MemoryCategory::kUnknown;
};

std::vector<Tag> find_tags(const Trace& trace) {
  std::vector<Tag> tags;
  for (const Instant& mark : trace.instants()) {
    std::string_view text = trace.text(mark.name);
    if (!starts_with(text, kMemoryTagMark)) continue;
    text.remove_prefix(kMemoryTagMark.size());
    const std::size_t blank = text.find(" 0x");
    if (blank == std::string_view::npos) continue;
    Tag tag{0, mark.at, category_named(text.substr(0, blank))};
    const char* const end = text.data() + text.size();
    const auto [p, error] = std::from_chars(text.data() + blank + 3, end, tag.address, 16);
    const bool whole = error == std::errc() && p == end;
    if (whole && tag.category != MemoryCategory::kUnknown) tags.push_back(tag);
  }
  std::stable_sort(tags.begin(), tags.end(), [](const Tag& a, const Tag& b) {
    return std::pair(a.address, a.at) < std::pair(b.address, b.at);
  });
  return tags;
}

// What was last told of `address` between two times; kUnknown for nothing.
MemoryCategory told_of(const std::vector<Tag>& tags, std::uint64_t address, std::int64_t from,
                       std::int64_t to) {
  const auto behind = std::upper_bound(
      tags.begin(), tags.end(), std::pair(address, to),
      [](const auto& wanted, const Tag& t) { return wanted < std::pair(t.address, t.at); });
  if (behind == tags.begin()) return MemoryCategory::kUnknown;
  const Tag& last = *(behind - 1);
  return last.address == address && last.at >= from ? last.category : MemoryCategory::kUnknown;
}

class Places {
 public:
  explicit Places(const Trace& trace) : trace_(trace) { find_backward_sequences(); }

  // One entry a memory row.
  std::vector<Place> all();

 private:
  void find_backward_sequences();
  // The place in `e`, which lies in `parent`, whose place is `outer`.
  Place inside(const Place& outer, EventId parent, EventId e) const;

  const Trace& trace_;
  std::unordered_set<std::int64_t> sequences_;  // of backward nodes
};

void Places::find_backward_sequences() {
  for (EventId e = 0; e < trace_.size(); ++e) {
    const EventId parent = trace_.parent(e);
    if (parent == kNone || !is_backward(trace_.name(e), trace_.name(parent))) continue;
    if (const auto s = trace_.int_arg(e, "Sequence number")) sequences_.insert(*s);
  }
}

Place Places::inside(const Place& outer, EventId parent, EventId e) const {
  Place p = outer;
  const std::string_view name = trace_.name(e);
  if (trace_.kind(e) == Kind::kAnnotation) {
    if (starts_with(name, "Optimizer.step#")) p.step = e;
    if (starts_with(name, "Optimizer.zero_grad#")) p.zero_grad = true;
    if ((trace_.flags(e) & flag::kDataLoader) != 0) p.loading = true;
    const auto asked = trace_.arg(e, kMemoryCategoryArg);
    if (asked && asked->type == Value::Type::kString) p.asked = category_named(asked->text);
    return p;
  }
  const bool node = parent != kNone && is_backward(name, trace_.name(parent));
  const bool op = !starts_with(name, kBackwardEngine) && name.find("::") != std::string_view::npos;
  p.backward |= node;
  if (p.op == kNone && (op || node)) p.op = e;
  if (p.forward || p.backward) return p;
  const auto sequence = trace_.int_arg(e, "Sequence number");
  p.forward = sequence && sequences_.count(*sequence) != 0;
  return p;
}

std::vector<Place> Places::all() {
  const auto& memory = trace_.memory();
  std::vector<Place> places(memory.size());
  std::vector<std::uint32_t> order;
  for (std::uint32_t i = 0; i < memory.size(); ++i) {
    if (memory[i].lane != kNone) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    const MemoryEvent &x = memory[a], &y = memory[b];
    return x.lane != y.lane ? x.lane < y.lane : x.at < y.at;
  });
  std::vector<std::pair<EventId, Place>> open;
  LaneId lane = kNone;
  EventId next = 0;
  for (const std::uint32_t i : order) {
    const MemoryEvent& m = memory[i];
    if (m.lane != lane) {
      lane = m.lane;
      next = trace_.lanes()[lane].first;
      open.clear();
    }
    const auto close = [&](std::int64_t at) {
      while (!open.empty() && trace_.end(open.back().first) < at) open.pop_back();
    };
    for (; next < trace_.lanes()[lane].last && trace_.start(next) <= m.at; ++next) {
      if (trace_.suspect(next) || trace_.kind(next) > Kind::kAnnotation) continue;
      close(trace_.start(next));
      const auto [parent, outer] = open.empty() ? std::pair(kNone, Place()) : open.back();
      open.emplace_back(next, inside(outer, parent, next));
    }
    close(m.at);
    if (!open.empty()) places[i] = open.back().second;
  }
  return places;
}

}  // namespace

void find_categories(const Trace& trace, std::vector<MemoryBlock>& blocks) {
  const std::vector<Place> places = Places(trace).all();
  const auto& memory = trace.memory();
  std::vector<std::int64_t> steps;  // starts of optimizer steps
  for (EventId e = 0; e < trace.size(); ++e) {
    const bool step = trace.kind(e) == Kind::kAnnotation && !trace.suspect(e) &&
                      starts_with(trace.name(e), "Optimizer.step#");
    if (step) steps.push_back(trace.start(e));
  }
  std::sort(steps.begin(), steps.end());

  const std::vector<Tag> tags = find_tags(trace);
  static const Place kNowhere;
  for (MemoryBlock& b : blocks) {
    const Place& made = b.allocated == kNone ? kNowhere : places[b.allocated];
    const Place& freed = b.freed == kNone ? kNowhere : places[b.freed];
    const std::int64_t from = b.allocated == kNone ? INT64_MIN : memory[b.allocated].at;
    const std::int64_t to = b.freed == kNone ? INT64_MAX : memory[b.freed].at;
    const auto step = std::lower_bound(steps.begin(), steps.end(), from);
    const bool meets_step = step != steps.end() && *step <= to;
    const std::uint32_t row = b.allocated == kNone ? b.freed : b.allocated;
    const MemoryCategory told = told_of(tags, memory[row].addr.value_or(0), from, to);
    if (told != MemoryCategory::kUnknown) {
      b.category = told;
    } else if (made.asked != MemoryCategory::kUnknown) {
      b.category = made.asked;
    } else if (made.op != kNone && made.op == freed.op) {
      b.category = MemoryCategory::kTemporary;
    } else if (freed.zero_grad) {
      b.category = MemoryCategory::kGradient;
    } else if (made.step != kNone) {
      if (made.step != freed.step) b.category = MemoryCategory::kOptimizerState;
    } else if (made.backward) {
      b.category = meets_step ? MemoryCategory::kGradient : MemoryCategory::kAutogradDetail;
    } else if (made.loading) {
      b.category = MemoryCategory::kInput;
    } else if (made.forward) {
      b.category = MemoryCategory::kActivation;
    }
  }
}

}  // namespace libtrace
