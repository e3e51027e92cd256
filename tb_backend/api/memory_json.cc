// The memory view and its allocation table as JSON.
#include <algorithm>
#include <charconv>

#include "tb_backend/analysis/memory.h"
#include "tb_backend/api/view_json.h"

namespace traceglass {

using libtrace::kNone;
using libtrace::Trace;

namespace {

Json curve_json(const std::vector<MemoryPoint>& curve) {
  Json at = Json::array(), allocated = Json::array(), reserved = Json::array();
  const bool known = std::all_of(curve.begin(), curve.end(),
                                 [](const MemoryPoint& p) { return p.reserved.has_value(); });
  for (const MemoryPoint& p : curve) {
    at.push_back(p.at);
    allocated.push_back(p.allocated);
    if (known) reserved.push_back(*p.reserved);
  }
  return {{"at_ns", at}, {"allocated_bytes", allocated}, {"reserved_bytes", reserved}};
}

Json alive_json(const AliveRow& r) {
  return {{"operator", r.op},
          {"bytes", r.bytes},
          {"blocks", r.blocks},
          {"first_at_ns", r.first_at},
          {"last_freed_ns", r.last_freed ? Json(*r.last_freed) : Json()}};
}

Json device_json(const Trace& trace, const MemoryDevice& d, std::size_t points) {
  Json alive = Json::array();
  for (const AliveRow& r : alive_at_peak(trace, d)) alive.push_back(alive_json(r));
  Json j = {{"type", d.type},
            {"id", d.id},
            {"name", ""},
            {"relative", d.relative},
            {"paired", d.paired},
            {"allocations", d.allocations},
            {"frees", d.frees},
            {"freed_from_before", d.freed_from_before},
            {"curve", curve_json(thinned(d.curve, points))},
            {"alive_at_peak", std::move(alive)}};
  put(j, "peak_allocated_bytes", d.peak_allocated);
  put(j, "peak_reserved_bytes", d.peak_reserved);
  put(j, "peak_at_ns", d.peak_at);
  if (d.type == "cpu") return j;
  for (const libtrace::DeviceProperties& p : trace.devices()) {
    if (p.id != d.id) continue;
    j["name"] = p.name;
    put(j, "capacity_bytes", p.total_memory_bytes);
  }
  return j;
}

std::string hexadecimal(std::uint64_t value) {
  char digits[16];
  const auto [end, error] = std::to_chars(digits, digits + sizeof digits, value, 16);
  return "0x" + std::string(digits, end);
}

Json block_json(const Trace& trace, const MemoryDevice& d, const MemoryBlock& b) {
  Json j = {{"bytes", b.bytes},
            {"operator", b.op == kNone ? "(no operator)" : std::string(trace.name(b.op))}};
  if (d.paired) j["addr"] = hexadecimal(b.addr);
  put(j, "allocated_ns", b.allocated_at);
  put(j, "freed_ns", b.freed_at);
  if (b.op != kNone) j["event"] = b.op;
  return j;
}

}  // namespace

Json memory_json(const Trace& trace, const Selection& selection, std::size_t points) {
  Json devices = Json::array(), operators = Json::array();
  for (const MemoryDevice& d : find_memory(trace)) {
    devices.push_back(device_json(trace, d, points));
  }
  for (const MemoryOperatorRow& r : memory_operators(trace, selection)) {
    operators.push_back({{"type", r.type},
                         {"id", r.id},
                         {"name", r.name},
                         {"calls", r.calls},
                         {"self_increase_bytes", r.self_increase},
                         {"self_allocated_bytes", r.self_allocated},
                         {"allocations", r.allocations},
                         {"frees", r.frees}});
  }
  return {{"devices", devices}, {"operators", operators}, {"steps", selection.count()}};
}

Json memory_blocks_json(const Trace& trace, const BlockQuery& query) {
  Json rows = Json::array();
  std::size_t total = 0;
  for (const MemoryDevice& d : find_memory(trace)) {
    if (d.type != query.type || d.id != query.device) continue;
    const std::vector<const MemoryBlock*> blocks = blocks_in(d, query.t0, query.t1);
    total = blocks.size();
    for (std::size_t i = 0; i < std::min(blocks.size(), query.limit); ++i) {
      rows.push_back(block_json(trace, d, *blocks[i]));
    }
  }
  return {{"total", total}, {"rows", rows}};
}

}  // namespace traceglass
