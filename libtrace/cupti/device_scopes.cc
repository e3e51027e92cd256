#include "libtrace/cupti/device_scopes.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace libtrace::cupti {
namespace {

struct Work {
  std::int64_t tid, launched, start, end;
  std::uint32_t device, stream;
};

template <class E>
void collect(const Segments<E>& events, const Launches& launches, const WindowTime& time,
             std::vector<Work>& work) {
  for (const E& e : events) {
    const CallEvent* const call = launches.find(e.correlation);
    if (call == nullptr) continue;
    work.push_back({std::int64_t{call->thread}, time.of(call->start), time.of(e.start),
                    time.of(e.end), e.device, e.stream});
  }
}

}  // namespace

std::vector<DeviceScope> device_scopes(std::span<const detail::HostScope> scopes,
                                       const EventLog& log, const Launches& launches,
                                       const WindowTime& time) {
  if (scopes.empty()) return {};
  std::vector<Work> work;
  collect(log.kernels, launches, time, work);
  collect(log.copies, launches, time, work);
  collect(log.sets, launches, time, work);
  collect(log.graphs, launches, time, work);
  std::sort(work.begin(), work.end(), [](const Work& a, const Work& b) {
    return std::tie(a.tid, a.launched) < std::tie(b.tid, b.launched);
  });
  std::vector<const detail::HostScope*> sorted;
  for (const detail::HostScope& s : scopes) sorted.push_back(&s);
  std::sort(sorted.begin(), sorted.end(), [](const auto* a, const auto* b) {
    return std::tie(a->tid, a->start, b->end) < std::tie(b->tid, b->start, a->end);
  });

  // One sweep a thread, over scopes by their start and launches by theirs.
  std::map<std::tuple<const detail::HostScope*, std::uint32_t, std::uint32_t>, TimeRange> spans;
  std::vector<const detail::HostScope*> open;
  std::size_t next = 0;
  for (const Work& w : work) {
    while (next < sorted.size() &&
           std::tie(sorted[next]->tid, sorted[next]->start) <= std::tie(w.tid, w.launched)) {
      open.push_back(sorted[next++]);
    }
    open.erase(
        std::remove_if(open.begin(), open.end(),
                       [&](const auto* s) { return s->tid != w.tid || s->end < w.launched; }),
        open.end());
    for (const auto* const scope : open) {
      const auto [it, fresh] =
          spans.try_emplace({scope, w.device, w.stream}, TimeRange{w.start, w.end});
      it->second.start = std::min(it->second.start, w.start);
      it->second.end = std::max(it->second.end, w.end);
    }
  }
  std::vector<DeviceScope> out;
  out.reserve(spans.size());
  for (const auto& [key, span] : spans) {
    const auto& [scope, device, stream] = key;
    out.push_back({span.start, span.end, scope->name, scope->external_id, device, stream});
  }
  return out;
}

}  // namespace libtrace::cupti
