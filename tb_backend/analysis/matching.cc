#include "tb_backend/analysis/matching.h"

namespace traceglass {

std::size_t CollectiveMatcher::Hash::operator()(const Base& b) const {
  std::uint64_t h = b.group;
  for (const std::uint64_t part :
       {std::uint64_t{b.name}, static_cast<std::uint64_t>(b.seq), std::uint64_t{b.has_seq},
        static_cast<std::uint64_t>(b.from), static_cast<std::uint64_t>(b.to)}) {
    h = (h ^ part) * 0x9E3779B97F4A7C15U;  // golden ratio: neighbours fall apart
    h ^= h >> 32U;
  }
  return h;
}

std::uint32_t CollectiveMatcher::text(std::string_view text) {
  const auto it = texts_.find(text);
  if (it != texts_.end()) return it->second;
  return texts_.emplace(text, static_cast<std::uint32_t>(texts_.size())).first->second;
}

std::uint32_t CollectiveMatcher::add(const MatchKey& key) {
  Base base{key.group, 0, false, -1, -1, -1};
  if (key.from >= 0 && key.to >= 0) {
    // Sequence numbers of point-to-point calls count on each rank by itself.
    base.from = key.from;
    base.to = key.to;
  } else if (key.seq) {
    base.has_seq = true;
    base.seq = *key.seq;
  } else {
    base.name = key.name;
  }
  Series& series = series_[base];
  if (series.rank != rank_) {
    series.rank = rank_;
    series.seen = 0;
  }
  if (series.seen == series.ids.size()) series.ids.push_back(count_++);
  return series.ids[series.seen++];
}

}  // namespace traceglass
