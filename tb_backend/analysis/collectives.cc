#include "tb_backend/analysis/collectives.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace traceglass {

using libtrace::EventId;
using libtrace::Trace;

namespace {

// (group, name without a sequence number, sequence number, order among equal ones).
using Key = std::tuple<std::string, std::string, std::int64_t, int>;

struct Seen {
  int rank;
  const CollectiveKernel* kernel;
};

std::map<Key, std::vector<Seen>> by_key(const std::vector<RankKernels>& ranks) {
  std::map<Key, std::vector<Seen>> found;
  for (const RankKernels& r : ranks) {
    std::map<std::tuple<std::string, std::string, std::int64_t>, int> order;
    for (const CollectiveKernel& k : r.kernels) {
      const std::tuple base(k.group, k.seq ? std::string() : k.name, k.seq.value_or(-1));
      const int nth = order[base]++;
      found[std::tuple_cat(base, std::tuple(nth))].push_back({r.rank, &k});
    }
  }
  std::erase_if(found, [](const auto& entry) { return entry.second.size() < 2; });
  return found;
}

// How far each rank's clock is ahead of the lowest rank's: collectives end together.
std::map<int, std::int64_t> clock_offsets(const std::map<Key, std::vector<Seen>>& found) {
  std::map<int, std::vector<std::int64_t>> ahead;
  for (const auto& [key, seen] : found) {
    const std::int64_t reference = seen.front().kernel->start_ns + seen.front().kernel->dur_ns;
    for (const Seen& s : seen) {
      ahead[s.rank].push_back(s.kernel->start_ns + s.kernel->dur_ns - reference);
    }
  }
  std::map<int, std::int64_t> median;
  for (auto& [rank, list] : ahead) {
    const auto middle = list.begin() + static_cast<std::ptrdiff_t>(list.size() / 2);
    std::nth_element(list.begin(), middle, list.end());
    median[rank] = *middle;
  }
  return median;
}

}  // namespace

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
    k.start_ns = base + trace.start(e);
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
  const std::map<Key, std::vector<Seen>> found = by_key(ranks);
  const std::map<int, std::int64_t> ahead = clock_offsets(found);
  std::vector<std::pair<std::int64_t, Collective>> ordered;
  for (const auto& [key, seen] : found) {
    Collective c;
    const CollectiveKernel& first = *seen.front().kernel;
    c.group = first.group;
    c.name = first.name;
    c.seq = first.seq;
    c.transfer_ns = first.dur_ns;
    std::int64_t latest = INT64_MIN, earliest = INT64_MAX;
    for (const Seen& s : seen) {
      c.transfer_ns = std::min(c.transfer_ns, s.kernel->dur_ns);
      const std::int64_t start = s.kernel->start_ns - ahead.at(s.rank);
      if (start > latest) c.last_rank = s.rank;
      latest = std::max(latest, start);
      earliest = std::min(earliest, start);
    }
    for (const Seen& s : seen) c.ranks.push_back({s.rank, s.kernel->dur_ns - c.transfer_ns});
    ordered.emplace_back(earliest, std::move(c));
  }
  std::stable_sort(ordered.begin(), ordered.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Collective> out;
  for (auto& [start, c] : ordered) out.push_back(std::move(c));
  return out;
}

}  // namespace traceglass
