// Exact aggregates over a time range and some groups: from the slices, not from tiles.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tb_backend/timeline/timeline.h"

namespace traceglass {

enum class AreaBy { kName, kKind, kTrack };

struct AreaRow {
  std::string key;
  std::string kind;   // "" when slices of several kinds add up
  std::string track;  // "" when they lie in several groups
  std::int64_t count = 0;
  std::int64_t total = 0;  // ns of them within the range
  std::int64_t longest = 0;
  libtrace::EventId event = libtrace::kNone;  // the longest
};

struct Area {
  std::int64_t slices = 0;
  std::vector<AreaRow> rows;  // by total, then key
};

// Slices that touch [t0, t1): they overlap it, or are an instant in it. Suspect ones are left out,
// as in every table. `groups` must exist.
Area aggregate(const Timeline& timeline, std::int64_t t0, std::int64_t t1,
               std::span<const std::uint32_t> groups, AreaBy by);

}  // namespace traceglass
