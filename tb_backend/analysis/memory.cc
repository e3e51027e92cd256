#include "tb_backend/analysis/memory.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>

#include "libtrace/model/device.h"

namespace traceglass {

using libtrace::EventId;
using libtrace::kNone;
using libtrace::MemoryEvent;
using libtrace::Trace;

namespace {

using DeviceKey = std::pair<std::int32_t, std::int32_t>;

DeviceKey key_of(const MemoryEvent& m) {
  return {m.device_type, m.device_type == 0 ? -1 : m.device_id};
}

std::string op_name(const Trace& trace, EventId op) {
  return op == kNone ? "(no operator)" : std::string(trace.name(op));
}

void count(const MemoryEvent& m, MemoryDevice& d) {
  if (m.bytes > 0) ++d.allocations;
  if (m.bytes < 0) ++d.frees;
}

void add_curve(const std::vector<const MemoryEvent*>& events, MemoryDevice& d) {
  d.relative = std::none_of(events.begin(), events.end(),
                            [](const MemoryEvent* m) { return m->total_allocated.has_value(); });
  std::int64_t allocated = 0;
  std::optional<std::int64_t> reserved;
  for (const MemoryEvent* m : events) {
    allocated = m->total_allocated.value_or(allocated + m->bytes);
    if (m->total_reserved) reserved = m->total_reserved;
    d.curve.push_back({m->at, allocated, reserved});
    if (d.relative) continue;
    if (m->total_allocated && (!d.peak_allocated || *m->total_allocated > *d.peak_allocated)) {
      d.peak_allocated = m->total_allocated;
      d.peak_at = m->at;
    }
    if (m->total_reserved) {
      d.peak_reserved = std::max(d.peak_reserved.value_or(*m->total_reserved), *m->total_reserved);
    }
  }
}

void pair_blocks(const std::vector<const MemoryEvent*>& events, MemoryDevice& d) {
  std::unordered_map<std::uint64_t, std::size_t> open;  // address → block
  for (const MemoryEvent* m : events) {
    if (!m->addr) continue;
    d.paired = true;
    if (m->bytes > 0) {
      open[*m->addr] = d.blocks.size();
      d.blocks.push_back({*m->addr, m->bytes, m->at, std::nullopt, m->op});
    } else if (m->bytes < 0) {
      if (const auto it = open.find(*m->addr); it != open.end()) {
        d.blocks[it->second].freed_at = m->at;
        open.erase(it);
      } else {
        ++d.freed_from_before;
        d.blocks.push_back({*m->addr, -m->bytes, std::nullopt, m->at, m->op});
      }
    }
  }
}

}  // namespace

std::vector<MemoryDevice> find_memory(const Trace& trace) {
  std::map<DeviceKey, std::vector<const MemoryEvent*>> by_device;
  for (const MemoryEvent& m : trace.memory()) {
    if (!m.out_of_memory) by_device[key_of(m)].push_back(&m);
  }
  std::vector<MemoryDevice> devices;
  for (auto& [key, events] : by_device) {
    std::stable_sort(events.begin(), events.end(),
                     [](const MemoryEvent* a, const MemoryEvent* b) { return a->at < b->at; });
    MemoryDevice d;
    d.type = libtrace::memory_device_type(key.first);
    d.id = key.second;
    for (const MemoryEvent* m : events) count(*m, d);
    add_curve(events, d);
    pair_blocks(events, d);
    devices.push_back(std::move(d));
  }
  return devices;
}

std::vector<MemoryOperatorRow> memory_operators(const Trace& trace, const Selection& selection) {
  struct Gathered {
    MemoryOperatorRow row;
    std::set<EventId> instances;
  };
  std::map<std::pair<DeviceKey, std::string>, Gathered> rows;
  for (const MemoryEvent& m : trace.memory()) {
    if (m.out_of_memory || !selection.contains(m.at)) continue;
    Gathered& g = rows[{key_of(m), op_name(trace, m.op)}];
    if (m.op != kNone) g.instances.insert(m.op);
    g.row.self_increase += m.bytes;
    if (m.bytes > 0) {
      g.row.self_allocated += m.bytes;
      ++g.row.allocations;
    } else if (m.bytes < 0) {
      ++g.row.frees;
    }
  }
  std::vector<MemoryOperatorRow> out;
  for (auto& [key, g] : rows) {
    g.row.type = libtrace::memory_device_type(key.first.first);
    g.row.id = key.first.second;
    g.row.name = key.second;
    g.row.calls = static_cast<std::int64_t>(g.instances.size());
    out.push_back(std::move(g.row));
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const MemoryOperatorRow& a, const MemoryOperatorRow& b) {
                     return std::tie(a.type, a.id, b.self_allocated, a.name) <
                            std::tie(b.type, b.id, a.self_allocated, b.name);
                   });
  return out;
}

