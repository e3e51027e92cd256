#include "tb_backend/analysis/backward_links.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace traceglass {

using libtrace::EventId;
using libtrace::Kind;
using libtrace::kNone;
using libtrace::LaneId;
using libtrace::Trace;

namespace {

constexpr std::string_view kEngine = "autograd::engine::evaluate_function: ";

// What the autograd engine calls, by the name of its range.
enum class Call : std::uint8_t { kUnasked, kNo, kNode, kAccumulate, kRoot };

Call call_of(std::string_view name) {
  if (!name.starts_with(kEngine)) return Call::kNo;
  if (name.ends_with("AccumulateGrad")) return Call::kAccumulate;
  return name.ends_with("GraphRoot") ? Call::kRoot : Call::kNode;
}

// One end of an arrow: its place, and the innermost operator there.
struct End {
  LaneId lane;
  std::int64_t at;
  std::size_t arrow;
  bool begin;
};

struct Arrow {
  EventId forward = kNone, backward = kNone;
  std::int64_t begins = 0, ends = 0;
};

class Linker {
 public:
  Linker(const Trace& trace, BackwardLinks& out)
      : trace_(trace), out_(out), calls_(trace.string_count()), op_above_(trace.size(), kNone) {
    out_.forward_of.assign(trace.size(), kNone);
    for (EventId e = 0; e < trace.size(); ++e) {
      const EventId p = trace.parent(e);
      if (p != kNone) op_above_[e] = trace.kind(p) == Kind::kOp ? p : op_above_[p];
    }
  }

  void by_arrows() {
    for (const Arrow& a : arrows()) {
      if (a.begins > 1 || a.ends > 1) {
        ++out_.doubled;
      } else if (a.forward != kNone && a.backward != kNone && a.forward != a.backward) {
        link(a.forward, root_of(a.backward));
      }
    }
  }

  // Whether all calls of the engine have their forward operator.
  [[nodiscard]] bool complete() {
    bool any = false;
    for (EventId e = 0; e < trace_.size(); ++e) {
      if (trace_.kind(e) != Kind::kOp || call(e) != Call::kNode || trace_.suspect(e)) continue;
      if (out_.forward_of[e] == kNone) return false;
      any = true;
    }
    return any;
  }

  // Ops of the forward pass and their backward nodes carry one number; the counter is a thread's
  // own, and `Fwd thread id` is not the thread of the file: it is learnt from what is unambiguous.
  void by_numbers() {
    struct Forward {
      std::int64_t at;
      LaneId lane;
      EventId op;
    };
    struct Open {
      EventId op;
      std::int64_t number, thread;
    };
    std::unordered_map<std::int64_t, std::vector<Forward>> forward;
    std::vector<Open> open;
    for (EventId e = 0; e < trace_.size(); ++e) {
      if (trace_.kind(e) != Kind::kOp || trace_.suspect(e)) continue;
      const auto number = trace_.int_arg(e, "Sequence number");
      if (!number || *number < 0) continue;
      const std::int64_t thread = trace_.int_arg(e, "Fwd thread id").value_or(0);
      if (thread == 0) {
        forward[*number].push_back({trace_.start(e), trace_.lane_of(e), e});
      } else if (out_.forward_of[root_of(e)] == kNone) {
        open.push_back({e, *number, thread});
      }
    }
    std::map<std::int64_t, LaneId> lanes;  // by forward thread id
    // The last before `o` on each thread that has one; `forward` is sorted by thread and time.
    const auto candidates = [&](const Open& o) {
      std::vector<Forward> last;
      const auto known = forward.find(o.number);
      if (known == forward.end()) return last;
      const std::vector<Forward>& all = known->second;
      const auto before = [](const Forward& f, std::pair<LaneId, std::int64_t> to) {
        return std::pair(f.lane, f.at) < to;
      };
      for (auto it = all.begin(); it != all.end();) {
        const LaneId lane = it->lane;
        const auto end =
            std::lower_bound(it, all.end(), std::pair(lane, trace_.start(o.op)), before);
        if (end != it) last.push_back(*(end - 1));
        it = std::lower_bound(end, all.end(), std::pair(lane + 1, INT64_MIN), before);
      }
      return last;
    };
    for (const Open& o : open) {
      const auto found = candidates(o);
      if (found.size() == 1) lanes.try_emplace(o.thread, found[0].lane);
    }
    for (const Open& o : open) {
      const EventId root = root_of(o.op);
      if (out_.forward_of[root] != kNone) continue;  // its first operator linked it
      const auto found = candidates(o);
      if (found.size() == 1) {
        link(found[0].op, root);
      } else if (found.size() > 1) {
        const auto lane = lanes.find(o.thread);
        const auto it = std::find_if(found.begin(), found.end(), [&](const Forward& f) {
          return lane != lanes.end() && f.lane == lane->second;
        });
        it == found.end() ? void(++out_.doubled) : link(it->op, root);
      } else if (call(root) != Call::kNode) {
        ++out_.missing;  // the others are counted where the engine's calls are
      }
    }
  }

