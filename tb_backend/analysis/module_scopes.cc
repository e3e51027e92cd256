#include "tb_backend/analysis/module_scopes.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

namespace traceglass {

using libtrace::EventId;
using libtrace::Kind;
using libtrace::kNone;
using libtrace::Trace;

namespace {

constexpr std::string_view kFrame = "nn.Module: ";
constexpr std::string_view kLightningScope = "[pl][module]";

// Answers a question about names once a name.
template <typename Test>
class ByName {
 public:
  ByName(const Trace& trace, Test test)
      : trace_(trace), test_(std::move(test)), known_(trace.string_count()) {}
  bool operator()(EventId e) {
    std::uint8_t& known = known_[trace_.name_id(e)];
    if (known == 0) known = test_(trace_.name(e)) ? 2 : 1;
    return known == 2;
  }

 private:
  const Trace& trace_;
  Test test_;
  std::vector<std::uint8_t> known_;  // 0 not asked, 1 no, 2 yes
};

bool is_frame_name(std::string_view name) { return name.starts_with(kFrame); }

// Ranges that the profiler, the optimizer and the data loader write by themselves.
bool is_scope_name(std::string_view name) {
  for (const std::string_view other : {"Optimizer.", "[pl][profile]"}) {
    if (name.starts_with(other)) return false;
  }
  return !name.empty();
}

std::string_view hierarchy_of(const Trace& trace, EventId op) {
  const auto value = trace.arg(op, "Module Hierarchy");
  return value && value->type == libtrace::Value::Type::kString ? value->text : std::string_view();
}

// "Net.forward.layer1(a.B)" → Net, forward, layer1(a.B): dots within parentheses do not part.
std::vector<std::string_view> parts_of(std::string_view path) {
  std::vector<std::string_view> parts;
  std::size_t begin = 0;
  int open = 0;
  for (std::size_t i = 0; i <= path.size(); ++i) {
    if (i < path.size()) {
      if (path[i] == '(') ++open;
      if (path[i] == ')' && open > 0) --open;
      if (path[i] != '.' || open > 0) continue;
    }
    if (i > begin) parts.push_back(path.substr(begin, i - begin));
    begin = i + 1;
  }
  return parts;
}

// Whether an operator lies below each slice of the host tree.
std::vector<bool> with_operator(const Trace& trace) {
  std::vector<bool> has(trace.size());
  for (EventId e = static_cast<EventId>(trace.size()); e-- > 0;) {
    const EventId p = trace.parent(e);
    if (p != kNone && (has[e] || trace.kind(e) == Kind::kOp)) has[p] = true;
  }
  return has;
}

class Maker {
 public:
  Maker(const Trace& trace, ModuleScopes& out) : trace_(trace), out_(out) {}

  void frames() {
    ByName is_module(trace_, is_frame_name);
    const auto is_scope = [&](EventId e) { return is_module(e); };
    from_tree([](Kind k) { return k == Kind::kPython; }, is_scope);
  }

  void annotations(bool lightning) {
    const std::vector<bool> has = with_operator(trace_);
    ByName wanted(trace_, [&](std::string_view name) {
      return lightning ? name.starts_with(kLightningScope) : is_scope_name(name);
    });
    const auto is_scope = [&](EventId e) {
      constexpr auto kOthers =
          libtrace::flag::kStep | libtrace::flag::kDataLoader | libtrace::flag::kHostCollective;
      return trace_.kind(e) == Kind::kAnnotation && has[e] && (trace_.flags(e) & kOthers) == 0 &&
             wanted(e);
    };
    from_tree([](Kind k) { return libtrace::is_host_tree(k); }, is_scope);
  }

