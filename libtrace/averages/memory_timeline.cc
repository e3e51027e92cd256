#include "libtrace/averages/memory_timeline.h"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <unordered_map>
#include <utility>

#include "libtrace/averages/flags.h"
#include "libtrace/averages/memory_blocks.h"
#include "libtrace/model/device.h"
#include "libtrace/model/sums.h"
#include "libtrace/model/whole_number.h"

namespace libtrace {
namespace {

struct Device {
  std::string type;
  std::int64_t index = 0;
  bool operator==(const Device&) const = default;
};

Device device_of(const MemoryEvent& m) {
  const std::string type = memory_device_type(m.device_type);
  return {type, type == "cpu" ? 0 : m.device_id};
}

std::string text_of(const Device& d) {
  return d.type == "cpu" ? d.type : d.type + ":" + std::to_string(d.index);
}

Device parsed(std::string_view text) {
  const std::size_t colon = text.find(':');
  Device d{std::string(text.substr(0, colon)), 0};
  bool known = false;
  for (std::int32_t i = 0; i <= 20; ++i) known |= memory_device_type(i) == d.type;
  if (colon != std::string_view::npos) {
    const auto index = whole_number(text.substr(colon + 1));
    known = known && index && *index >= 0;
    d.index = index.value_or(0);
  }
  if (!known) throw std::invalid_argument("no such device: '" + std::string(text) + "'");
  if (d.type == "cpu") d.index = 0;
  return d;
}

Device chosen(const Trace& trace, std::string_view text) {
  if (!text.empty()) return parsed(text);
  std::optional<Device> first;
  for (const MemoryEvent& m : trace.memory()) {
    const Device d = device_of(m);
    if (d.type == "cpu") continue;
    if (!first || std::pair(d.type, d.index) < std::pair(first->type, first->index)) first = d;
  }
  return first.value_or(Device{"cpu", 0});
}

// torch's own condition. Traces that say nothing of their options are judged by what they hold.
void require_options(const Trace& trace) {
  bool memory = flag_set(trace, "profile_memory") || !trace.memory().empty();
  bool shapes = flag_set(trace, "record_shapes"), stack = flag_set(trace, "with_stack");
  for (EventId e = 0; e < trace.size() && !(shapes && stack); ++e) {
    shapes = shapes || trace.arg(e, "Input Dims").has_value();
    stack = stack || trace.kind(e) == Kind::kPython || trace.arg(e, "Call stack").has_value();
  }
  std::string missing;
  const auto need = [&](bool has, const char* option) {
    if (!has) missing.append(missing.empty() ? "" : ", ").append(option);
  };
  need(shapes, "record_shapes");
  need(memory, "profile_memory");
  need(stack, "with_stack");
  if (!missing.empty()) {
    throw std::invalid_argument(missing + " required for memory profiling");
  }
}

// Pairs allocations with the next free of their address. Rows without one are no blocks.
std::vector<MemoryBlock> pair_blocks(const Trace& trace, const std::vector<std::uint32_t>& order) {
  std::vector<MemoryBlock> blocks;
  std::unordered_map<std::uint64_t, std::uint32_t> live;  // address -> block
  for (const std::uint32_t i : order) {
    const MemoryEvent& m = trace.memory()[i];
    if (!m.addr || m.bytes == 0) continue;
    const auto it = live.find(*m.addr);
    if (it != live.end()) {
      blocks[it->second].freed = i;  // by this row, or by one that was lost before it
      live.erase(it);
      if (m.bytes < 0) continue;
    }
    if (m.bytes > 0) live[*m.addr] = static_cast<std::uint32_t>(blocks.size());
    MemoryBlock b;
    b.bytes = m.bytes > 0 ? m.bytes : minus(0, m.bytes);
    (m.bytes > 0 ? b.allocated : b.freed) = i;
    blocks.push_back(b);
  }
  return blocks;
}

}  // namespace

MemoryTimeline memory_timeline(const Trace& trace, std::string_view device) {
  const Device wanted = chosen(trace, device);
  require_options(trace);
  const auto& memory = trace.memory();
  MemoryTimeline out;
  out.device = text_of(wanted);
  std::vector<std::uint32_t> order;
  for (std::uint32_t i = 0; i < memory.size(); ++i) {
    if (!memory[i].out_of_memory && device_of(memory[i]) == wanted) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return memory[a].at < memory[b].at; });

