// What two traces do not have alike, column by column, to the bit.
#pragma once

#include <string>
#include <tuple>

#include "libtrace/trace.h"
#include "tb_backend/index/layout.h"

namespace traceglass::index::testing {

inline auto fields(const libtrace::Instant& i) {
  return std::tie(i.at, i.name, i.category, i.lane, i.phase, i.args);
}
inline auto fields(const libtrace::Flow& f) {
  return std::tie(f.id, f.at, f.category, f.name, f.lane, f.begin);
}
inline auto fields(const libtrace::MemoryEvent& m) {
  return std::tie(m.at, m.bytes, m.addr, m.total_allocated, m.total_reserved, m.device_type,
                  m.device_id, m.lane, m.op, m.out_of_memory);
}
inline auto fields(const libtrace::DeviceProperties& p) {
  return std::tie(p.id, p.name, p.total_memory_bytes, p.sm_count, p.max_threads_per_sm,
                  p.compute_major, p.compute_minor);
}

template <typename List>
bool same_fields(const List& a, const List& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const auto& x, const auto& y) { return fields(x) == fields(y); });
}

// "" when nothing differs.
inline std::string first_difference(const libtrace::Trace& x, const libtrace::Trace& y) {
  const libtrace::TraceData &a = x.data(), &b = y.data();
  std::string different;
  const auto check = [&](bool same, const std::string& what) {
    if (!same && different.empty()) different = what;
  };
  const auto plain = [&](const char* what, const auto& c, const auto& d) { check(c == d, what); };
  plain("start", a.start, b.start);
  plain("dur", a.dur, b.dur);
  plain("self", a.self, b.self);
  plain("name", a.name, b.name);
  plain("lane", a.lane, b.lane);
  plain("parent", a.parent, b.parent);
  plain("launch", a.launch, b.launch);
  plain("owner", a.owner, b.owner);
  plain("anchor", a.anchor, b.anchor);
  plain("order", a.order, b.order);
  plain("args", a.args, b.args);
  plain("category", a.category, b.category);
  plain("depth", a.depth, b.depth);
  plain("flags", a.flags, b.flags);
  plain("kind", a.kind, b.kind);
  plain("arg_bytes", a.arg_bytes, b.arg_bytes);
  plain("string_data", a.string_data, b.string_data);
  plain("string_offset", a.string_offset, b.string_offset);
  plain("categories", a.categories, b.categories);
  plain("lanes", a.lanes, b.lanes);
  check(same_fields(a.instants, b.instants), "instants");
  check(same_fields(a.memory, b.memory), "memory");
  check(same_fields(a.flows, b.flows), "flows");
  check(same_fields(a.devices, b.devices), "devices");
  plain("metadata", a.metadata, b.metadata);
  plain("base", a.base, b.base);
  plain("rank", a.rank, b.rank);
  plain("world_size", a.world_size, b.world_size);
  plain("rank_guessed", a.rank_guessed, b.rank_guessed);
  plain("range", a.range, b.range);
  plain("report", a.report, b.report);
  return different;
}

}  // namespace traceglass::index::testing