  // The engine runs AccumulateGrad right behind the node that made the gradient.
  void accumulate() {
    EventId before = kNone;
    for (EventId e = 0; e < trace_.size(); ++e) {
      if (e > 0 && trace_.lane_of(e) != trace_.lane_of(e - 1)) before = kNone;
      if (trace_.kind(e) != Kind::kOp || trace_.suspect(e)) continue;
      const Call what = call(e);
      if (what == Call::kNode) {
        before = out_.forward_of[e];
        if (before == kNone) ++out_.missing;
      }
      if (what == Call::kAccumulate) out_.forward_of[e] = before;
    }
  }

  void spread() {
    for (EventId e = 0; e < trace_.size(); ++e) {
      EventId& forward = out_.forward_of[e];
      if (forward != kNone) {
        out_.calls.push_back(e);
      } else if (const EventId p = trace_.parent(e); p != kNone) {
        forward = out_.forward_of[p];
      }
    }
  }

 private:
  Call call(EventId e) {
    Call& known = calls_[trace_.name_id(e)];
    if (known == Call::kUnasked) known = call_of(trace_.name(e));
    return known;
  }

  EventId root_of(EventId backward) {
    const EventId p = trace_.parent(backward);
    return p != kNone && trace_.kind(p) == Kind::kOp && call(p) == Call::kNode ? p : backward;
  }

  void link(EventId forward, EventId root) {
    EventId& known = out_.forward_of[root];
    if (known == kNone) {
      known = forward;
    } else if (known != forward) {
      ++out_.doubled;
    }
  }

  // Arrows by id with the operators at their ends.
  std::vector<Arrow> arrows() {
    std::vector<Arrow> arrows;
    std::unordered_map<std::int64_t, std::size_t> by_id;
    std::vector<End> ends;
    for (const libtrace::Flow& flow : trace_.flows()) {
      if (trace_.text(flow.category) != "fwdbwd" || flow.lane == kNone) continue;
      const auto [it, fresh] = by_id.try_emplace(flow.id, arrows.size());
      if (fresh) arrows.emplace_back();
      ++(flow.begin ? arrows[it->second].begins : arrows[it->second].ends);
      ends.push_back({flow.lane, flow.at, it->second, flow.begin});
    }
    std::sort(ends.begin(), ends.end(), [](const End& a, const End& b) {
      return std::tie(a.lane, a.at, a.arrow) < std::tie(b.lane, b.at, b.arrow);
    });
    for (std::size_t i = 0; i < ends.size();) {
      const libtrace::Lane& lane = trace_.lanes()[ends[i].lane];
      EventId e = lane.first, at = kNone;
      for (const LaneId id = ends[i].lane; i < ends.size() && ends[i].lane == id; ++i) {
        for (; e < lane.last && trace_.start(e) <= ends[i].at; ++e) {
          if (trace_.kind(e) == Kind::kOp && !trace_.suspect(e)) at = e;
        }
        while (at != kNone && trace_.end(at) <= ends[i].at && trace_.start(at) != ends[i].at) {
          at = op_above_[at];
        }
        Arrow& arrow = arrows[ends[i].arrow];
        (ends[i].begin ? arrow.forward : arrow.backward) = at;
      }
    }
    return arrows;
  }

  const Trace& trace_;
  BackwardLinks& out_;
  std::vector<Call> calls_;        // by name
  std::vector<EventId> op_above_;  // by slice of the host tree: its nearest ancestor that is an op
};

}  // namespace

BackwardLinks::BackwardLinks(const Trace& trace) {
  Linker linker(trace, *this);
  linker.by_arrows();
  if (!linker.complete()) linker.by_numbers();
  linker.accumulate();
  linker.spread();
}

}  // namespace traceglass