  std::vector<MemoryBlock> blocks = pair_blocks(trace, order);
  find_categories(trace, blocks);
  const std::int64_t base = trace.base_unix_ns().value_or(0);
  std::int64_t before = 0;  // bytes of blocks that existed before
  for (const MemoryBlock& b : blocks) {
    if (b.allocated == kNone) {
      out.rows.push_back({-1, MemoryAction::kPreexisting, b.bytes, b.category});
      add(before, b.bytes);
    } else {
      out.rows.push_back(
          {base + memory[b.allocated].at, MemoryAction::kCreate, b.bytes, b.category});
    }
    if (b.freed == kNone) continue;
    out.rows.push_back({base + memory[b.freed].at, MemoryAction::kDestroy, -b.bytes, b.category});
  }

  std::int64_t without_address = 0, lowest = 0;
  for (const std::uint32_t i : order) {
    const MemoryEvent& m = memory[i];
    out.peak_allocated = std::max(out.peak_allocated, m.total_allocated.value_or(0));
    out.peak_reserved = std::max(out.peak_reserved, m.total_reserved.value_or(0));
    if (m.addr || m.bytes == 0) continue;
    add(without_address, m.bytes);
    lowest = std::min(lowest, without_address);
    out.rows.push_back({base + m.at, m.bytes > 0 ? MemoryAction::kCreate : MemoryAction::kDestroy,
                        m.bytes, MemoryCategory::kUnknown});
  }
  std::int64_t rest = minus(0, lowest);
  add(before, rest);
  // What the allocator held at the start and nothing freed.
  if (!order.empty() && memory[order[0]].total_allocated) {
    const std::int64_t held = minus(*memory[order[0]].total_allocated, memory[order[0]].bytes);
    add(rest, std::max<std::int64_t>(0, minus(held, before)));
  }
  if (rest > 0) {
    out.rows.push_back({-1, MemoryAction::kPreexisting, rest, MemoryCategory::kUnknown});
  }
  std::stable_sort(out.rows.begin(), out.rows.end(), [](const auto& a, const auto& b) {
    return std::pair(a.at, a.action) < std::pair(b.at, b.action);
  });
  return out;
}

namespace {

// In the doubles that torch divides with, which at today's epoch round to a quarter of a us.
std::int64_t torch_us(std::int64_t ns) {
  const std::int64_t us = ns / 1000;
  return static_cast<std::int64_t>(static_cast<double>(us) + static_cast<double>(ns % 1000) / 1000);
}

}  // namespace

std::vector<MemoryTimeline::Point> MemoryTimeline::points() const {
  std::vector<Point> out;
  std::int64_t first = -1;
  for (const Row& row : rows) {
    const std::int64_t us = row.at < 0 ? -1 : torch_us(row.at);
    if (first < 0) first = us;
    if (out.empty() || out.back().at_us != us) {
      out.push_back(out.empty() ? Point() : out.back());
      out.back().at_us = us;
    }
    add(out.back().bytes[static_cast<std::size_t>(row.category)], row.bytes);
  }
  if (!out.empty() && out[0].at_us < 0 && first >= 0) out[0].at_us = first;
  return out;
}

std::string MemoryTimeline::json() const {
  const std::vector<Point> all = points();
  std::string times, sizes;
  for (const Point& p : all) {
    times.append(times.empty() ? "" : ", ").append(std::to_string(p.at_us));
    sizes.append(sizes.empty() ? "[0" : ", [0");
    for (const std::int64_t bytes : p.bytes) sizes.append(", ").append(std::to_string(bytes));
    sizes += ']';
  }
  return "[[" + times + "], [" + sizes + "]]";
}

std::string MemoryTimeline::raw_json() const {
  std::string out = "[";
  for (const Row& row : rows) {
    if (out.size() > 1) out += ", ";
    out.append("[").append(std::to_string(row.at));
    out.append(", ").append(std::to_string(static_cast<int>(row.action) + 1));
    out.append(", ").append(std::to_string(row.bytes));
    out.append(", ").append(std::to_string(static_cast<int>(row.category))).append("]");
  }
  return out + "]";
}

}  // namespace libtrace
