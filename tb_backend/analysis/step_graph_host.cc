#include "tb_backend/analysis/step_graph_host.h"

#include <algorithm>

#include "tb_backend/analysis/step_graph_calls.h"

namespace traceglass {

using libtrace::EventId;
using libtrace::Kind;
using libtrace::kNone;
using libtrace::Trace;

namespace {

// A slice under which time passes, with what it inherits from those around it.
struct Open {
  std::int64_t end;
  EventId event;
  EventId loader, op;  // outermost DataLoader range and operator around it, itself included
  Activity activity;
  bool reads;
};

class LaneCutter {
 public:
  LaneCutter(const Trace& trace, CallNames& names, HostLane& out)
      : trace_(trace), names_(names), out_(out) {}

  // Slices come by (start, -end).
  void add(EventId e) {
    const std::int64_t start = trace_.start(e);
    if (out_.tiles.empty() && open_.empty()) now_ = start;
    advance(start);
    Open o;
    const Open* around = open_.empty() ? nullptr : &open_.back();
    o.end = trace_.end(e);
    o.event = e;
    o.loader = around != nullptr ? around->loader : kNone;
    o.op = around != nullptr ? around->op : kNone;
    o.reads = around != nullptr && around->reads;
    const std::uint16_t flags = trace_.flags(e);
    if (o.loader == kNone && (flags & libtrace::flag::kDataLoader) != 0) o.loader = e;
    const Kind kind = trace_.kind(e);
    if (kind == Kind::kOp) {
      if (o.op == kNone) o.op = e;
      o.reads = o.reads || names_.reads_value(e);
    }
    o.activity = activity_of(e, kind, flags, o);
    if ((flags & libtrace::flag::kStep) != 0) o.event = kNone;
    open_.push_back(o);
    ++out_.events;
  }
  void finish() { advance(INT64_MAX); }

 private:
  Activity activity_of(EventId e, Kind kind, std::uint16_t flags, const Open& o) {
    if (o.loader != kNone) return Activity::kDataLoading;
    if (kind == Kind::kRuntime) {
      const CallClass c = names_.call(e);
      if (c == CallClass::kAlloc || c == CallClass::kFree) return Activity::kMemoryCall;
      if (c == CallClass::kSync || o.reads) return Activity::kSync;
      return Activity::kRuntime;
    }
    if ((flags & libtrace::flag::kHostCollective) != 0) return Activity::kHostCommunication;
    if (o.reads) return Activity::kSync;
    if (kind == Kind::kOp) return Activity::kOp;
    if (kind == Kind::kAnnotation && (flags & libtrace::flag::kStep) == 0) {
      return Activity::kAnnotation;
    }
    return Activity::kPython;
  }

  // Emits what was active from now_ to `to`. The last one begun of those active is innermost, so
  // ranges that cross need no care: ended ones leave when they come up.
  void advance(std::int64_t to) {
    while (now_ < to) {
      if (open_.empty()) {
        if (to == INT64_MAX) return;
        HostTile idle;
        idle.idle = true;
        emit(idle, to);
        return;
      }
      const Open& top = open_.back();
      if (top.end <= now_) {
        open_.pop_back();
        continue;
      }
      HostTile tile;
      tile.event = top.event;
      tile.context = top.loader != kNone ? top.loader : top.op;
      tile.activity = top.activity;
      tile.reads = top.reads;
      emit(tile, std::min(top.end, to));
    }
    while (!open_.empty() && open_.back().end <= now_) open_.pop_back();
  }
  void emit(HostTile tile, std::int64_t until) {
    tile.start = now_;
    tile.end = until;
    out_.tiles.push_back(tile);
    now_ = until;
  }

  const Trace& trace_;
  CallNames& names_;
  HostLane& out_;
  std::vector<Open> open_;
  std::int64_t now_ = 0;
};

}  // namespace

HostTiles find_host_tiles(const Trace& trace) {
  HostTiles out;
  out.tile_at.assign(trace.size(), kNone);
  CallNames names(trace);
  for (std::size_t l = 0; l < trace.lanes().size(); ++l) {
    const libtrace::Lane& lane = trace.lanes()[l];
    if (lane.domain != libtrace::Domain::kHost) continue;
    HostLane cut;
    cut.lane = static_cast<libtrace::LaneId>(l);
    // What most lanes need; of what they do not only addresses are taken.
    cut.tiles.reserve(2 * (lane.last - lane.first) + 1);
    LaneCutter cutter(trace, names, cut);
    for (EventId e = lane.first; e < lane.last; ++e) {
      const Kind kind = trace.kind(e);
      if ((!libtrace::is_host_tree(kind) && kind != Kind::kPython) || trace.suspect(e)) continue;
      cutter.add(e);
      out.tile_at[e] = static_cast<std::uint32_t>(cut.tiles.size());
      cut.has_steps = cut.has_steps || (trace.flags(e) & libtrace::flag::kStep) != 0;
      cut.launches += kind == Kind::kRuntime;
    }
    cutter.finish();
    // A slice without length that is the last of its lane starts in no tile: the one before it.
    const auto last = cut.tiles.empty() ? kNone : static_cast<std::uint32_t>(cut.tiles.size() - 1);
    for (EventId e = lane.first; e < lane.last; ++e) {
      if (last == kNone) out.tile_at[e] = kNone;
      if (out.tile_at[e] != kNone) out.tile_at[e] = std::min(out.tile_at[e], last);
    }
    if (!cut.tiles.empty()) out.lanes.push_back(std::move(cut));
  }
  return out;
}

}  // namespace traceglass
