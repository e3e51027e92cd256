#include "tb_backend/analysis/collectives.h"

#include <algorithm>
#include <utility>

#include "libtrace/model/sums.h"
#include "tb_backend/analysis/collective_args.h"
#include "tb_backend/analysis/matching.h"
#include "tb_backend/analysis/rank_clock.h"

namespace traceglass {

using libtrace::EventId;
using libtrace::Trace;

std::vector<CollectiveKernel> collective_kernels(const Trace& trace) {
  std::vector<CollectiveKernel> out;
  const std::int64_t base = trace.base_unix_ns().value_or(0);
  for (EventId e = 0; e < trace.size(); ++e) {
    if (trace.kind(e) != libtrace::Kind::kKernel || trace.suspect(e)) continue;
    if ((trace.flags(e) & libtrace::flag::kCommunication) == 0) continue;
    CollectiveKernel k;
    const auto text = [&](std::string_view key) {
      const auto value = trace.arg(e, key);
      return value ? std::string(value->text) : std::string();
    };
    k.group = text("Process Group Name");
    k.name = text("Collective name");
    if (k.name.empty()) k.name = trace.name(e);
    k.seq = trace.int_arg(e, "Seq");
    const CollectiveArgs args = read_collective_args(trace, e);
    k.from = args.from;
    k.to = args.to;
    k.start_ns = libtrace::plus(base, trace.start(e));
    k.dur_ns = trace.dur(e);
    out.push_back(std::move(k));
  }
  std::stable_sort(
      out.begin(), out.end(),
      [](const CollectiveKernel& a, const CollectiveKernel& b) { return a.start_ns < b.start_ns; });
  return out;
}

std::vector<Collective> match_collectives(std::vector<RankKernels> ranks) {
  std::stable_sort(ranks.begin(), ranks.end(),
                   [](const RankKernels& a, const RankKernels& b) { return a.rank < b.rank; });
  struct Seen {
    std::uint32_t rank;  // position
    const CollectiveKernel* kernel;
  };
  std::vector<std::vector<Seen>> found;
  std::vector<ClockSample> samples;
  CollectiveMatcher matcher;
  for (std::uint32_t r = 0; r < ranks.size(); ++r) {
    matcher.next_rank();
    for (const CollectiveKernel& k : ranks[r].kernels) {
      const std::uint32_t id =
          matcher.add({matcher.text(k.group), matcher.text(k.name), k.seq, k.from, k.to});
      if (id == found.size()) found.emplace_back();
      found[id].push_back({r, &k});
      samples.push_back({r, id, libtrace::plus(k.start_ns, k.dur_ns)});
    }
  }
  const RankClocks clocks = tie_clocks(ranks.size(), found.size(), samples);
  std::vector<std::pair<std::int64_t, Collective>> ordered;
  for (const std::vector<Seen>& seen : found) {
    if (seen.size() < 2) continue;
    Collective c;
    const CollectiveKernel& first = *seen.front().kernel;
    c.group = first.group;
    c.name = first.name;
    c.seq = first.seq;
    c.transfer_ns = first.dur_ns;
    std::int64_t latest = INT64_MIN, earliest = INT64_MAX;
    for (const Seen& s : seen) {
      c.transfer_ns = std::min(c.transfer_ns, s.kernel->dur_ns);
      const std::int64_t start = libtrace::minus(s.kernel->start_ns, clocks.ahead_ns[s.rank]);
      if (start > latest) c.last_rank = ranks[s.rank].rank;
      latest = std::max(latest, start);
      earliest = std::min(earliest, start);
    }
    for (const Seen& s : seen) {
      c.ranks.push_back({ranks[s.rank].rank, s.kernel->dur_ns - c.transfer_ns});
    }
    ordered.emplace_back(earliest, std::move(c));
  }
  std::stable_sort(ordered.begin(), ordered.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Collective> out;
  for (auto& [start, c] : ordered) out.push_back(std::move(c));
  return out;
}

}  // namespace traceglass