  // Runs of operators with a common path. An operator within another only refines its path, so
  // scopes nest; those of one parent follow each other even where operators cross.
  void hierarchy() {
    constexpr std::uint32_t kOutside = kNone - 1;  // below an operator of no module
    std::vector<std::uint32_t> run_of(trace_.size(), kNone);
    for (EventId e = 0; e < trace_.size(); ++e) {
      if (e == 0 || trace_.lane_of(e) != trace_.lane_of(e - 1)) leave_lane();
      if (!libtrace::is_host_tree(trace_.kind(e)) || trace_.suspect(e)) continue;
      const EventId p = trace_.parent(e);
      const std::uint32_t outer = p == kNone ? kNone : run_of[p];
      run_of[e] = outer;
      if (trace_.kind(e) != Kind::kOp || outer == kOutside) continue;
      const std::uint32_t found = run(e, outer);
      run_of[e] = found == kNone ? kOutside : found;
    }
    leave_lane();
  }

  // `around`: one sweep a lane. A scope that ended is left for its parent and never met again.
  void place() {
    out_.around.assign(trace_.size(), kNone);
    std::size_t next = 0;
    std::uint32_t at = kNone;
    for (EventId e = 0; e < trace_.size(); ++e) {
      if (e > 0 && trace_.lane_of(e) != trace_.lane_of(e - 1)) at = kNone;
      for (; next < out_.scopes.size() && out_.scopes[next].event <= e; ++next) {
        at = static_cast<std::uint32_t>(next);
      }
      const bool opens = at != kNone && out_.scopes[at].event == e;
      while (!opens && at != kNone && out_.scopes[at].end <= trace_.start(e)) {
        at = out_.scopes[at].parent;
      }
      out_.around[e] = at;
    }
  }

 private:
  template <typename InTree, typename IsScope>
  void from_tree(const InTree& in_tree, const IsScope& is_scope) {
    std::vector<std::uint32_t> nearest(trace_.size(), kNone);
    for (EventId e = 0; e < trace_.size(); ++e) {
      if (!in_tree(trace_.kind(e)) || trace_.suspect(e)) continue;
      const EventId p = trace_.parent(e);
      nearest[e] = p == kNone ? kNone : nearest[p];
      if (is_scope(e)) nearest[e] = add(e, trace_.start(e), trace_.end(e), nearest[e], label(e));
      if (nearest[e] != kNone) out_.scopes[nearest[e]].self += trace_.self(e);
    }
  }

  std::string label(EventId e) const {
    const std::string_view name = trace_.name(e);
    if (name.starts_with(kLightningScope)) return std::string(name.substr(kLightningScope.size()));
    if (!name.starts_with(kFrame)) return std::string(name);
    std::string text(name.substr(kFrame.size()));
    // Newer files number the instances of a class in the name itself.
    const std::size_t digits = text.find_last_not_of("0123456789");
    if (digits == std::string::npos || digits + 1 == text.size() || text[digits] != '_') {
      if (const auto id = trace_.int_arg(e, "Python module id")) text += "_" + std::to_string(*id);
    }
    return text;
  }

  std::uint32_t add(EventId e, std::int64_t start, std::int64_t end, std::uint32_t parent,
                    std::string name) {
    const std::uint32_t above = parent == kNone ? kNone : out_.scopes[parent].module;
    const auto [it, fresh] = known_.try_emplace({above, std::move(name)},
                                                static_cast<std::uint32_t>(out_.modules.size()));
    if (fresh) {
      const std::uint32_t depth = above == kNone ? 0 : out_.modules[above].depth + 1;
      out_.modules.push_back({it->first.second, above, depth});
    }
    out_.scopes.push_back({e, start, end, 0, parent, it->second});
    return static_cast<std::uint32_t>(out_.scopes.size() - 1);
  }