std::vector<AliveRow> alive_at_peak(const Trace& trace, const MemoryDevice& d) {
  std::vector<AliveRow> rows;
  if (!d.paired || !d.peak_at || !d.peak_allocated) return rows;
  std::map<std::pair<std::string, std::int64_t>, AliveRow> groups;  // by owner and size
  std::int64_t known = 0;
  for (const MemoryBlock& b : d.blocks) {
    if (!b.allocated_at || *b.allocated_at > *d.peak_at) continue;
    if (b.freed_at && *b.freed_at <= *d.peak_at) continue;
    AliveRow& row = groups[{op_name(trace, b.op), b.bytes}];
    if (row.blocks == 0) {
      row.first_at = *b.allocated_at;
      row.last_freed = b.freed_at;
    } else {
      row.first_at = std::min(row.first_at, *b.allocated_at);
      if (!b.freed_at || !row.last_freed) {
        row.last_freed.reset();
      } else {
        row.last_freed = std::max(*row.last_freed, *b.freed_at);
      }
    }
    ++row.blocks;
    row.bytes += b.bytes;
    known += b.bytes;
  }
  for (auto& [key, row] : groups) {
    row.op = key.first;
    rows.push_back(row);
  }
  if (*d.peak_allocated > known) {
    AliveRow before;
    before.op = "(before the recording)";
    before.bytes = *d.peak_allocated - known;
    before.first_at = d.curve.front().at;
    rows.push_back(before);
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const AliveRow& a, const AliveRow& b) { return a.bytes > b.bytes; });
  return rows;
}

std::vector<const MemoryBlock*> blocks_in(const MemoryDevice& device, std::int64_t t0,
                                          std::int64_t t1) {
  std::vector<const MemoryBlock*> blocks;
  for (const MemoryBlock& b : device.blocks) {
    if (b.allocated_at.value_or(INT64_MIN) < t1 && b.freed_at.value_or(INT64_MAX) > t0) {
      blocks.push_back(&b);
    }
  }
  std::stable_sort(blocks.begin(), blocks.end(),
                   [](const MemoryBlock* a, const MemoryBlock* b) { return a->bytes > b->bytes; });
  return blocks;
}

std::vector<MemoryPoint> thinned(const std::vector<MemoryPoint>& curve, std::size_t points) {
  if (curve.size() <= points || points < 4) return curve;
  const std::size_t buckets = points / 2;  // two points each: the highest and the last
  std::vector<MemoryPoint> out;
  for (std::size_t b = 0; b < buckets; ++b) {
    const auto first = curve.begin() + static_cast<std::ptrdiff_t>(curve.size() * b / buckets);
    const auto last = curve.begin() + static_cast<std::ptrdiff_t>(curve.size() * (b + 1) / buckets);
    const auto highest = std::max_element(
        first, last,
        [](const MemoryPoint& x, const MemoryPoint& y) { return x.allocated < y.allocated; });
    out.push_back(*highest);
    if (highest != last - 1) out.push_back(*(last - 1));
  }
  return out;
}

}  // namespace traceglass
