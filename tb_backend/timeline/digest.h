// A cut of a timeline for a page that cannot ask for more: all of the trace at coarse levels, one
// range of it at ever finer ones, until each slice there stands for itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tb_backend/timeline/timeline.h"

namespace traceglass {

class Digest {
 public:
  // `timeline` must outlive it. `focus`: times of the trace.
  Digest(const Timeline& timeline, libtrace::TimeRange focus);

  // The next finer level as TILE_FORMAT.md has it, if it takes at most `most_bytes`: the whole
  // trace where a few tiles hold it and there is room, else the tiles of the focus. nullopt: there
  // is no finer one, or it does not fit.
  std::optional<std::string> next(std::size_t most_bytes);
  // Level of the last one: a bucket is 2^k ns.
  [[nodiscard]] int level() const { return level_; }
  // Nothing of the focus is folded in the last one.
  [[nodiscard]] bool exact() const { return exact_; }

 private:
  std::optional<std::string> tiles(std::int64_t first, std::int64_t last, std::size_t most_bytes);

  const Timeline& timeline_;
  const libtrace::TimeRange focus_;  // from the trace's start, within it
  const std::int64_t length_;
  int k_;      // of the next level
  int level_;  // of the last one
  bool exact_ = false;
};

// The slices that start in `range`, the longest first, at most `most` of them.
std::vector<libtrace::EventId> longest_slices(const libtrace::Trace& trace,
                                              libtrace::TimeRange range, std::size_t most);

}  // namespace traceglass
