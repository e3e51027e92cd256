// Memory per device: curves, peaks, blocks, and which operators allocated.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tb_backend/analysis/steps.h"

namespace traceglass {

struct MemoryPoint {
  std::int64_t at = 0, allocated = 0;
  std::optional<std::int64_t> reserved;
};

struct MemoryBlock {
  std::uint64_t addr = 0;
  std::int64_t bytes = 0;
  std::optional<std::int64_t> allocated_at, freed_at;  // absent: before, after the recording
  libtrace::EventId op = libtrace::kNone;              // that allocated (or freed, if unknown)
};

struct MemoryDevice {
  std::string type;  // "cpu", "cuda", …
  std::int64_t id = -1;
  bool relative = false;  // no totals in the file: the curve counts from 0
  bool paired = false;    // addresses in the file: blocks are known
  std::optional<std::int64_t> peak_allocated, peak_reserved, peak_at;
  std::int64_t allocations = 0, frees = 0, freed_from_before = 0;
  std::vector<MemoryPoint> curve;  // one point an event, by time
  std::vector<MemoryBlock> blocks;
};

struct MemoryOperatorRow {
  std::string type;
  std::int64_t id = -1;
  std::string name;        // "(no operator)" outside any
  std::int64_t calls = 0;  // instances that allocated or freed
  std::int64_t self_increase = 0, self_allocated = 0, allocations = 0, frees = 0;
};

struct AliveRow {
  std::string op;
  std::int64_t bytes = 0, blocks = 0, first_at = 0;
  std::optional<std::int64_t> last_freed;  // absent: some of them never, in the recording
};

std::vector<MemoryDevice> find_memory(const libtrace::Trace& trace);
// By device, then largest |self increase|; events that happen in the selection.
std::vector<MemoryOperatorRow> memory_operators(const libtrace::Trace& trace,
                                                const Selection& selection);
// Blocks alive at the peak by operator, largest first; what was there before the recording is a
// row of its own. Empty when blocks or the peak are unknown.
std::vector<AliveRow> alive_at_peak(const libtrace::Trace& trace, const MemoryDevice& device);
// Blocks that live at some time in [t0, t1), largest first.
std::vector<const MemoryBlock*> blocks_in(const MemoryDevice& device, std::int64_t t0,
                                          std::int64_t t1);
// At most about `points` points that keep each bucket's last and highest value.
std::vector<MemoryPoint> thinned(const std::vector<MemoryPoint>& curve, std::size_t points);

}  // namespace traceglass
