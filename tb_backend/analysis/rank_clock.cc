#include "tb_backend/analysis/rank_clock.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "libtrace/model/sums.h"

namespace traceglass {

namespace {

using libtrace::minus;

// Samples grouped by one of their keys: those of `key` are order[first[key] … first[key + 1]).
struct Grouped {
  std::vector<std::uint32_t> first, order;

  template <typename Key>
  Grouped(std::size_t keys, const std::vector<ClockSample>& samples, Key&& key)
      : first(keys + 1, 0), order(samples.size()) {
    for (const ClockSample& s : samples) ++first[key(s) + 1];
    for (std::size_t k = 0; k < keys; ++k) first[k + 1] += first[k];
    std::vector<std::uint32_t> next(first.begin(), first.end() - 1);
    for (std::uint32_t i = 0; i < samples.size(); ++i) order[next[key(samples[i])]++] = i;
  }
};

std::int64_t median(std::vector<std::int64_t>& list) {
  const auto middle = list.begin() + static_cast<std::ptrdiff_t>(list.size() / 2);
  std::nth_element(list.begin(), middle, list.end());
  return *middle;
}

class Tie {
 public:
  Tie(std::size_t ranks, std::size_t collectives, const std::vector<ClockSample>& samples)
      : samples_(samples),
        by_rank_(ranks, samples, [](const ClockSample& s) { return s.rank; }),
        by_collective_(collectives, samples, [](const ClockSample& s) { return s.collective; }),
        known_(ranks, false),
        expanded_(collectives, false) {
    clocks_.ahead_ns.assign(ranks, 0);
    clocks_.tied.assign(ranks, false);
  }

  RankClocks run() {
    for (std::uint32_t root = 0; root < known_.size(); ++root) {
      if (known_[root]) continue;
      const std::size_t reached = spread(root);
      if (reached > 1 && !main_found_) {
        main_found_ = true;
        for (std::size_t r = 0; r < known_.size(); ++r) clocks_.tied[r] = known_[r] && in_main_[r];
      }
    }
    measure();
    return std::move(clocks_);
  }

 private:
  // Everything that hangs together with `root`; how many ranks that are.
  std::size_t spread(std::uint32_t root) {
    if (!main_found_) in_main_.assign(known_.size(), false);
    std::vector<std::uint32_t> frontier{root};
    known_[root] = true;
    std::size_t reached = 0;
    while (!frontier.empty()) {
      std::vector<std::pair<std::uint32_t, std::int64_t>> found;  // rank, ahead
      for (const std::uint32_t rank : frontier) {
        ++reached;
        if (!main_found_) in_main_[rank] = true;
        for (std::uint32_t i = by_rank_.first[rank]; i < by_rank_.first[rank + 1]; ++i) {
          expand(samples_[by_rank_.order[i]].collective, found);
        }
      }
      std::stable_sort(found.begin(), found.end(),
                       [](const auto& a, const auto& b) { return a.first < b.first; });
      frontier.clear();
      std::vector<std::int64_t> list;
      for (std::size_t i = 0; i < found.size(); ++i) {
        list.push_back(found[i].second);
        if (i + 1 < found.size() && found[i + 1].first == found[i].first) continue;
        clocks_.ahead_ns[found[i].first] = median(list);
        known_[found[i].first] = true;
        frontier.push_back(found[i].first);
        list.clear();
      }
    }
    return reached;
  }

  // What a collective says about its ranks that are not known yet, from those that are.
  void expand(std::uint32_t collective,
              std::vector<std::pair<std::uint32_t, std::int64_t>>& found) {
    if (expanded_[collective]) return;
    expanded_[collective] = true;
    std::vector<std::int64_t> ends;
    const auto each = [&](auto&& act) {
      for (std::uint32_t i = by_collective_.first[collective];
           i < by_collective_.first[collective + 1]; ++i) {
        act(samples_[by_collective_.order[i]]);
      }
    };
    each([&](const ClockSample& s) {
      if (known_[s.rank]) ends.push_back(minus(s.end_ns, clocks_.ahead_ns[s.rank]));
    });
    const std::int64_t end = median(ends);
    each([&](const ClockSample& s) {
      if (!known_[s.rank]) found.emplace_back(s.rank, minus(s.end_ns, end));
    });
  }

  void measure() {
    std::vector<std::int64_t> spreads;
    for (std::size_t c = 0; c < expanded_.size(); ++c) {
      const std::uint32_t first = by_collective_.first[c], last = by_collective_.first[c + 1];
      if (last - first < 2) continue;
      std::int64_t low = std::numeric_limits<std::int64_t>::max(), high = -low;
      for (std::uint32_t i = first; i < last; ++i) {
        const ClockSample& s = samples_[by_collective_.order[i]];
        low = std::min(low, minus(s.end_ns, clocks_.ahead_ns[s.rank]));
        high = std::max(high, minus(s.end_ns, clocks_.ahead_ns[s.rank]));
      }
      spreads.push_back(minus(high, low));
    }
    clocks_.samples = spreads.size();
    if (spreads.empty()) return;
    const auto at = spreads.begin() + static_cast<std::ptrdiff_t>((spreads.size() * 19 - 1) / 20);
    std::nth_element(spreads.begin(), at, spreads.end());
    clocks_.residual_ns = *at;
  }

  const std::vector<ClockSample>& samples_;
  const Grouped by_rank_, by_collective_;
  std::vector<bool> known_, expanded_, in_main_;
  bool main_found_ = false;
  RankClocks clocks_;
};

}  // namespace

RankClocks tie_clocks(std::size_t ranks, std::size_t collectives,
                      const std::vector<ClockSample>& samples) {
  return Tie(ranks, collectives, samples).run();
}

}  // namespace traceglass
