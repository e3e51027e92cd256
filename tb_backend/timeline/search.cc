#include "tb_backend/timeline/search.h"

#include <algorithm>
#include <utility>

namespace traceglass {
namespace {

using libtrace::EventId;
using libtrace::kNone;
using libtrace::StringId;
using libtrace::Trace;

// By string: whether it names a slice and matches. Texts of arguments are not looked at.
std::vector<std::uint8_t> matching_names(const Trace& trace, const NamePattern& pattern) {
  std::vector<std::uint8_t> match(trace.string_count());
  for (EventId e = 0; e < trace.size(); ++e) match[trace.name_id(e)] = 1;
  for (StringId id = 0; id < match.size(); ++id) {
    if (match[id] != 0) match[id] = pattern.matches(trace.text(id)) ? 1 : 0;
  }
  return match;
}

// Which part of the range a time is in; times outside of it are in none.
class Bins {
 public:
  explicit Bins(libtrace::TimeRange range)
      : range_(range),
        per_ns_(range.length() > 0 ? kSearchBins / static_cast<double>(range.length()) : 0) {}

  void count(std::int64_t at, std::vector<std::int64_t>& bins) const {
    if (at < range_.start || at > range_.end || per_ns_ == 0) return;
    const auto bin = static_cast<std::size_t>(static_cast<double>(at - range_.start) * per_ns_);
    ++bins[std::min(bin, bins.size() - 1)];
  }

 private:
  libtrace::TimeRange range_;
  double per_ns_;
};

}  // namespace

SearchHits search(const Trace& trace, const NamePattern& pattern, std::optional<EventId> from,
                  bool forward) {
  SearchHits out;
  out.bins.resize(kSearchBins);
  const std::vector<std::uint8_t> match = matching_names(trace, pattern);
  for (StringId id = 0; id < match.size(); ++id) {
    if (match[id] != 0) out.names.push_back(id);
  }
  if (out.names.empty()) return out;
  const auto key = [&](EventId e) { return std::pair(trace.start(e), e); };
  const Bins bins(trace.range());
  for (EventId e = 0; e < trace.size(); ++e) {
    if (match[trace.name_id(e)] == 0) continue;
    ++out.total;
    bins.count(trace.start(e), out.bins);
    if (from && (forward ? key(e) <= key(*from) : key(e) >= key(*from))) continue;
    const bool better =
        out.hit == kNone || (forward ? key(e) < key(out.hit) : key(e) > key(out.hit));
    if (better) out.hit = e;
  }
  if (out.hit == kNone) return out;
  for (EventId e = 0; e < trace.size(); ++e) {
    if (match[trace.name_id(e)] != 0 && key(e) <= key(out.hit)) ++out.position;
  }
  return out;
}

EventId same_name(const Trace& trace, EventId from, bool forward) {
  const auto key = [&](EventId e) { return std::pair(trace.start(e), e); };
  EventId best = kNone;
  for (EventId e = 0; e < trace.size(); ++e) {
    if (trace.name_id(e) != trace.name_id(from) || e == from) continue;
    if (forward ? key(e) < key(from) : key(e) > key(from)) continue;
    if (best == kNone || (forward ? key(e) < key(best) : key(e) > key(best))) best = e;
  }
  return best;
}

}  // namespace traceglass
