#include "tb_backend/analysis/distributed.h"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

#include "libtrace/model/sums.h"
#include "tb_backend/analysis/distributed_notes.h"
#include "tb_backend/analysis/heat_map.h"
#include "tb_backend/analysis/stragglers.h"

namespace traceglass {

namespace {

using libtrace::add;
using libtrace::minus;
using libtrace::plus;
using Chosen = std::optional<std::pair<std::int64_t, std::int64_t>>;

bool chosen(const Chosen& steps, std::int64_t index) {
  return !steps || (steps->first <= index && index <= steps->second);
}

// The step of a rank in which `at` lies; its steps do not overlap and stand in order.
const RankStep* step_at(const RankSummary& rank, std::int64_t at) {
  auto behind = std::upper_bound(rank.steps.begin(), rank.steps.end(), at,
                                 [](std::int64_t t, const RankStep& s) { return t < s.start_ns; });
  if (behind == rank.steps.begin()) return nullptr;
  --behind;
  return at <= plus(behind->start_ns, behind->length_ns) ? &*behind : nullptr;
}

// Of a mean step. Its parts may have lost less at the bound than the whole.
template <typename Row>
std::int64_t rest_of(const Row& r) {
  const std::int64_t parts = plus(plus(r.computation_ns, r.overlap_ns), r.exposed_ns);
  return std::max<std::int64_t>(0, minus(r.step_ns, parts));
}

class Maker {
 public:
  Maker(const std::vector<RankInput>& inputs, const DistributedOptions& options)
      : inputs_(inputs), options_(options), match_(inputs) {}

  Distributed run() {
    d_.clocks = match_.clocks();
    for (const RankInput& input : inputs_) {
      const auto world = input.summary->world_size;
      if (world && *world > d_.world_size.value_or(0)) d_.world_size = world;
    }
    add_steps();
    add_ranks();
    match_collectives();
    set_origin();
    if (d_.matched > 0) {
      d_.heat = make_heat_map(match_, collectives_, d_.ranks, options_);
    }
    add_kinds();
    d_.stragglers = find_stragglers(match_, collectives_, d_);
    d_.notes = find_notes(inputs_, match_, d_);
    add_rows();
    return std::move(d_);
  }

 private:
  void add_steps() {
    std::map<std::int64_t, RunStepRow> rows;
    std::map<std::int64_t, std::pair<std::int64_t, std::int64_t>> starts;  // first, last
    for (std::size_t row = 0; row < match_.ranks(); ++row) {
      for (const RankStep& s : match_.rank(row).steps) {
        RunStepRow& r = rows[s.index];
        const std::int64_t start = match_.common(row, s.host_start_ns);
        auto [it, fresh] = starts.try_emplace(s.index, start, start);
        it->second.first = std::min(it->second.first, start);
        it->second.second = std::max(it->second.second, start);
        r.index = s.index;
        r.selected = chosen(options_.steps, s.index);
        ++r.ranks;
        add(r.step_ns, s.length_ns);
        add(r.computation_ns, s.computation_ns);
        add(r.overlap_ns, s.overlap_ns);
        add(r.exposed_ns, s.exposed_ns);
      }
    }
    for (auto& [index, r] : rows) {
      const auto n = static_cast<std::int64_t>(r.ranks);
      for (std::int64_t* part : {&r.step_ns, &r.computation_ns, &r.overlap_ns, &r.exposed_ns}) {
        *part /= n;
      }
      r.other_ns = rest_of(r);
      r.start_spread_ns = minus(starts[index].second, starts[index].first);
      step_start_[index] = starts[index].first;
      if (r.selected) ++d_.selected_steps;
      d_.steps.push_back(r);
    }
  }

