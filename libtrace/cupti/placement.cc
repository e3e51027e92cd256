#include "libtrace/cupti/placement.h"

#include <algorithm>
#include <unordered_set>

#include "libtrace/cupti/device_clock.h"

namespace libtrace::cupti {
namespace {

// Correlation ids that device work points at.
std::unordered_set<std::uint32_t> wanted_correlations(const EventLog& log) {
  std::unordered_set<std::uint32_t> ids;
  for (const KernelEvent& e : log.kernels) ids.insert(e.correlation);
  for (const CopyEvent& e : log.copies) ids.insert(e.correlation);
  for (const SetEvent& e : log.sets) ids.insert(e.correlation);
  for (const GraphEvent& e : log.graphs) ids.insert(e.correlation);
  return ids;
}

}  // namespace

WindowTime::WindowTime(const detail::DeviceFrame& frame, bool own_clock) noexcept
    : clock_(frame.clock),
      own_clock_(own_clock),
      base_(frame.base_unix_ns),
      start_(frame.clock.unix_ns(frame.start_ticks) - base_),
      end_(frame.clock.unix_ns(frame.stop_ticks) - base_) {}

std::int64_t WindowTime::of(std::uint64_t ns) const noexcept {
  constexpr std::uint64_t kLatest = std::uint64_t{1} << 62;  // the year 2116
  if (ns > kLatest) return INT64_MAX / 2;  // nonsense; still the latest of all, and no overflow
  return (own_clock_ ? clock_.unix_ns(ticks_of_device_time(ns)) : static_cast<std::int64_t>(ns)) -
         base_;
}

std::vector<bool> calls_of_window(const EventLog& log, const WindowTime& time) {
  std::vector<bool> in_window(log.calls.size());
  std::vector<std::uint32_t> order;
  bool runtime_calls = false, driver_calls = false;
  for (std::uint32_t i = 0; i < log.calls.size(); ++i) {
    if (!time.in_window(log.calls[i].start)) continue;
    in_window[i] = true;
    order.push_back(i);
    (log.calls[i].driver ? driver_calls : runtime_calls) = true;
  }
  if (!runtime_calls || !driver_calls) return in_window;

  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    const CallEvent &x = log.calls[a], &y = log.calls[b];
    if (x.thread != y.thread) return x.thread < y.thread;
    if (x.start != y.start) return x.start < y.start;
    return x.end != y.end ? x.end > y.end : x.driver < y.driver;
  });
  std::unordered_set<std::uint32_t> of_runtime;
  for (const std::uint32_t i : order) {
    if (!log.calls[i].driver) of_runtime.insert(log.calls[i].correlation);
  }
  const std::unordered_set<std::uint32_t> wanted = wanted_correlations(log);
  const CallEvent* runtime = nullptr;  // the last runtime call of the thread
  for (const std::uint32_t i : order) {
    const CallEvent& call = log.calls[i];
    if (runtime != nullptr && runtime->thread != call.thread) runtime = nullptr;
    if (!call.driver) {
      if (runtime == nullptr || call.end > runtime->end) runtime = &call;
    } else if (runtime != nullptr && call.end <= runtime->end) {
      in_window[i] = wanted.count(call.correlation) != 0 && of_runtime.count(call.correlation) == 0;
    }
  }
  return in_window;
}

Launches::Launches(const EventLog& log, const std::vector<bool>& in_window) {
  for (std::size_t i = 0; i < log.calls.size(); ++i) {
    if (in_window[i]) calls_.push_back(&log.calls[i]);
  }
  // The first of one correlation id in the order of the file stays the first.
  std::stable_sort(calls_.begin(), calls_.end(), [](const CallEvent* a, const CallEvent* b) {
    return a->correlation < b->correlation;
  });
}

const CallEvent* Launches::find(std::uint32_t correlation) const noexcept {
  const auto found = std::lower_bound(
      calls_.begin(), calls_.end(), correlation,
      [](const CallEvent* call, std::uint32_t id) { return call->correlation < id; });
  return found == calls_.end() || (*found)->correlation != correlation ? nullptr : *found;
}

}  // namespace libtrace::cupti
