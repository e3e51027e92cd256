#include "tb_backend/analysis/stragglers.h"

#include <algorithm>
#include <cmath>

#include "libtrace/model/sums.h"
#include "tb_backend/analysis/figures.h"

namespace traceglass {

namespace {

using libtrace::minus;
using libtrace::plus;

constexpr std::size_t kNamed = 8;
// A rank stands out when it causes twice its even share of the waiting, and at least a tenth of it;
// of two ranks it must cause 60 %.
constexpr double kEvenShares = 2, kLeastShare = 0.1, kMostShare = 0.6;
// Waiting below this part of the steps is noise.
constexpr double kLeastWaiting = 0.005;
// A difference explains lateness when it is at least half of it.
bool explains(std::int64_t difference, std::int64_t late) {
  return difference > 0 && difference >= late - late / 2;
}

const RankStep* step_of(const RankSummary& rank, std::optional<std::int64_t> index) {
  if (!index) return nullptr;
  const auto it = std::find_if(rank.steps.begin(), rank.steps.end(),
                               [&](const RankStep& s) { return s.index == *index; });
  return it == rank.steps.end() ? nullptr : &*it;
}

class Reason {
 public:
  Reason(const RunMatch& match, const Distributed& d, const MatchedCollective& worst, Straggler& s)
      : match_(match), d_(d), worst_(worst), s_(s) {}

  void find() {
    const RankSummary &late = match_.rank(s_.row), &other = match_.rank(s_.waiting_row);
    late_ = step_of(late, worst_.step);
    other_ = step_of(other, worst_.step);
    if (late_ != nullptr && other_ != nullptr && !late_->synthetic) {
      const std::int64_t start = minus(match_.common(s_.row, late_->host_start_ns),
                                       match_.common(s_.waiting_row, other_->host_start_ns));
      if (explains(late_->dataloader_ns - other_->dataloader_ns, s_.late_ns)) {
        return because(Straggler::Why::kLoading,
                       "it loads data for " + time_text(late_->dataloader_ns) + " of " + step() +
                           ", " + theirs() + " for " + time_text(other_->dataloader_ns) + ".",
                       "Look at its share of the data and at its DataLoader: num_workers, "
                       "pin_memory, a slow disk.");
      }
      if (explains(start, s_.late_ns)) {
        return because(Straggler::Why::kStart,
                       "it starts its step " + time_text(start) + " after " + theirs() + ".",
                       "Look at its host work before the step (data, logging, checkpoint).");
      }
    }
    if (late_ != nullptr && other_ != nullptr) {
      const std::int64_t mine = plus(late_->computation_ns, late_->overlap_ns);
      const std::int64_t others = plus(other_->computation_ns, other_->overlap_ns);
      if (explains(mine - others, s_.late_ns)) {
        const char* what = late.has_device_work ? "its kernels take " : "its operators take ";
        return because(Straggler::Why::kComputation,
                       what + time_text(mine) + " of " + step() + ", those of " + theirs() + " " +
                           time_text(others) + ".",
                       "Look at its kernels: more work (uneven shards, longer sequences) or a "
                       "slower device (clocks, heat, another model).");
      }
    }
    const auto [mine, others] = sizes();
    if (others > 0 && mine > plus(others, others / 4)) {
      return because(
          Straggler::Why::kSize,
          "it sends " + bytes_text(mine) + " there, " + theirs() + " " + bytes_text(others) + ".",
          "Even out what the ranks exchange: uneven splits make the largest one last.");
    }
    if (late_ != nullptr && other_ != nullptr) {
      return because(Straggler::Why::kHost,
                     late.has_device_work
                         ? "its device computes no longer than that of " + theirs() +
                               ": it waits for its host."
                         : "its operators take no longer than those of " + theirs() +
                               ": its host does something else, or waits for a core.",
                     "Look at its critical path: Python, synchronisations or a busy CPU.");
    }
    because(Straggler::Why::kUnknown, "the ranks' steps do not say why.",
            "Mark steps with profiler.step() on every rank, so that they can be compared.");
  }

 private:
  std::string theirs() const { return "rank " + std::to_string(d_.ranks[s_.waiting_row].rank); }

  std::string step() const {
    return late_->synthetic ? "the recording" : "step " + std::to_string(late_->index);
  }