  void add_ranks() {
    std::int64_t steps = 0, length = 0, exposed = 0;
    for (std::size_t row = 0; row < match_.ranks(); ++row) {
      const RankSummary& rank = match_.rank(row);
      RankRow r;
      r.rank = *rank.rank;
      r.input = match_.input(row);
      r.ahead_ns = match_.clocks().ahead_ns[row];
      r.tied = match_.clocks().tied[row];
      std::int64_t bubble = 0, n = 0;
      bool bubbles = false;
      for (const RankStep& s : rank.steps) {
        if (!chosen(options_.steps, s.index)) continue;
        if (n++ == 0) {
          r.show.start = minus(s.start_ns, rank.range_start_ns);
          r.show.end = plus(r.show.start, s.length_ns);
        }
        add(r.starts_ns, minus(match_.common(row, s.host_start_ns), step_start_[s.index]));
        add(r.step_ns, s.length_ns);
        add(r.computation_ns, s.computation_ns);
        add(r.overlap_ns, s.overlap_ns);
        add(r.exposed_ns, s.exposed_ns);
        add(r.dataloader_ns, s.dataloader_ns);
        bubbles = bubbles || s.bubble_ns.has_value();
        add(bubble, s.bubble_ns.value_or(0));
      }
      r.steps = static_cast<std::size_t>(n);
      steps += n;
      add(length, r.step_ns);
      add(exposed, r.exposed_ns);
      if (n > 0) {
        for (std::int64_t* part : {&r.starts_ns, &r.step_ns, &r.computation_ns, &r.overlap_ns,
                                   &r.exposed_ns, &r.dataloader_ns}) {
          *part /= n;
        }
        r.other_ns = rest_of(r);
        if (bubbles) r.bubble_ns = bubble / n;
      }
      d_.on_host =
          d_.on_host || (rank.on_host && !rank.collectives.empty() && !match_.set_aside(row));
      d_.ranks.push_back(r);
    }
    if (steps > 0) {
      d_.mean_step_ns = length / steps;
      d_.mean_exposed_ns = exposed / steps;
    }
  }

  void match_collectives() {
    for (std::size_t c = 0; c < match_.collectives(); ++c) {
      if (match_.size(c) == 0) continue;
      MatchedCollective m;
      m.id = c;
      for (const SeenCollective* s = match_.begin(c); s != match_.end(c) && !m.step; ++s) {
        const RankStep* step = step_at(match_.rank(s->row), match_.of(*s).start_ns);
        if (step != nullptr) m.step = step->index;
      }
      if (options_.steps && (!m.step || !chosen(options_.steps, *m.step))) continue;
      if (match_.size(c) < 2) {
        ++d_.unmatched;
        if (match_.ranks() > 1) continue;
      }
      measure(m);
      collectives_.push_back(m);
      if (match_.size(c) > 1) ++d_.matched;
    }
    std::stable_sort(collectives_.begin(), collectives_.end(),
                     [](const MatchedCollective& a, const MatchedCollective& b) {
                       return a.start_ns < b.start_ns;
                     });
    if (d_.collective_ns > 0) {
      d_.waiting_pct =
          100.0 * static_cast<double>(d_.wait_ns) / static_cast<double>(d_.collective_ns);
    }
    for (RunStepRow& row : d_.steps) row.wait_ns = step_wait_[row.index];
  }

