#include "libtrace/cupti/rows.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "libtrace/cupti/device_scopes.h"
#include "libtrace/cupti/placement.h"
#include "libtrace/cupti/row_names.h"
#include "libtrace/record/json.h"

namespace libtrace::cupti {
namespace {

using Row = TraceBuilder::Row;

constexpr std::int64_t kDeviceSort = 5'000'000;       // devices below all processes
constexpr std::int64_t kOverheadTid = 2'000'000'000;  // a thread's overhead, apart from its ops
constexpr std::int64_t kStreamSyncTid = 1'000'000;    // waits for a stream, apart from its work

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
      : log_(log), devices_(devices), builder_(builder), frame_(frame), time_(frame, own_clock) {
    for (const DeviceInfo& d : devices_) add_device(d);
    calls();
    const Launches launches(log_, call_in_window_);
    place(log_.kernels, Type::kKernel, launches);
    place(log_.copies, Type::kCopy, launches);
    place(log_.sets, Type::kSet, launches);
    place(log_.graphs, Type::kGraph, launches);
    syncs();
    overheads();
    scopes(launches);
    allocations(launches);
    std::sort(items_.begin(), items_.end(), before);
  }

  [[nodiscard]] const TimeRange* head() const noexcept override {
    if (at_ == items_.size()) return nullptr;
    head_ = {items_[at_].start, items_[at_].end};
    return &head_;
  }

  void add_head() override {
    const Item& item = items_[at_++];
    const std::int64_t dur = item.end - item.start;
    switch (item.type) {
      case Type::kCall:
        return add_call(log_.calls[item.index], item.start, dur);
      case Type::kKernel:
        return add_kernel(log_.kernels[item.index], item.start, dur);
      case Type::kCopy:
        return add_copy(log_.copies[item.index], item.start, dur);
      case Type::kSet:
        return add_set(log_.sets[item.index], item.start, dur);
      case Type::kGraph:
        return add_graph(log_.graphs[item.index], item.start, dur);
      case Type::kSync:
        return add_sync(log_.syncs[item.index], item.start, dur);
      case Type::kOverhead:
        return add_overhead(log_.overheads[item.index], item.start, dur);
      case Type::kScope:
        return add_scope(scopes_[item.index], item.start, dur);
    }
  }

 private:
  // ---- what is in the window -----------------------------------------------------------------
  void calls() {
    call_in_window_ = calls_of_window(log_, time_);
    for (std::uint32_t i = 0; i < log_.calls.size(); ++i) {
      if (!call_in_window_[i]) continue;
      const CallEvent& call = log_.calls[i];
      items_.push_back({time_.of(call.start), time_.of(call.end), Type::kCall, i});
      if (threads_.insert(call.thread).second) {
        const std::string tid = std::to_string(call.thread);
        builder_.set_thread_name(frame_.pid, builder_.intern(tid), "thread " + tid);
        builder_.set_thread_sort(frame_.pid, builder_.intern(tid), call.thread);
      }
    }
  }

  template <class E>
  void place(const std::vector<E>& events, Type type, const Launches& launches) {
    for (std::uint32_t i = 0; i < events.size(); ++i) {
      const E& e = events[i];
      // Work of an earlier step that runs into the window counts: the device is not idle there.
      if (launches.find(e.correlation) == nullptr && !time_.in_window(e.start)) continue;
      items_.push_back({time_.of(e.start), time_.of(e.end), type, i});
      name_stream(e.device, e.stream);
    }
  }

  void syncs() {
    if (log_.syncs.empty()) return;
    for (std::uint32_t i = 0; i < log_.event_records.size(); ++i) {
      const EventRecord& e = log_.event_records[i];
      records_of_event_[event_key(e.context, e.event)].push_back(i);
    }
    for (std::uint32_t i = 0; i < log_.syncs.size(); ++i) {
      const SyncEvent& e = log_.syncs[i];
      if (!time_.in_window(e.start)) continue;
      items_.push_back({time_.of(e.start), time_.of(e.end), Type::kSync, i});
    }
  }

