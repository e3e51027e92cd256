#include "tb_backend/timeline/search.h"

#include <algorithm>
#include <string>
#include <utility>

namespace traceglass {
namespace {

using libtrace::EventId;
using libtrace::kNone;
using libtrace::Trace;

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::vector<bool> matching_names(const Trace& trace, std::string_view text) {
  std::string wanted(text);
  std::transform(wanted.begin(), wanted.end(), wanted.begin(), lower);
  std::vector<bool> match(trace.string_count());
  for (libtrace::StringId id = 0; id < match.size(); ++id) {
    const std::string_view name = trace.text(id);
    match[id] = std::search(name.begin(), name.end(), wanted.begin(), wanted.end(),
                            [](char a, char b) { return lower(a) == b; }) != name.end();
  }
  return match;
}

}  // namespace

SearchHits search(const Trace& trace, std::string_view text, std::optional<EventId> from,
                  bool forward) {
  SearchHits out;
  out.bins.resize(kSearchBins);
  const std::vector<bool> match = matching_names(trace, text);
  const auto key = [&](EventId e) { return std::pair(trace.start(e), e); };
  const libtrace::TimeRange range = trace.range();
  const double per_bin = static_cast<double>(range.length()) / kSearchBins;
  for (EventId e = 0; e < trace.size(); ++e) {
    if (!match[trace.name_id(e)]) continue;
    ++out.total;
    const std::int64_t at = trace.start(e);
    if (at >= range.start && at <= range.end && per_bin > 0) {
      const auto bin = static_cast<std::size_t>(static_cast<double>(at - range.start) / per_bin);
      ++out.bins[std::min(bin, out.bins.size() - 1)];
    }
    if (from && (forward ? key(e) <= key(*from) : key(e) >= key(*from))) continue;
    const bool better =
        out.hit == kNone || (forward ? key(e) < key(out.hit) : key(e) > key(out.hit));
    if (better) out.hit = e;
  }
  if (out.hit == kNone) return out;
  for (EventId e = 0; e < trace.size(); ++e) {
    if (match[trace.name_id(e)] && key(e) <= key(out.hit)) ++out.position;
  }
  return out;
}

}  // namespace traceglass
