#include "tb_backend/analysis/stacks.h"

namespace traceglass {

using libtrace::EventId;
using libtrace::Kind;
using libtrace::kNone;

namespace {

// "<built-in method add_ of Tensor object at 0x7f…>" up to the address: where an object happens to
// lie makes no other caller. `frames` closes the bracket again.
std::string_view without_address(std::string_view frame) {
  return frame.starts_with('<') ? frame.substr(0, frame.find(" at 0x")) : frame;
}

}  // namespace

Stacks::Stacks(const libtrace::Trace& trace)
    : trace_(trace), python_before_(trace.size(), kNone), frame_ids_(trace.size()) {
  for (const libtrace::Lane& lane : trace.lanes()) {
    EventId last = kNone;
    for (EventId e = lane.first; e < lane.last; ++e) {
      python_before_[e] = last;
      if (trace.kind(e) == Kind::kPython && !trace.suspect(e)) last = e;
    }
  }
}

std::uint32_t Stacks::child(std::uint32_t parent, std::string_view frame) {
  const auto [it, fresh] =
      children_.try_emplace({parent, frame}, static_cast<std::uint32_t>(nodes_.size()));
  if (fresh) nodes_.push_back({parent, frame});
  return it->second;
}

std::uint32_t Stacks::of_frame(EventId frame) {
  // Up to the first frame whose stack is known, then down again: no recursion, each frame once.
  std::vector<EventId> path;
  for (EventId f = frame; f != kNone && frame_ids_[f] == 0; f = trace_.parent(f)) {
    path.push_back(f);
  }
  for (; !path.empty(); path.pop_back()) {
    const EventId f = path.back(), parent = trace_.parent(f);
    frame_ids_[f] =
        child(parent == kNone ? 0 : frame_ids_[parent], without_address(trace_.name(f)));
  }
  return frame_ids_[frame];
}

std::uint32_t Stacks::id_of(EventId e) {
  EventId f = trace_.kind(e) == Kind::kPython ? trace_.parent(e) : python_before_[e];
  while (f != kNone && trace_.end(f) <= trace_.start(e)) f = trace_.parent(f);
  if (f != kNone) return of_frame(f);
  const auto written = trace_.arg(e, "Call stack");
  if (!written || written->text.empty()) return 0;
  // Innermost first in the text; nodes hang below their callers.
  std::uint32_t id = 0;
  std::string_view rest = written->text;
  for (std::size_t at; !rest.empty(); rest = rest.substr(0, at)) {
    at = rest.rfind(';');
    const std::string_view frame = at == std::string_view::npos ? rest : rest.substr(at + 1);
    if (!frame.empty()) id = child(id, frame);
    if (at == std::string_view::npos) break;
  }
  return id;
}

std::vector<std::string> Stacks::frames(std::uint32_t id) const {
  std::vector<std::string> frames;
  for (; id != 0; id = nodes_[id].parent) {
    std::string& frame = frames.emplace_back(nodes_[id].frame);
    if (frame.starts_with('<') && !frame.ends_with('>')) frame += '>';
  }
  return frames;
}

}  // namespace traceglass
