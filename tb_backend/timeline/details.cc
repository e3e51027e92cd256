#include "tb_backend/timeline/details.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace traceglass {
namespace {

using libtrace::EventId;
using libtrace::kNone;
using libtrace::Trace;

std::vector<std::string> split_stack(std::string_view text) {
  std::vector<std::string> frames;
  while (!text.empty()) {
    const auto end = text.find(';');
    if (end != 0) frames.emplace_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return frames;
}

}  // namespace

SameName same_name(const Trace& trace, EventId e) {
  SameName out;
  out.shortest = std::numeric_limits<std::int64_t>::max();
  for (EventId other = 0; other < trace.size(); ++other) {
    if (trace.name_id(other) != trace.name_id(e) || trace.kind(other) != trace.kind(e)) continue;
    ++out.count;
    if (std::pair(trace.start(other), other) <= std::pair(trace.start(e), e)) ++out.index;
    out.shortest = std::min(out.shortest, trace.dur(other));
    out.longest = std::max(out.longest, trace.dur(other));
  }
  return out;
}

Launched launched_by(const Timeline& timeline, EventId e, std::size_t most) {
  const Trace& trace = timeline.trace();
  Launched out;
  if (!libtrace::is_host_tree(trace.kind(e))) return out;
  // Its subtree lies among the slices of its lane from it on, up to the first that starts after.
  const libtrace::Lane& lane = trace.lanes()[trace.lane_of(e)];
  EventId last = e + 1;
  for (EventId hi = lane.last; last < hi;) {
    const EventId middle = last + (hi - last) / 2;
    if (trace.start(middle) < trace.end(e)) {
      last = middle + 1;
    } else {
      hi = middle;
    }
  }
  for (const Link& link : timeline.links().launches(e, last)) {
    if (link.from != e && trace.end(link.from) > trace.end(e)) continue;
    if (out.first.size() < most) out.first.push_back(link.to);
    ++out.total;
  }
  return out;
}

std::vector<std::string> python_stack(const Timeline& timeline, EventId e) {
  const Trace& trace = timeline.trace();
  if (libtrace::is_device_work(trace.kind(e))) e = trace.launch(e);
  if (e == kNone) return {};
  for (EventId up = e; up != kNone; up = trace.parent(up)) {
    const auto text = trace.arg(up, "Call stack");
    if (text && text->type == libtrace::Value::Type::kString) return split_stack(text->text);
  }
  std::vector<std::string> frames;
  for (const Group& group : timeline.groups()) {
    if (group.type != GroupType::kPython || group.lane != trace.lane_of(e)) continue;
    // Rows are depths: at most one frame of each is open at any time, deeper ones inside.
    for (auto row = group.rows.rbegin(); row != group.rows.rend(); ++row) {
      const RowSlices slices = row->slices();
      const std::size_t after = row->index().first_from(slices, trace.start(e) + 1);
      if (after == 0) continue;
      const EventId frame = slices.id(after - 1);
      if (frame != e && slices.end(after - 1) > trace.start(e)) {
        frames.emplace_back(trace.name(frame));
      }
    }
  }
  return frames;
}

std::vector<std::string> notes(const Trace& trace, EventId e) {
  static constexpr std::pair<std::uint16_t, const char*> kNotes[] = {
      {libtrace::flag::kZeroTime,
       "Its start was written as 0: the time is not known. It counts in no table."},
      {libtrace::flag::kNegative,
       "Its duration is negative: the clocks disagreed. It counts in no table."},
      {libtrace::flag::kOverrun,
       "It contains its whole successor and outlasts all else on its device: its end cannot be "
       "right. It counts in no table."},
      {libtrace::flag::kUnfinished,
       "It was still open when recording ended: its end is that of the recording."},
  };
  std::vector<std::string> out;
  for (const auto& [bit, sentence] : kNotes) {
    if ((trace.flags(e) & bit) != 0) out.emplace_back(sentence);
  }
  return out;
}

EventId flow_in(const Timeline& timeline, EventId e) {
  if (timeline.trace().launch(e) != kNone) return timeline.trace().launch(e);
  const auto flows = timeline.links().flows_to(e);
  return flows.empty() ? kNone : flows.front().from;
}

EventId flow_out(const Timeline& timeline, EventId e) {
  const auto launches = timeline.links().launches(e, e + 1);
  if (!launches.empty()) return launches.front().to;
  const auto flows = timeline.links().flows_from(e);
  return flows.empty() ? kNone : flows.front().to;
}

}  // namespace traceglass
