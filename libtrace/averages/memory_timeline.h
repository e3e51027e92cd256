// The memory of one device over time, by category: what torch's export_memory_timeline() writes.
//
// torch knows a tensor's category from its pointer in Python objects and operators' inputs; a
// trace holds neither. Here a block's category follows from where it was allocated and freed
// (memory_category.cc); what does not follow is kUnknown. In-place changes are not in a trace, so
// there are no rows of kIncrementVersion.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "libtrace/memory_category.h"
#include "libtrace/trace.h"

namespace libtrace {

enum class MemoryAction : std::uint8_t { kPreexisting, kCreate, kIncrementVersion, kDestroy };

struct MemoryTimeline {
  struct Row {
    std::int64_t at = 0;  // ns since the epoch where the trace knows it; -1: before the start
    MemoryAction action = MemoryAction::kCreate;
    std::int64_t bytes = 0;  // + created, - destroyed
    MemoryCategory category = MemoryCategory::kUnknown;
  };
  // Bytes that live at a time, by category.
  struct Point {
    std::int64_t at_us = 0;
    std::array<std::int64_t, kMemoryCategories> bytes{};
  };

  std::string device;     // "cuda:0"
  std::vector<Row> rows;  // by time, then action
  // The allocator's own peaks; 0 where the trace does not say.
  std::int64_t peak_allocated = 0, peak_reserved = 0;

  // The sum of the rows at each us; what existed before stands at the first time.
  [[nodiscard]] std::vector<Point> points() const;
  [[nodiscard]] std::string json() const;      // [times, sizes]: nine sizes a time, the first 0
  [[nodiscard]] std::string raw_json() const;  // [[t, action, bytes, category], …]
  [[nodiscard]] std::string html() const;      // a page with the picture as SVG
};

// `device`: "cpu", "cuda", "cuda:1"; "" takes the first device with memory rows other than the
// host, else the host. Throws std::invalid_argument when the profile was recorded without
// memory, shapes or stacks (torch's own condition; data in the trace counts too), or for what is
// no device.
MemoryTimeline memory_timeline(const Trace& trace, std::string_view device = {});

}  // namespace libtrace