  void overheads() {
    for (std::uint32_t i = 0; i < log_.overheads.size(); ++i) {
      const OverheadEvent& e = log_.overheads[i];
      if (!time_.in_window(e.start)) continue;
      items_.push_back({time_.of(e.start), time_.of(e.end), Type::kOverhead, i});
      const StringId tid = builder_.intern(std::to_string(kOverheadTid + e.thread));
      builder_.set_thread_name(
          frame_.pid, tid,
          e.thread == 0 ? "CUPTI overhead" : "CUPTI overhead, thread " + std::to_string(e.thread));
      builder_.set_thread_sort(frame_.pid, tid, kOverheadTid + e.thread);
    }
  }

  void scopes(const Launches& launches) {
    scopes_ = device_scopes(frame_.user_scopes, log_, launches, time_);
    for (std::uint32_t i = 0; i < scopes_.size(); ++i) {
      items_.push_back({scopes_[i].start, scopes_[i].end, Type::kScope, i});
    }
  }

  void allocations(const Launches& launches) {
    if (frame_.host_reports_device_memory) return;
    std::unordered_map<std::uint32_t, std::int64_t> total;  // by device
    std::vector<std::uint32_t> order(log_.allocations.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      return log_.allocations[a].at < log_.allocations[b].at;
    });
    for (const std::uint32_t i : order) {
      const AllocationEvent& e = log_.allocations[i];
      if (!time_.in_window(e.at)) continue;
      const bool on_device = is_device_memory(e.kind);
      if (!on_device) continue;  // pinned host memory: the host's allocator has its own story
      MemoryEvent m;
      m.at = time_.of(e.at);
      const auto bytes =
          static_cast<std::int64_t>(std::min<std::uint64_t>(e.bytes, std::uint64_t{1} << 61));
      m.bytes = e.release ? -bytes : bytes;
      m.addr = e.address;
      m.total_allocated = total[e.device] += m.bytes;
      m.device_type = 1;  // CUDA
      m.device_id = static_cast<std::int32_t>(e.device);
      const CallEvent* const call = launches.find(e.correlation);
      const std::uint32_t thread = call != nullptr ? call->thread : 0;
      builder_.add_memory(m, frame_.pid, builder_.intern(std::to_string(thread)));
    }
  }

  // ---- rows ------------------------------------------------------------------------------------
  void integer(std::string_view key, std::uint64_t value) {
    builder_.arg(key, Value::integer(static_cast<std::int64_t>(value)));
  }
  void triple(std::string_view key, const std::uint32_t (&v)[3]) {
    builder_.arg(key, Value::json("[" + std::to_string(v[0]) + "," + std::to_string(v[1]) + "," +
                                  std::to_string(v[2]) + "]"));
  }

  template <class E>
  void where(const E& e) {
    integer("device", e.device);
    integer("context", e.context);
    integer("stream", e.stream);
    integer("correlation", e.correlation);
  }
  template <class E>
  void graph(const E& e) {
    if (e.graph == 0 && e.graph_node == 0) return;
    integer("graph id", e.graph);
    integer("graph node id", e.graph_node);
  }
  // Bytes a nanosecond are gigabytes a second.
  void bandwidth(std::uint64_t bytes, std::int64_t ns) {
    integer("bytes", bytes);
    if (ns > 0) {
      builder_.arg("memory bandwidth (GB/s)",
                   Value::real(static_cast<double>(bytes) / static_cast<double>(ns)));
    }
  }

  void on_device(std::int64_t start, std::int64_t dur, StringId name, StringId category,
                 std::uint32_t device, std::int64_t tid) {
    builder_.add_slice({.start = start,
                        .dur = dur,
                        .name = name,
                        .category = category,
                        .pid = builder_.intern(std::to_string(device)),
                        .tid = builder_.intern(std::to_string(tid))});
  }

  void add_call(const CallEvent& e, std::int64_t start, std::int64_t dur) {
    integer("cbid", e.cbid);
    integer("correlation", e.correlation);
    if (e.result != 0) integer("result", e.result);
    const auto found = log_.call_names.find(call_key(e.driver, e.cbid));
    const std::string_view name =
        found != log_.call_names.end() ? std::string_view(found->second.text) : "";
    builder_.add_slice({.start = start,
                        .dur = dur,
                        .name = builder_.intern(name),
                        .category = e.driver ? cuda_driver_ : cuda_runtime_,
                        .pid = frame_.pid,
                        .tid = builder_.intern(std::to_string(e.thread))});
  }