  void measure(MatchedCollective& m) {
    m.transfer_ns = m.start_ns = std::numeric_limits<std::int64_t>::max();
    m.end_ns = std::numeric_limits<std::int64_t>::min();
    std::int64_t latest = std::numeric_limits<std::int64_t>::min(), sum = 0;
    for (const SeenCollective* s = match_.begin(m.id); s != match_.end(m.id); ++s) {
      const RankCollective& k = match_.of(*s);
      const std::int64_t start = match_.common(s->row, k.start_ns);
      m.transfer_ns = std::min(m.transfer_ns, k.dur_ns);
      m.start_ns = std::min(m.start_ns, start);
      m.end_ns = std::max(m.end_ns, plus(start, k.dur_ns));
      if (start == latest) m.last_row.reset();
      if (start > latest) m.last_row = s->row;
      latest = std::max(latest, start);
      add(sum, k.dur_ns);
    }
    if (match_.size(m.id) < 2) return;  // how much of it is waiting is not known
    for (const SeenCollective* s = match_.begin(m.id); s != match_.end(m.id); ++s) {
      const RankCollective& k = match_.of(*s);
      const std::int64_t wait = minus(k.dur_ns, m.transfer_ns);
      RankRow& r = d_.ranks[s->row];
      ++r.collectives;
      add(r.wait_ns, wait);
      add(r.bytes, std::max<std::int64_t>(0, k.bytes));
      add(m.wait_ns, wait);
      m.longest_wait_ns = std::max(m.longest_wait_ns, wait);
      if (s->row == m.last_row) m.last_wait_ns = wait;
      (k.seq == RankCollective::kNoSeq ? d_.by_order : d_.by_sequence) = true;
    }
    if (m.last_row && m.waited_for(*m.last_row)) {
      RankRow& last = d_.ranks[*m.last_row];
      ++last.last;
      add(last.caused_ns, minus(m.wait_ns, m.last_wait_ns));
    }
    add(d_.wait_ns, m.wait_ns);
    add(d_.collective_ns, sum);
    if (m.step) add(step_wait_[*m.step], m.wait_ns);
  }

  void set_origin() {
    std::int64_t origin = std::numeric_limits<std::int64_t>::max();
    for (const RunStepRow& s : d_.steps) {
      if (s.selected) origin = std::min(origin, step_start_[s.index]);
    }
    if (!collectives_.empty()) origin = std::min(origin, collectives_.front().start_ns);
    if (origin == std::numeric_limits<std::int64_t>::max()) origin = 0;
    for (MatchedCollective& m : collectives_) {
      m.start_ns = minus(m.start_ns, origin);
      m.end_ns = minus(m.end_ns, origin);
    }
    origin_ = origin;
    if (match_.ranks() > 0 && match_.rank(0).base_unix_ns) d_.origin_unix_ns = origin;
  }

  // What of a collective does not depend on the rank, and its sizes over them.
  CollectiveRow described(const MatchedCollective& m) const {
    CollectiveRow row;
    const SeenCollective& first = *match_.begin(m.id);
    const RankCollective& k = match_.of(first);
    const std::vector<std::string>& texts = match_.rank(first.row).texts;
    row.step = m.step;
    row.group = texts[k.group];
    row.name = texts[k.name];
    row.op = k.op;
    if (k.seq != RankCollective::kNoSeq) row.seq = k.seq;
    row.dtype = texts[k.dtype];
    for (const SeenCollective* s = match_.begin(m.id); s != match_.end(m.id); ++s) {
      const RankCollective& one = match_.of(*s);
      row.group_size = std::max<std::int64_t>(row.group_size, one.group_size);
      if (one.elements >= 0) {
        row.elements = std::max(row.elements.value_or(0), one.elements);
      }
      if (one.bytes >= 0) {
        row.bytes = std::max(row.bytes.value_or(0), one.bytes);
        row.least_bytes = std::min(row.least_bytes.value_or(one.bytes), one.bytes);
      }
    }
    if (row.group_size == 0) row.group_size = static_cast<std::int64_t>(match_.size(m.id));
    row.ranks = match_.size(m.id);
    row.transfer_ns = m.transfer_ns;
    row.wait_ns = m.wait_ns;
    row.longest_wait_ns = m.longest_wait_ns;
    if (m.last_row) row.last_rank = d_.ranks[*m.last_row].rank;
    row.start_ns = m.start_ns;
    row.end_ns = m.end_ns;
    set_bandwidth(row.bytes, m.transfer_ns, row.op, row.group_size, row);
    return row;
  }

  template <typename Row>
  static void set_bandwidth(std::optional<std::int64_t> bytes, std::int64_t ns, CollectiveOp op,
                            std::int64_t ranks, Row& row) {
    if (!bytes || *bytes == 0 || ns <= 0 || op == CollectiveOp::kBarrier) return;
    row.algorithm_bandwidth = 1e9 * static_cast<double>(*bytes) / static_cast<double>(ns);
    row.bus_bandwidth = *row.algorithm_bandwidth * bus_factor(op, ranks);
  }