  // The innermost run of `e`, whose path is read below `outer`.
  std::uint32_t run(EventId e, std::uint32_t outer) {
    const std::vector<std::string_view> path = parts_of(hierarchy_of(trace_, e));
    const std::size_t fixed =
        outer == kNone ? 0 : std::size_t{out_.modules[out_.scopes[outer].module].depth} + 1;
    const auto same = [&](std::size_t level) {
      return out_.modules[out_.scopes[open_[level]].module].name == path[level];
    };
    std::size_t common = 0;
    while (common < open_.size() && common < path.size() && same(common)) ++common;
    if (common < fixed) return outer;  // says nothing more than the operator around it
    while (open_.size() > common) close();
    for (std::size_t level = common; level < path.size(); ++level) {
      if (last_end_.size() <= level) last_end_.resize(level + 1, INT64_MIN);
      const std::int64_t start = std::max(trace_.start(e), last_end_[level]);
      const std::uint32_t parent = open_.empty() ? kNone : open_.back();
      open_.push_back(
          add(e, start, std::max(start, trace_.end(e)), parent, std::string(path[level])));
    }
    if (open_.empty()) return kNone;
    ModuleScope& inner = out_.scopes[open_.back()];
    inner.end = std::max(inner.end, trace_.end(e));
    return open_.back();
  }

  void leave_lane() {
    while (!open_.empty()) close();
    last_end_.clear();
  }

  void close() {
    ModuleScope& scope = out_.scopes[open_.back()];
    open_.pop_back();
    const std::int64_t length = scope.end - scope.start;
    scope.self += length;
    last_end_[open_.size()] = scope.end;
    if (scope.parent == kNone) return;
    ModuleScope& parent = out_.scopes[scope.parent];
    parent.self -= length;
    parent.end = std::max(parent.end, scope.end);
  }

  const Trace& trace_;
  ModuleScopes& out_;
  std::map<std::pair<std::uint32_t, std::string>, std::uint32_t> known_;
  std::vector<std::uint32_t> open_;     // open runs, outermost first
  std::vector<std::int64_t> last_end_;  // by depth: end of the last run closed there
};

}  // namespace

std::string_view module_source_name(ModuleSource source) {
  constexpr std::string_view kNames[] = {"none", "frames", "hierarchy", "lightning", "annotations"};
  return kNames[static_cast<std::size_t>(source)];
}

ModuleSource find_module_source(const Trace& trace) {
  ByName is_frame(trace, is_frame_name);
  ByName is_scope(trace, is_scope_name);
  ByName is_lightning(trace,
                      [](std::string_view name) { return name.starts_with(kLightningScope); });
  bool annotations = false, lightning = false;
  for (EventId e = 0; e < trace.size(); ++e) {
    if (trace.suspect(e)) continue;
    if (trace.kind(e) == Kind::kPython && is_frame(e)) return ModuleSource::kFrames;
    if (trace.kind(e) != Kind::kAnnotation) continue;
    lightning = lightning || is_lightning(e);
    annotations = annotations || is_scope(e);
  }
  for (EventId e = 0; e < trace.size(); ++e) {
    if (trace.kind(e) != Kind::kOp || trace.suspect(e)) continue;
    if (!hierarchy_of(trace, e).empty()) return ModuleSource::kHierarchy;
  }
  if (!annotations && !lightning) return ModuleSource::kNone;
  const std::vector<bool> has = with_operator(trace);
  ModuleSource found = ModuleSource::kNone;
  for (EventId e = 0; e < trace.size(); ++e) {
    constexpr auto kOthers =
        libtrace::flag::kStep | libtrace::flag::kDataLoader | libtrace::flag::kHostCollective;
    if (trace.kind(e) != Kind::kAnnotation || trace.suspect(e) || !has[e]) continue;
    if ((trace.flags(e) & kOthers) != 0) continue;
    if (is_lightning(e)) return ModuleSource::kLightning;
    if (is_scope(e)) found = ModuleSource::kAnnotations;
  }
  return found;
}

ModuleScopes::ModuleScopes(const Trace& trace) : source(find_module_source(trace)) {
  Maker maker(trace, *this);
  if (source == ModuleSource::kFrames) maker.frames();
  if (source == ModuleSource::kHierarchy) maker.hierarchy();
  if (source == ModuleSource::kLightning) maker.annotations(true);
  if (source == ModuleSource::kAnnotations) maker.annotations(false);
  maker.place();
}

}  // namespace traceglass
