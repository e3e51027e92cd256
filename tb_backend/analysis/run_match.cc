#include "tb_backend/analysis/run_match.h"

#include <algorithm>

#include "tb_backend/analysis/matching.h"

namespace traceglass {

RunMatch::RunMatch(const std::vector<RankInput>& inputs) : inputs_(inputs) {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].summary->rank) {
      rows_.push_back(i);
    } else {
      without_rank_.push_back(i);
    }
  }
  std::stable_sort(rows_.begin(), rows_.end(), [&](std::size_t a, std::size_t b) {
    return *inputs[a].summary->rank < *inputs[b].summary->rank;
  });
  std::vector<std::size_t> once;
  for (const std::size_t i : rows_) {
    const bool again =
        !once.empty() && inputs[once.back()].summary->rank == inputs[i].summary->rank;
    (again ? doubled_ : once).push_back(i);
  }
  rows_ = std::move(once);
  match();
  place_untied();
}

void RunMatch::match() {
  of_device_ = std::any_of(rows_.begin(), rows_.end(), [&](std::size_t i) {
    return !inputs_[i].summary->on_host && !inputs_[i].summary->collectives.empty();
  });
  CollectiveMatcher matcher;
  std::vector<ClockSample> samples;
  std::vector<std::uint32_t> kernels;  // of each sample
  for (std::uint32_t row = 0; row < rows_.size(); ++row) {
    const RankSummary& r = rank(row);
    std::vector<std::uint32_t> texts;
    texts.reserve(r.texts.size());
    for (const std::string& t : r.texts) texts.push_back(matcher.text(t));
    shift_.push_back(r.base_unix_ns.value_or(0));
    matcher.next_rank();
    if (set_aside(row)) continue;
    for (std::uint32_t k = 0; k < r.collectives.size(); ++k) {
      const RankCollective& c = r.collectives[k];
      MatchKey key{texts[c.group], texts[c.name], std::nullopt, c.from, c.to};
      if (c.seq != RankCollective::kNoSeq) key.seq = c.seq;
      samples.push_back({row, matcher.add(key), common(row, libtrace::plus(c.start_ns, c.dur_ns))});
      kernels.push_back(k);
    }
  }
  clocks_ = tie_clocks(rows_.size(), matcher.count(), samples);
  for (std::size_t row = 0; row < rows_.size(); ++row)
    shift_[row] = libtrace::minus(shift_[row], clocks_.ahead_ns[row]);
  first_.assign(matcher.count() + std::size_t{1}, 0);
  for (const ClockSample& s : samples) ++first_[s.collective + 1];
  for (std::size_t c = 0; c + 1 < first_.size(); ++c) first_[c + 1] += first_[c];
  std::vector<std::uint32_t> next(first_.begin(), first_.end() - 1);
  seen_.resize(samples.size() + 1);  // one behind the last, so that begin() always has a place
  for (std::size_t i = 0; i < samples.size(); ++i) {
    seen_[next[samples[i].collective]++] = {samples[i].rank, kernels[i]};
  }
}

// A rank that shares nothing with the others and does not know the time: beside the first one.
void RunMatch::place_untied() {
  for (std::size_t row = 1; row < rows_.size(); ++row) {
    const RankSummary &r = rank(row), &first = rank(0);
    if (clocks_.tied[row] || r.base_unix_ns.has_value() == first.base_unix_ns.has_value()) continue;
    if (r.steps.empty() || first.steps.empty()) continue;
    shift_[row] = libtrace::minus(common(0, first.steps.front().host_start_ns),
                                  r.steps.front().host_start_ns);
  }
}

}  // namespace traceglass