  void because(Straggler::Why why, const std::string& reason, std::string advice) {
    const RankRow& r = d_.ranks[s_.row];
    s_.why = why;
    const std::string last =
        std::to_string(s_.last) + " of " + count_text(r.collectives, "collective") + ": " + reason;
    s_.sentence = "Rank " + std::to_string(r.rank);
    if (2 * s_.last >= r.collectives) {
      s_.sentence += " comes last in " + last;
    } else {
      s_.sentence += " causes " + std::to_string(std::lround(s_.caused_pct)) +
                     " % of all waiting, last in " + last;
    }
    s_.advice = std::move(advice);
  }

  // Bytes of the late rank and of the one that waits, in the worst collective.
  std::pair<std::int64_t, std::int64_t> sizes() const {
    std::int64_t mine = -1, others = -1;
    for (const SeenCollective* s = match_.begin(worst_.id); s != match_.end(worst_.id); ++s) {
      if (s->row == s_.row) mine = match_.of(*s).bytes;
      if (s->row == s_.waiting_row) others = match_.of(*s).bytes;
    }
    return {mine, others};
  }

  const RunMatch& match_;
  const Distributed& d_;
  const MatchedCollective& worst_;
  Straggler& s_;
  const RankStep *late_ = nullptr, *other_ = nullptr;
};

// The places of both ranks around a collective, in their own times: from the late one's step, or
// from when the other began to wait, to the end.
void set_places(const RunMatch& match, const MatchedCollective& worst, Straggler& s) {
  std::int64_t longest = -1;
  for (const SeenCollective* k = match.begin(worst.id); k != match.end(worst.id); ++k) {
    const RankCollective& c = match.of(*k);
    if (k->row == s.row) s.show = {c.start_ns, plus(c.start_ns, c.dur_ns)};
    if (k->row == s.row || c.dur_ns <= longest) continue;
    longest = c.dur_ns;
    s.waiting_row = k->row;
    s.waiting_show = {c.start_ns, plus(c.start_ns, c.dur_ns)};
  }
  s.late_ns =
      minus(match.common(s.row, s.show.start), match.common(s.waiting_row, s.waiting_show.start));
  s.show.start = minus(s.show.start, std::max<std::int64_t>(0, s.late_ns));
  const std::int64_t margin = minus(s.show.end, s.show.start) / 20;
  for (libtrace::TimeRange* range : {&s.show, &s.waiting_show}) {
    range->start = minus(range->start, margin);
    range->end = plus(range->end, margin);
    const std::size_t row = range == &s.show ? s.row : s.waiting_row;
    const std::int64_t zero = match.rank(row).range_start_ns;
    range->start = std::max<std::int64_t>(0, minus(range->start, zero));
    range->end = std::max(range->start, minus(range->end, zero));
  }
}

}  // namespace

std::vector<Straggler> find_stragglers(const RunMatch& match,
                                       const std::vector<MatchedCollective>& collectives,
                                       const Distributed& d) {
  std::vector<Straggler> out;
  double time = 0;
  for (const RankRow& r : d.ranks) {
    time += static_cast<double>(r.step_ns) * static_cast<double>(r.steps);
  }
  if (d.ranks.size() < 2 || d.wait_ns <= 0 ||
      static_cast<double>(d.wait_ns) < kLeastWaiting * time) {
    return out;
  }
  const double least =
      std::clamp(kEvenShares / static_cast<double>(d.ranks.size()), kLeastShare, kMostShare);
  std::vector<const MatchedCollective*> worst(d.ranks.size(), nullptr);  // of those it came last to
  for (const MatchedCollective& c : collectives) {
    if (!c.last_row || !c.waited_for(*c.last_row)) continue;
    const MatchedCollective*& w = worst[*c.last_row];
    if (w == nullptr || c.longest_wait_ns > w->longest_wait_ns) w = &c;
  }
  for (std::size_t row = 0; row < d.ranks.size(); ++row) {
    const RankRow& r = d.ranks[row];
    const double share = static_cast<double>(r.caused_ns) / static_cast<double>(d.wait_ns);
    if (worst[row] == nullptr || share < least) continue;
    Straggler s;
    s.row = row;
    s.last = r.last;
    s.caused_ns = r.caused_ns;
    s.caused_pct = 100 * share;
    s.collective = static_cast<std::size_t>(worst[row] - collectives.data()) + 1;
    set_places(match, *worst[row], s);
    if (s.late_ns <= 0) continue;
    Reason(match, d, *worst[row], s).find();
    out.push_back(std::move(s));
  }
  std::stable_sort(out.begin(), out.end(), [](const Straggler& a, const Straggler& b) {
    return a.caused_ns > b.caused_ns;
  });
  if (out.size() > kNamed) out.resize(kNamed);
  return out;
}

}  // namespace traceglass
