#include "libtrace/cupti/rows.h"

#include <algorithm>
#include <unordered_map>

#include "libtrace/cupti/device_scopes.h"
#include "libtrace/cupti/placement.h"
#include "libtrace/cupti/row_names.h"
#include "libtrace/cupti/row_writer.h"

namespace libtrace::cupti {
namespace {

enum class Type : std::uint8_t { kCall, kKernel, kCopy, kSet, kGraph, kSync, kOverhead, kScope };

struct Item {
  std::int64_t start, end;
  Type type;
  std::uint32_t index;
};
bool before(const Item& a, const Item& b) noexcept {
  if (a.start != b.start) return a.start < b.start;
  if (a.end != b.end) return a.end > b.end;
  return a.type != b.type ? a.type < b.type : a.index < b.index;
}

class Rows final : public detail::DeviceRows {
 public:
  Rows(const EventLog& log, const std::vector<DeviceInfo>& devices, bool own_clock,
       TraceBuilder& builder, const detail::DeviceFrame& frame)
      : log_(log), time_(frame, own_clock), writer_(log, devices, builder, frame.pid) {
    const std::vector<bool> in_window = calls_of_window(log_, time_);
    for (std::uint32_t i = 0; i < log_.calls.size(); ++i) {
      if (in_window[i]) push(log_.calls[i], Type::kCall, i);
    }
    const Launches launches(log_, in_window);
    work(log_.kernels, Type::kKernel, launches);
    work(log_.copies, Type::kCopy, launches);
    work(log_.sets, Type::kSet, launches);
    work(log_.graphs, Type::kGraph, launches);
    those_in_window(log_.syncs, Type::kSync);
    those_in_window(log_.overheads, Type::kOverhead);
    index_event_records();
    scopes_ = device_scopes(frame.user_scopes, log_, launches, time_);
    for (std::uint32_t i = 0; i < scopes_.size(); ++i) {
      items_.push_back({scopes_[i].start, scopes_[i].end, Type::kScope, i});
    }
    std::sort(items_.begin(), items_.end(), before);
    if (!frame.host_reports_device_memory) allocations(launches);
    show();
  }

  [[nodiscard]] const TimeRange* head() const noexcept override {
    return at_ < items_.size() ? &head_ : nullptr;
  }

  void add_head() override {
    const Item& item = items_[at_++];
    const Place at{item.start, item.end - item.start};
    switch (item.type) {
      case Type::kCall:
        writer_.add(log_.calls[item.index], at);
        break;
      case Type::kKernel: {
        const KernelEvent& e = log_.kernels[item.index];
        writer_.add(e, at, e.queued == 0 ? 0 : time_.of(e.queued));
        break;
      }
      case Type::kCopy:
        writer_.add(log_.copies[item.index], at);
        break;
      case Type::kSet:
        writer_.add(log_.sets[item.index], at);
        break;
      case Type::kGraph:
        writer_.add(log_.graphs[item.index], at);
        break;
      case Type::kSync:
        writer_.add(log_.syncs[item.index], at, record_before(log_.syncs[item.index]));
        break;
      case Type::kOverhead:
        writer_.add(log_.overheads[item.index], at);
        break;
      case Type::kScope:
        writer_.add(scopes_[item.index], at);
        break;
    }
    show();
  }

 private:
  void show() {
    if (at_ < items_.size()) head_ = {items_[at_].start, items_[at_].end};
  }
  template <class E>
  void push(const E& e, Type type, std::uint32_t index) {
    items_.push_back({time_.of(e.start), time_.of(e.end), type, index});
  }

  template <class E>
  void work(const Segments<E>& events, Type type, const Launches& launches) {
    for (std::uint32_t i = 0; i < events.size(); ++i) {
      // Work of an earlier step that runs into the window counts: the device is not idle there.
      const bool counts =
          launches.find(events[i].correlation) != nullptr || time_.in_window(events[i].start);
      if (counts) push(events[i], type, i);
    }
  }
  template <class E>
  void those_in_window(const Segments<E>& events, Type type) {
    for (std::uint32_t i = 0; i < events.size(); ++i) {
      if (time_.in_window(events[i].start)) push(events[i], type, i);
    }
  }

  void allocations(const Launches& launches) {
    std::vector<const AllocationEvent*> order;
    for (const AllocationEvent& e : log_.allocations) {
      // Pinned memory of the host is not the device's.
      if (time_.in_window(e.at) && is_device_memory(e.kind)) order.push_back(&e);
    }
    std::stable_sort(order.begin(), order.end(),
                     [](const auto* a, const auto* b) { return a->at < b->at; });
    std::unordered_map<std::uint32_t, std::int64_t> total;  // of the window, by device
    for (const AllocationEvent* const e : order) {
      const auto bytes = static_cast<std::int64_t>(std::min<std::uint64_t>(e->bytes, kMostBytes));
      std::int64_t& sum = total[e->device];
      sum = std::clamp(sum + (e->release ? -bytes : bytes), -2 * kMostBytes, 2 * kMostBytes);
      const CallEvent* const call = launches.find(e->correlation);
      writer_.add(*e, time_.of(e->at), sum, call != nullptr ? call->thread : 0);
    }
  }

  // ---- what waits for events waited for --------------------------------------------------------
  static std::uint64_t event_key(std::uint32_t context, std::uint32_t event) noexcept {
    return (std::uint64_t{context} << 32) | event;
  }
  void index_event_records() {
    if (log_.syncs.empty()) return;
    for (const EventRecord& e : log_.event_records) {
      records_of_event_[event_key(e.context, e.event)].push_back(&e);
    }
    for (auto& [key, records] : records_of_event_) {
      std::sort(records.begin(), records.end(),
                [](const auto* a, const auto* b) { return a->correlation < b->correlation; });
    }
  }
  // The last record of the event that was asked for before this wait.
  [[nodiscard]] const EventRecord* record_before(const SyncEvent& e) const {
    const auto found = records_of_event_.find(event_key(e.context, e.event));
    if (found == records_of_event_.end()) return nullptr;
    const auto& records = found->second;
    const auto after = std::lower_bound(records.begin(), records.end(), e.correlation,
                                        [](const EventRecord* r, std::uint32_t correlation) {
                                          return r->correlation < correlation;
                                        });
    return after == records.begin() ? nullptr : *std::prev(after);
  }

  static constexpr std::int64_t kMostBytes = std::int64_t{1} << 60;  // of sums that stay in 64 bits

  const EventLog& log_;
  const WindowTime time_;
  RowWriter writer_;
  std::vector<Item> items_;
  std::size_t at_ = 0;
  TimeRange head_;
  std::vector<DeviceScope> scopes_;
  std::unordered_map<std::uint64_t, std::vector<const EventRecord*>> records_of_event_;
};

}  // namespace

std::unique_ptr<detail::DeviceRows> make_rows(const EventLog& log,
                                              const std::vector<DeviceInfo>& devices,
                                              bool own_clock, TraceBuilder& builder,
                                              const detail::DeviceFrame& frame) {
  return std::make_unique<Rows>(log, devices, own_clock, builder, frame);
}

}  // namespace libtrace::cupti
