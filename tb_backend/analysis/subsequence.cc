// The common subsequence of two lists of siblings: what is alike at both ends goes first, then
// tokens that occur once in each list cut the rest into gaps, and each gap is solved exactly if
// small, by occurrences if not.
#include <algorithm>
#include <span>
#include <unordered_map>

#include "tb_backend/analysis/alignment.h"

namespace traceglass {
namespace {

using Tokens = std::span<const std::uint64_t>;

constexpr std::size_t kMostCells = std::size_t{1} << 18U;  // of one exact table, 2 bytes each

// A longest run of pairs that rises in both; `pairs` rises in its first.
Pairs longest_rising(const Pairs& pairs) {
  std::vector<std::size_t> ends;  // ends[i]: pair that ends the best run of length i + 1
  std::vector<std::size_t> before(pairs.size(), pairs.size());
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const auto at = std::lower_bound(
        ends.begin(), ends.end(), pairs[i].second,
        [&](std::size_t end, std::uint32_t second) { return pairs[end].second < second; });
    if (at != ends.begin()) before[i] = *std::prev(at);
    if (at == ends.end()) {
      ends.push_back(i);
    } else {
      *at = i;
    }
  }
  Pairs run;
  for (std::size_t i = ends.empty() ? pairs.size() : ends.back(); i < pairs.size(); i = before[i]) {
    run.push_back(pairs[i]);
  }
  std::reverse(run.begin(), run.end());
  return run;
}

// The n-th of a token with the n-th of it; with `once`, only tokens that occur once in both.
Pairs by_occurrence(Tokens a, Tokens b, bool once) {
  struct Places {
    std::vector<std::uint32_t> of_b;
    std::size_t next = 0, of_a = 0;
  };
  std::unordered_map<std::uint64_t, Places> places;
  for (std::uint32_t i = 0; i < b.size(); ++i) places[b[i]].of_b.push_back(i);
  for (const std::uint64_t token : a) {
    if (const auto it = places.find(token); it != places.end()) ++it->second.of_a;
  }
  Pairs pairs;
  for (std::uint32_t i = 0; i < a.size(); ++i) {
    const auto it = places.find(a[i]);
    if (it == places.end()) continue;
    Places& p = it->second;
    if (once && (p.of_a > 1 || p.of_b.size() > 1)) continue;
    if (p.next < p.of_b.size()) pairs.emplace_back(i, p.of_b[p.next++]);
  }
  return longest_rising(pairs);
}

Pairs exact(Tokens a, Tokens b) {
  const std::size_t width = b.size() + 1;
  std::vector<std::uint16_t> best((a.size() + 1) * width);  // of the tails from (i, j) on
  for (std::size_t i = a.size(); i-- > 0;) {
    for (std::size_t j = b.size(); j-- > 0;) {
      const std::size_t at = i * width + j;
      best[at] = a[i] == b[j] ? static_cast<std::uint16_t>(best[at + width + 1] + 1)
                              : std::max(best[at + width], best[at + 1]);
    }
  }
  Pairs pairs;
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    const std::size_t at = i * width + j;
    if (a[i] == b[j]) {
      pairs.emplace_back(static_cast<std::uint32_t>(i++), static_cast<std::uint32_t>(j++));
    } else if (best[at + width] >= best[at + 1]) {
      ++i;
    } else {
      ++j;
    }
  }
  return pairs;
}

Pairs of_gap(Tokens a, Tokens b) {
  if (a.empty() || b.empty()) return {};
  const bool small =
      std::min(a.size(), b.size()) < UINT16_MAX && (a.size() + 1) <= kMostCells / (b.size() + 1);
  return small ? exact(a, b) : by_occurrence(a, b, false);
}

void add(Pairs& out, const Pairs& pairs, std::size_t a, std::size_t b) {
  for (const auto& [i, j] : pairs) {
    out.emplace_back(static_cast<std::uint32_t>(i + a), static_cast<std::uint32_t>(j + b));
  }
}

}  // namespace

Pairs common_subsequence(const std::vector<std::uint64_t>& a, const std::vector<std::uint64_t>& b) {
  const std::size_t shorter = std::min(a.size(), b.size());
  std::size_t head = 0, tail = 0;
  while (head < shorter && a[head] == b[head]) ++head;
  while (tail < shorter - head && a[a.size() - 1 - tail] == b[b.size() - 1 - tail]) ++tail;
  Pairs pairs;
  for (std::uint32_t i = 0; i < head; ++i) pairs.emplace_back(i, i);
  const Tokens x = Tokens(a).subspan(head, a.size() - head - tail);
  const Tokens y = Tokens(b).subspan(head, b.size() - head - tail);
  // Tables of many small gaps together cost no more than one large one.
  Pairs anchors;
  if ((x.size() + 1) > kMostCells / (y.size() + 1)) anchors = by_occurrence(x, y, true);
  std::size_t i = 0, j = 0;
  anchors.emplace_back(static_cast<std::uint32_t>(x.size()), static_cast<std::uint32_t>(y.size()));
  for (const auto& [to_i, to_j] : anchors) {
    add(pairs, of_gap(x.subspan(i, to_i - i), y.subspan(j, to_j - j)), head + i, head + j);
    if (to_i < x.size()) pairs.emplace_back(head + to_i, head + to_j);
    i = to_i + 1;
    j = to_j + 1;
  }
  for (std::size_t n = tail; n-- > 0;) {
    pairs.emplace_back(static_cast<std::uint32_t>(a.size() - 1 - n),
                       static_cast<std::uint32_t>(b.size() - 1 - n));
  }
  return pairs;
}

}  // namespace traceglass