  void add_kinds() {
    using Key = std::tuple<std::string, CollectiveOp, std::string, std::int64_t>;
    std::map<Key, CollectiveKindRow> kinds;
    std::map<Key, std::int64_t> sizes;
    for (const MatchedCollective& m : collectives_) {
      CollectiveRow row = described(m);
      const Key key(row.group, row.op, row.dtype, row.bytes.value_or(-1));
      CollectiveKindRow& kind = kinds[key];
      kind.group = std::move(row.group);
      kind.dtype = std::move(row.dtype);
      kind.op = row.op;
      kind.bytes = row.bytes;
      ++kind.calls;
      add(kind.transfer_ns, m.transfer_ns);
      add(kind.wait_ns, m.wait_ns);
      sizes[key] = std::max(sizes[key], row.group_size);
    }
    for (auto& [key, kind] : kinds) {
      std::optional<std::int64_t> bytes;
      std::int64_t sum = 0;
      if (kind.bytes &&
          !__builtin_mul_overflow(*kind.bytes, static_cast<std::int64_t>(kind.calls), &sum)) {
        bytes = sum;
      }
      set_bandwidth(bytes, kind.transfer_ns, kind.op, sizes[key], kind);
      d_.kinds.push_back(std::move(kind));
    }
    std::stable_sort(d_.kinds.begin(), d_.kinds.end(),
                     [](const CollectiveKindRow& a, const CollectiveKindRow& b) {
                       return plus(a.transfer_ns, a.wait_ns) > plus(b.transfer_ns, b.wait_ns);
                     });
  }

  void add_entries(const MatchedCollective& m, CollectiveRow& row) const {
    if (d_.heat.rows.empty()) {  // one rank
      row.entries.push_back({0, m.start_ns, 0});
      return;
    }
    std::size_t band = 0;
    bool open = false;  // the last entry is of `band`
    for (const SeenCollective* s = match_.begin(m.id); s != match_.end(m.id); ++s) {
      const RankCollective& k = match_.of(*s);
      const std::int64_t start = minus(match_.common(s->row, k.start_ns), origin_);
      for (; d_.heat.rows[band].last <= s->row; ++band) open = false;
      if (!open) row.entries.push_back({band, start, 0});
      open = true;
      CollectiveRow::Entry& e = row.entries.back();
      e.start_ns = std::min(e.start_ns, start);
      e.wait_ns = std::max(e.wait_ns, minus(k.dur_ns, m.transfer_ns));
    }
  }

  void add_rows() {
    std::vector<std::size_t> order(collectives_.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    if (order.size() > options_.collectives) {
      std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        const MatchedCollective &x = collectives_[a], &y = collectives_[b];
        return x.longest_wait_ns != y.longest_wait_ns ? x.longest_wait_ns > y.longest_wait_ns
                                                      : x.transfer_ns > y.transfer_ns;
      });
      order.resize(options_.collectives);
      std::sort(order.begin(), order.end());
    }
    for (const std::size_t i : order) {
      const MatchedCollective& m = collectives_[i];
      CollectiveRow row = described(m);
      row.number = i + 1;
      add_entries(m, row);
      d_.collectives.push_back(std::move(row));
    }
  }

  const std::vector<RankInput>& inputs_;
  const DistributedOptions& options_;
  const RunMatch match_;
  std::map<std::int64_t, std::int64_t> step_start_, step_wait_;  // by index
  std::vector<MatchedCollective> collectives_;                   // by start
  std::int64_t origin_ = 0;
  Distributed d_;
};

}  // namespace

Distributed find_distributed(const std::vector<RankInput>& inputs,
                             const DistributedOptions& options) {
  return Maker(inputs, options).run();
}

}  // namespace traceglass
