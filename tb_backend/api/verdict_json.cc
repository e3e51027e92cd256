#include "tb_backend/api/verdict_json.h"

#include <algorithm>

#include "tb_backend/analysis/contents.h"

namespace traceglass {

using libtrace::kNone;
using libtrace::Trace;

namespace {

constexpr std::size_t kListedGaps = 100;

const char* severity_text(VerdictSeverity severity) {
  constexpr const char* kNames[] = {"high", "medium", "low", "ok", "unknown"};
  return kNames[static_cast<std::size_t>(severity)];
}

Json verdict_json(const Verdict& v, const std::string& trust) {
  Json suggestions = Json::array();
  for (const Suggestion& s : v.suggestions) {
    suggestions.push_back({{"text", s.text}, {"code", s.code}});
  }
  Json j = {{"id", v.id},
            {"severity", severity_text(v.severity)},
            {"sentence", v.sentence},
            {"evidence", v.evidence},
            {"advice", v.suggestions.empty() ? "" : v.suggestions.front().text},
            {"suggestions", std::move(suggestions)},
            {"events", v.events},
            {"trust", trust}};
  put(j, "share_pct", v.share_pct);
  put(j, "seen_pct", v.seen_pct);
  put(j, "gain_ceiling_ns", v.gain_ceiling_ns);
  return j;
}

Json gap_json(const Trace& trace, const IdleGap& gap) {
  Json j = {{"start_ns", gap.start},
            {"end_ns", gap.end},
            {"cause", idle_cause_name(gap.cause)},
            {"blame_name", gap.blame == kNone ? "" : trace.name(gap.blame)}};
  if (gap.blame != kNone) j["blame_event"] = gap.blame;
  if (gap.next != kNone) j["next_event"] = gap.next;
  return j;
}

const char* edge_text(const PathSegment& s) {
  if (s.category == path_category(Activity::kCommunication) && s.edge != EdgeKind::kNone) {
    return "collective";
  }
  switch (s.edge) {
    case EdgeKind::kHost:
      return "host";
    case EdgeKind::kLaunch:
      return "launch";
    case EdgeKind::kStream:
      return "stream";
    case EdgeKind::kSync:
      return "sync";
    case EdgeKind::kQueue:
      return "queue";
    case EdgeKind::kWait:
    case EdgeKind::kHandover:
      return "wait";
    case EdgeKind::kNone:
      break;
  }
  return "gap";
}

std::string lane_text(const Trace& trace, const GraphLane& lane) {
  const libtrace::Lane& l = trace.lanes()[lane.lane];
  if (!l.thread.empty()) return l.thread;
  return (lane.device ? "stream " : "thread ") + l.tid;
}

std::string name_of(const Trace& trace, const PathSegment& s) {
  if (s.event != kNone) return std::string(trace.name(s.event));
  if (s.category == kUnknownGap) return "waiting, reason unknown";
  return s.category == kLaunchDelay ? "on its way to the device" : "nothing recorded";
}

}  // namespace

Json verdicts_json(const Trace& trace, const std::vector<Verdict>& verdicts) {
  const std::string trust(1, judge(trace.report()).grade);
  Json out = Json::array();
  for (const Verdict& v : verdicts) out.push_back(verdict_json(v, trust));
  return out;
}

Json idle_json(const StepGraph& graph, const Selection& selection) {
  const Trace& trace = graph.trace();
  Json devices = Json::array();
  for (const DeviceIdle& d : find_idle(graph, selection)) {
    Json causes = Json::array(), gaps = Json::array();
    for (const IdleCause c : d.causes_by_size()) {
      causes.push_back({{"cause", idle_cause_name(c)}, {"ns", d.of(c)}});
    }
    for (const IdleGap& gap : longest_gaps(d.gaps, kListedGaps)) {
      gaps.push_back(gap_json(trace, gap));
    }
    devices.push_back({{"type", d.type},
                       {"id", d.id},
                       {"name", d.name},
                       {"idle_ns", d.idle_ns},
                       {"causes", std::move(causes)},
                       {"gap_count", d.gaps.size()},
                       {"gaps", std::move(gaps)}});
  }
  return {{"steps", selection.count()},
          {"range", range_json(selection.range(trace))},
          {"devices", std::move(devices)}};
}

Json critical_path_json(const StepGraph& graph, const Timeline& timeline,
                        const Selection& selection, std::size_t step) {
  const Trace& trace = graph.trace();
  const StepChain chain(graph, selection);
  const CriticalPath found = find_critical_path(chain, selection.chosen_index(step));
  Json parts = Json::array(), path = Json::array(), what_if = Json::array();
  for (const auto& [category, ns] : found.parts_by_size()) {
    parts.push_back({{"category", path_category_name(category)}, {"ns", ns}});
  }
  for (const PathSegment& s : found.path) {
    Json j = {{"name", name_of(trace, s)},
              {"category", path_category_name(s.category)},
              {"lane", lane_text(trace, graph.lanes()[s.lane])},
              {"start_ns", s.start},
              {"end_ns", s.end},
              {"edge", edge_text(s)}};
    if (s.event != kNone) {
      const Place place = timeline.place(s.event);
      j["event"] = s.event;
      j["group"] = place.group;
      j["row"] = place.row;
    }
    if (s.pieces > 1) j["pieces"] = s.pieces;
    path.push_back(std::move(j));
  }
  for (const WhatIfRow& row : found.what_if) {
    what_if.push_back({{"name", trace.text(row.name)},
                       {"kind", libtrace::kind_name(row.kind)},
                       {"ns_on_path", row.ns_on_path},
                       {"gain_2x_ns", row.gain_ns},
                       {"event", row.longest}});
  }
  Json out = {{"steps", found.steps},
              {"mean_step_ns", found.mean_step_ns},
              {"parts", std::move(parts)},
              {"path", std::move(path)},
              {"what_if", std::move(what_if)}};
  if (found.steps > 0) {
    const Step& listed = chain.step(found.step);
    out["step"] = {{"position", selection.position(found.step)},
                   {"name", listed.name},
                   {"start_ns", listed.extended.start},
                   {"end_ns", listed.extended.end}};
  }
  return out;
}

}  // namespace traceglass