  void add_kernel(const KernelEvent& e, std::int64_t start, std::int64_t dur) {
    integer("queued", e.queued == 0 ? 0 : static_cast<std::uint64_t>(time_.of(e.queued)));
    where(e);
    integer("registers per thread", e.registers);
    integer("shared memory", std::uint64_t{e.static_shared} + e.dynamic_shared);
    occupancy(e);
    triple("grid", e.grid);
    triple("block", e.block);
    graph(e);
    if (e.channel_type != 0) {
      integer("channel", e.channel);
      integer("channel_type", e.channel_type);
    }
    on_device(start, dur, kernel_name(e.name), kernel_, e.device, e.stream);
  }

  // As torch: full waves aside, how many of an SM's threads these blocks occupy at most.
  void occupancy(const KernelEvent& e) {
    const DeviceInfo* const device = find_device(e.device);
    if (device == nullptr || device->sms <= 0 || device->warp_size <= 0) return;
    const double blocks = static_cast<double>(e.grid[0]) * e.grid[1] * e.grid[2] / device->sms;
    const double threads = static_cast<double>(e.block[0]) * e.block[1] * e.block[2];
    builder_.arg("blocks per SM", Value::real(blocks));
    builder_.arg("warps per SM", Value::real(blocks * threads / device->warp_size));
    const int resident = resident_blocks(*device, e);
    if (resident == 0) return;
    const double share =
        std::min(blocks, static_cast<double>(resident)) * threads / device->max_threads_per_sm;
    integer("est. achieved occupancy %", static_cast<std::uint64_t>(std::lround(100 * share)));
  }

  void add_copy(const CopyEvent& e, std::int64_t start, std::int64_t dur) {
    where(e);
    if (e.peer) {
      integer("fromDevice", e.source_device);
      integer("fromContext", e.source_context);
      integer("toDevice", e.target_device);
      integer("toContext", e.target_context);
    }
    bandwidth(e.bytes, dur);
    graph(e);
    on_device(start, dur, builder_.intern(copy_name(e)), memcpy_, e.device, e.stream);
  }

  void add_set(const SetEvent& e, std::int64_t start, std::int64_t dur) {
    where(e);
    bandwidth(e.bytes, dur);
    graph(e);
    on_device(start, dur, builder_.intern(set_name(e)), memset_, e.device, e.stream);
  }

  void add_graph(const GraphEvent& e, std::int64_t start, std::int64_t dur) {
    where(e);
    integer("graph id", e.graph);
    on_device(start, dur, builder_.intern("CUDA graph " + std::to_string(e.graph)), kernel_,
              e.device, e.stream);
  }

  void add_sync(const SyncEvent& e, std::int64_t start, std::int64_t dur) {
    const std::string_view name = sync_name(e.type);
    const auto found = log_.device_of_context.find(e.context);
    const std::uint32_t device = found != log_.device_of_context.end() ? found->second : 0;
    const bool has_stream = e.stream != kNoStream && e.type != kSyncContext;
    builder_.arg("cuda_sync_kind", Value::string(name));
    if (e.type == kSyncEvent || e.type == kSyncStreamWaitsForEvent) {
      const EventRecord* const record = record_before(e);
      builder_.arg("wait_on_stream", Value::integer(record ? std::int64_t{record->stream} : -1));
      builder_.arg("wait_on_cuda_event_record_corr_id",
                   Value::integer(record ? std::int64_t{record->correlation} : -1));
      integer("wait_on_cuda_event_id", e.event);
    }
    builder_.arg("stream", Value::integer(has_stream ? std::int64_t{e.stream} : -1));
    integer("correlation", e.correlation);
    integer("device", device);
    integer("context", e.context);
    std::int64_t tid = has_stream ? std::int64_t{e.stream} : std::int64_t{device};
    if (e.type == kSyncStream) tid += kStreamSyncTid;
    on_device(start, dur, builder_.intern(name), cuda_sync_, device, tid);
  }

  // The last record of the event that was asked for before this wait.
  const EventRecord* record_before(const SyncEvent& e) const {
    const auto found = records_of_event_.find(event_key(e.context, e.event));
    if (found == records_of_event_.end()) return nullptr;
    const EventRecord* last = nullptr;
    for (const std::uint32_t i : found->second) {
      const EventRecord& r = log_.event_records[i];
      if (r.correlation < e.correlation && (!last || r.correlation > last->correlation)) last = &r;
    }
    return last;
  }

