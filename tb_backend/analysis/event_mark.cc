#include "tb_backend/analysis/event_mark.h"

#include <algorithm>
#include <array>
#include <unordered_map>

namespace traceglass {
namespace {

using libtrace::EventId;
using libtrace::kNone;
using libtrace::Trace;

constexpr std::size_t kMostCallers = 64;

EventId caller(const Trace& trace, EventId e) {
  if (!libtrace::is_device_work(trace.kind(e))) return trace.parent(e);
  const EventId around = trace.anchor(e);
  return around != kNone ? around : trace.launch(e);
}

std::string path_of(const Trace& trace, EventId e) {
  std::array<EventId, kMostCallers> callers{};
  std::size_t count = 0;
  for (EventId at = caller(trace, e); at != kNone && count < kMostCallers; at = trace.parent(at)) {
    if ((trace.flags(at) & libtrace::flag::kStep) == 0) callers[count++] = at;
  }
  std::string path;
  for (std::size_t i = count; i-- > 0;) {
    const std::size_t from = path.size();
    path += trace.name(callers[i]);
    std::replace(path.begin() + static_cast<std::ptrdiff_t>(from), path.end(), '\n', ' ');
    path += '\n';
  }
  return path;
}

std::string shape_of(const Trace& trace, EventId e) {
  if (libtrace::is_device_work(trace.kind(e))) return {};
  auto value = trace.arg(e, "Input Dims");
  if (!value) value = trace.arg(e, "Input dims");
  return value ? std::string(value->text) : std::string();
}

// Position from 1 of the step in which `e` starts, 0 outside: steps are sorted by start and do not
// overlap but for damaged files, where the later one counts.
std::int64_t step_of(const Trace& trace, const std::vector<Step>& steps, EventId e) {
  const bool host = trace.lanes()[trace.lane_of(e)].domain == libtrace::Domain::kHost;
  const std::int64_t at = trace.start(e);
  const auto range = [&](const Step& step) -> const libtrace::TimeRange& {
    return host ? step.host : step.extended;
  };
  const auto after = std::upper_bound(
      steps.begin(), steps.end(), at,
      [&](std::int64_t time, const Step& step) { return time < range(step).start; });
  if (after == steps.begin()) return 0;
  const Step& step = *std::prev(after);
  return !step.synthetic && at < range(step).end ? after - steps.begin() : 0;
}

bool same_place(const EventMark& a, const EventMark& b) {
  return a.step == b.step && a.category == b.category && a.shape == b.shape && a.path == b.path;
}

EventMark place_of(const Trace& trace, const std::vector<Step>& steps, EventId e) {
  EventMark mark;
  mark.name = trace.name(e);
  mark.category = trace.category(e);
  mark.path = path_of(trace, e);
  mark.shape = shape_of(trace, e);
  mark.step = step_of(trace, steps, e);
  return mark;
}

// The slices of each mark's place by start: lanes may run at once, so ids do not tell the order.
std::vector<std::vector<EventId>> equals(const Trace& trace, const std::vector<Step>& steps,
                                         const std::vector<EventMark>& marks) {
  std::unordered_map<std::string_view, std::vector<std::size_t>> by_text;
  for (std::size_t i = 0; i < marks.size(); ++i) by_text[marks[i].name].push_back(i);
  std::vector<const std::vector<std::size_t>*> wanted(trace.string_count(), nullptr);
  for (std::size_t id = 0; id < wanted.size(); ++id) {
    const auto it = by_text.find(trace.text(static_cast<libtrace::StringId>(id)));
    if (it != by_text.end()) wanted[id] = &it->second;
  }
  std::vector<std::vector<EventId>> out(marks.size());
  for (EventId e = 0; e < trace.size(); ++e) {
    const auto* candidates = wanted[trace.name_id(e)];
    if (candidates == nullptr) continue;
    const std::int64_t step = step_of(trace, steps, e);
    const bool any = std::any_of(candidates->begin(), candidates->end(),
                                 [&](std::size_t i) { return marks[i].step == step; });
    if (!any) continue;
    const EventMark place = place_of(trace, steps, e);
    for (const std::size_t i : *candidates) {
      if (same_place(place, marks[i])) out[i].push_back(e);
    }
  }
  for (std::vector<EventId>& one : out) {
    std::sort(one.begin(), one.end(), [&](EventId a, EventId b) {
      return std::pair(trace.start(a), a) < std::pair(trace.start(b), b);
    });
  }
  return out;
}

std::string why_lost(const EventMark& mark, std::size_t now, const std::vector<Step>& steps) {
  if (mark.step > static_cast<std::int64_t>(steps.size())) {
    return "It was in step " + std::to_string(mark.step) + " of its profile; here are " +
           std::to_string(steps.size()) + '.';
  }
  const std::string where = mark.step == 0 ? "outside all steps" : "in that step";
  if (now == 0) return "Nothing with its name, callers and shapes is " + where + " here.";
  return "It was one of " + std::to_string(mark.among) + " alike " + where + ", here are " +
         std::to_string(now) + ": which one it is cannot be told.";
}

}  // namespace

EventMark mark_of(const Trace& trace, const std::vector<Step>& steps, EventId e) {
  EventMark mark = place_of(trace, steps, e);
  const std::vector<EventId> all = equals(trace, steps, {mark})[0];
  mark.among = static_cast<std::int64_t>(all.size());
  const auto it = std::find(all.begin(), all.end(), e);
  mark.occurrence = it == all.end() ? 0 : it - all.begin() + 1;
  return mark;
}

std::vector<MarkFound> find_marks(const Trace& trace, const std::vector<Step>& steps,
                                  const std::vector<EventMark>& marks) {
  const auto all = equals(trace, steps, marks);
  std::vector<MarkFound> out(marks.size());
  for (std::size_t i = 0; i < marks.size(); ++i) {
    const EventMark& mark = marks[i];
    const bool sure = mark.occurrence >= 1 && mark.occurrence <= mark.among &&
                      static_cast<std::int64_t>(all[i].size()) == mark.among;
    if (sure) {
      out[i].event = all[i][static_cast<std::size_t>(mark.occurrence - 1)];
    } else {
      out[i].reason = why_lost(mark, all[i].size(), steps);
    }
  }
  return out;
}

std::string step_name_at(const std::vector<Step>& steps, std::int64_t position) {
  if (position < 1 || position > static_cast<std::int64_t>(steps.size())) return {};
  return steps[static_cast<std::size_t>(position - 1)].name;
}

std::vector<NameHeld> find_names(const Trace& trace, const std::vector<std::string>& names) {
  std::vector<NameHeld> by_id(trace.string_count());
  for (EventId e = 0; e < trace.size(); ++e) {
    NameHeld& held = by_id[trace.name_id(e)];
    (libtrace::is_device_work(trace.kind(e)) ? held.device : held.host) = true;
  }
  std::unordered_map<std::string_view, NameHeld> by_text;
  for (std::size_t id = 0; id < by_id.size(); ++id) {
    by_text.emplace(trace.text(static_cast<libtrace::StringId>(id)), by_id[id]);
  }
  std::vector<NameHeld> out;
  for (const std::string& name : names) {
    const auto it = by_text.find(name);
    out.push_back(it == by_text.end() ? NameHeld{} : it->second);
  }
  return out;
}

}  // namespace traceglass
