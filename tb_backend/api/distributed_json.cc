#include "tb_backend/api/distributed_json.h"

#include <utility>

namespace traceglass {

namespace {

const char* why_name(Straggler::Why why) {
  switch (why) {
    case Straggler::Why::kStart:
      return "start";
    case Straggler::Why::kLoading:
      return "data_loading";
    case Straggler::Why::kComputation:
      return "computation";
    case Straggler::Why::kSize:
      return "size";
    case Straggler::Why::kHost:
      return "host";
    case Straggler::Why::kUnknown:
      break;
  }
  return "unknown";
}

const char* matched_by(const Distributed& d) {
  if (d.by_sequence) return d.by_order ? "both" : "sequence";
  return d.by_order ? "order" : "nothing";
}

Json rank_json(const RankRow& r, const RankParts::Part& part) {
  Json j = {{"rank", r.rank},
            {"worker", part.file.worker},
            {"id", part.file.id},
            {"trust", trust_json(part.summary->trust)},
            {"clock_ahead_ns", r.ahead_ns},
            {"tied", r.tied},
            {"steps", r.steps},
            {"starts_ns", r.starts_ns},
            {"step_ns", r.step_ns},
            {"computation_ns", r.computation_ns},
            {"overlap_ns", r.overlap_ns},
            {"exposed_ns", r.exposed_ns},
            {"other_ns", r.other_ns},
            {"dataloader_ns", r.dataloader_ns},
            {"collectives", r.collectives},
            {"wait_ns", r.wait_ns},
            {"last", r.last},
            {"caused_wait_ns", r.caused_ns},
            {"bytes", r.bytes},
            {"show", range_json(r.show)}};
  put(j, "bubble_ns", r.bubble_ns);
  return j;
}

Json step_json(const RunStepRow& s) {
  return {{"index", s.index},
          {"selected", s.selected},
          {"ranks", s.ranks},
          {"step_ns", s.step_ns},
          {"computation_ns", s.computation_ns},
          {"overlap_ns", s.overlap_ns},
          {"exposed_ns", s.exposed_ns},
          {"other_ns", s.other_ns},
          {"start_spread_ns", s.start_spread_ns},
          {"wait_ns", s.wait_ns}};
}

Json collective_json(const CollectiveRow& c) {
  Json rows = Json::array(), starts = Json::array(), waits = Json::array();
  for (const CollectiveRow::Entry& e : c.entries) {
    rows.push_back(e.band);
    starts.push_back(e.start_ns);
    waits.push_back(e.wait_ns);
  }
  Json j = {
      {"number", c.number},
      {"group", c.group},
      {"name", c.name},
      {"op", collective_op_name(c.op)},
      {"group_size", c.group_size},
      {"ranks", c.ranks},
      {"transfer_ns", c.transfer_ns},
      {"wait_ns", c.wait_ns},
      {"longest_wait_ns", c.longest_wait_ns},
      {"start_ns", c.start_ns},
      {"end_ns", c.end_ns},
      {"entered",
       {{"row", std::move(rows)}, {"start_ns", std::move(starts)}, {"wait_ns", std::move(waits)}}}};
  if (!c.dtype.empty()) j["dtype"] = c.dtype;
  put(j, "last_rank", c.last_rank);
  put(j, "step", c.step);
  put(j, "seq", c.seq);
  put(j, "elements", c.elements);
  put(j, "bytes", c.bytes);
  put(j, "least_bytes", c.least_bytes);
  put(j, "algorithm_bytes_per_s", c.algorithm_bandwidth);
  put(j, "bus_bytes_per_s", c.bus_bandwidth);
  return j;
}

Json kind_json(const CollectiveKindRow& k) {
  Json j = {{"group", k.group},
            {"op", collective_op_name(k.op)},
            {"calls", k.calls},
            {"transfer_ns", k.transfer_ns},
            {"wait_ns", k.wait_ns}};
  if (!k.dtype.empty()) j["dtype"] = k.dtype;
  put(j, "bytes", k.bytes);
  put(j, "algorithm_bytes_per_s", k.algorithm_bandwidth);
  put(j, "bus_bytes_per_s", k.bus_bandwidth);
  return j;
}

Json bands_json(const std::vector<HeatMap::Band>& bands) {
  Json out = Json::array();
  for (const HeatMap::Band& b : bands) {
    out.push_back({{"first", b.first}, {"last", b.last - 1}, {"label", b.label}});
  }
  return out;
}

Json heat_json(const HeatMap& heat) {
  return {{"by", heat.by_step ? "step" : "collective"},
          {"rows", bands_json(heat.rows)},
          {"columns", bands_json(heat.columns)},
          {"wait_ns", heat.wait_ns},
          {"last", heat.last}};
}

Json straggler_json(const Straggler& s, const Distributed& d) {
  return {{"row", s.row},
          {"rank", d.ranks[s.row].rank},
          {"last", s.last},
          {"caused_wait_ns", s.caused_ns},
          {"caused_pct", s.caused_pct},
          {"late_ns", s.late_ns},
          {"collective", s.collective},
          {"waiting_row", s.waiting_row},
          {"waiting_rank", d.ranks[s.waiting_row].rank},
          {"why", why_name(s.why)},
          {"sentence", s.sentence},
          {"advice", s.advice},
          {"show", range_json(s.show)},
          {"waiting_show", range_json(s.waiting_show)}};
}

template <typename Rows, typename Make>
Json list(const Rows& rows, Make&& make) {
  Json out = Json::array();
  for (const auto& row : rows) out.push_back(make(row));
  return out;
}

}  // namespace

Json distributed_json(const Distributed& d, const std::vector<RankParts::Part>& parts) {
  Json j = {
      {"clock", {{"residual_ns", d.clocks.residual_ns}, {"collectives", d.clocks.samples}}},
      {"matched_by", matched_by(d)},
      {"on_host", d.on_host},
      {"selected_steps", d.selected_steps},
      {"mean_step_ns", d.mean_step_ns},
      {"mean_exposed_ns", d.mean_exposed_ns},
      {"wait_ns", d.wait_ns},
      {"collective_ns", d.collective_ns},
      {"matched", d.matched},
      {"unmatched", d.unmatched},
      {"ranks", list(d.ranks, [&](const RankRow& r) { return rank_json(r, parts[r.input]); })},
      {"steps", list(d.steps, step_json)},
      {"collectives", list(d.collectives, collective_json)},
      {"kinds", list(d.kinds, kind_json)},
      {"heat", heat_json(d.heat)},
      {"stragglers", list(d.stragglers, [&](const Straggler& s) { return straggler_json(s, d); })},
      {"notes", list(d.notes, [](const DistributedNote& n) {
         return Json{{"code", n.code}, {"sentence", n.sentence}};
       })}};
  put(j, "world_size", d.world_size);
  put(j, "waiting_pct", d.waiting_pct);
  if (d.origin_unix_ns) j["origin_unix_ns"] = std::to_string(*d.origin_unix_ns);
  return j;
}

}  // namespace traceglass