  void add_overhead(const OverheadEvent& e, std::int64_t start, std::int64_t dur) {
    builder_.add_slice({.start = start,
                        .dur = dur,
                        .name = builder_.intern(overhead_name(e.kind)),
                        .category = overhead_,
                        .pid = frame_.pid,
                        .tid = builder_.intern(std::to_string(kOverheadTid + e.thread))});
  }

  void add_scope(const DeviceScope& s, std::int64_t start, std::int64_t dur) {
    if (s.external_id != 0) builder_.arg("External id", Value::integer(s.external_id));
    on_device(start, dur, s.name, gpu_user_annotation_, s.device, s.stream);
  }

  // ---- names -----------------------------------------------------------------------------------
  void add_device(const DeviceInfo& d) {
    builder_.add_device({.id = d.id,
                         .name = detail::valid_utf8(d.name),
                         .total_memory_bytes = static_cast<std::int64_t>(d.memory),
                         .sm_count = d.sms,
                         .max_threads_per_sm = d.max_threads_per_sm,
                         .compute_major = d.compute_major,
                         .compute_minor = d.compute_minor});
  }

  void name_stream(std::uint32_t device, std::uint32_t stream) {
    if (!streams_.insert((std::uint64_t{device} << 32) | stream).second) return;
    const StringId pid = builder_.intern(std::to_string(device));
    const StringId tid = builder_.intern(std::to_string(stream));
    const DeviceInfo* const info = find_device(device);
    builder_.set_process_name(pid, info != nullptr ? detail::valid_utf8(info->name) : "GPU");
    builder_.set_process_labels(pid, "GPU " + std::to_string(device));
    builder_.set_process_sort(pid, kDeviceSort + device);
    builder_.set_thread_name(pid, tid, "stream " + std::to_string(stream));
    builder_.set_thread_sort(pid, tid, stream);
  }

  StringId kernel_name(std::uint32_t id) {
    if (kernel_names_.size() <= id) kernel_names_.resize(log_.name_count());
    if (!kernel_names_[id]) {
      kernel_names_[id] = builder_.intern(detail::valid_utf8(demangled(log_.name(id))));
    }
    return *kernel_names_[id];
  }

  const DeviceInfo* find_device(std::uint32_t id) const {
    for (const DeviceInfo& d : devices_) {
      if (d.id == static_cast<int>(id)) return &d;
    }
    return nullptr;
  }
  static std::uint64_t event_key(std::uint32_t context, std::uint32_t event) noexcept {
    return (std::uint64_t{context} << 32) | event;
  }

  const EventLog& log_;
  const std::vector<DeviceInfo>& devices_;
  TraceBuilder& builder_;
  const detail::DeviceFrame& frame_;
  const WindowTime time_;
  std::vector<bool> call_in_window_;
  std::vector<Item> items_;
  std::size_t at_ = 0;
  mutable TimeRange head_;
  std::vector<DeviceScope> scopes_;
  std::unordered_set<std::uint32_t> threads_;
  std::unordered_set<std::uint64_t> streams_;
  std::vector<std::optional<StringId>> kernel_names_;
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> records_of_event_;
  const StringId cuda_runtime_ = builder_.intern("cuda_runtime");
  const StringId cuda_driver_ = builder_.intern("cuda_driver");
  const StringId kernel_ = builder_.intern("kernel");
  const StringId memcpy_ = builder_.intern("gpu_memcpy");
  const StringId memset_ = builder_.intern("gpu_memset");
  const StringId cuda_sync_ = builder_.intern("cuda_sync");
  const StringId overhead_ = builder_.intern("overhead");
  const StringId gpu_user_annotation_ = builder_.intern("gpu_user_annotation");
};

}  // namespace

std::unique_ptr<detail::DeviceRows> make_rows(const EventLog& log,
                                              const std::vector<DeviceInfo>& devices,
                                              bool own_clock, TraceBuilder& builder,
                                              const detail::DeviceFrame& frame) {
  return std::make_unique<Rows>(log, devices, own_clock, builder, frame);
}

}  // namespace libtrace::cupti
