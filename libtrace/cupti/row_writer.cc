#include "libtrace/cupti/row_writer.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <string>

#include "libtrace/cupti/row_names.h"
#include "libtrace/record/json.h"

namespace libtrace::cupti {
namespace {

constexpr std::int64_t kDeviceSort = 5'000'000;       // devices below all processes
constexpr std::int64_t kOverheadTid = 2'000'000'000;  // a thread's overhead, apart from its ops
constexpr std::int64_t kStreamSyncTid = 1'000'000;    // waits for a stream, apart from its work
constexpr std::int64_t kDeviceSyncTid = 2'000'000;    // waits for the device, of no stream
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 61;  // more is no size

std::string comm_of(std::uint32_t tid) {
  std::ifstream file("/proc/self/task/" + std::to_string(tid) + "/comm");
  std::string name;
  std::getline(file, name);
  return name;
}

}  // namespace

RowWriter::RowWriter(const EventLog& log, const std::vector<DeviceInfo>& devices,
                     TraceBuilder& builder, StringId pid)
    : log_(log),
      devices_(devices),
      builder_(builder),
      pid_(pid),
      category_{id("cuda_runtime"), id("cuda_driver"), id("kernel"),   id("gpu_memcpy"),
                id("gpu_memset"),   id("cuda_sync"),   id("overhead"), id("gpu_user_annotation")},
      key_{id("device"),
           id("context"),
           id("stream"),
           id("correlation"),
           id("graph id"),
           id("graph node id"),
           id("bytes"),
           id("memory bandwidth (GB/s)"),
           id("cbid"),
           id("result"),
           id("queued"),
           id("registers per thread"),
           id("shared memory"),
           id("blocks per SM"),
           id("warps per SM"),
           id("est. achieved occupancy %"),
           id("grid"),
           id("block"),
           id("channel"),
           id("channel_type"),
           id("fromDevice"),
           id("fromContext"),
           id("toDevice"),
           id("toContext"),
           id("cuda_sync_kind"),
           id("wait_on_stream"),
           id("wait_on_cuda_event_record_corr_id"),
           id("wait_on_cuda_event_id"),
           id("External id")} {
  for (const DeviceInfo& d : devices_) {
    builder_.add_device({.id = d.id,
                         .name = detail::valid_utf8(d.name),
                         .total_memory_bytes = static_cast<std::int64_t>(d.memory),
                         .sm_count = d.sms,
                         .max_threads_per_sm = d.max_threads_per_sm,
                         .compute_major = d.compute_major,
                         .compute_minor = d.compute_minor});
  }
}

// ---- slices ------------------------------------------------------------------------------------
void RowWriter::add(const CallEvent& e, const Place& at) {
  integer(key_.cbid, e.cbid);
  integer(key_.correlation, e.correlation);
  if (e.result != 0) integer(key_.result, e.result);
  on_host(at, call_name(e.driver, e.cbid), e.driver ? category_.driver : category_.runtime,
          e.thread, e.thread);
}

void RowWriter::add(const KernelEvent& e, const Place& at, std::int64_t queued) {
  builder_.arg(key_.queued, Value::integer(queued));
  where(e);
  integer(key_.registers, e.registers);
  integer(key_.shared, std::uint64_t{e.static_shared} + e.dynamic_shared);
  occupancy(e);
  triple(key_.grid, e.grid);
  triple(key_.block, e.block);
  graph(e);
  if (e.channel_type != 0) {
    integer(key_.channel, e.channel);
    integer(key_.channel_type, e.channel_type);
  }
  on_device(at, kernel_name(e.name), category_.kernel, e.device, e.stream, "stream ");
}

void RowWriter::add(const CopyEvent& e, const Place& at) {
  where(e);
  if (e.peer) {
    integer(key_.from_device, e.source_device);
    integer(key_.from_context, e.source_context);
    integer(key_.to_device, e.target_device);
    integer(key_.to_context, e.target_context);
  }
  bandwidth(e.bytes, at.dur);
  graph(e);
  on_device(at, id(copy_name(e)), category_.memcpy, e.device, e.stream, "stream ");
}

void RowWriter::add(const SetEvent& e, const Place& at) {
  where(e);
  bandwidth(e.bytes, at.dur);
  graph(e);
  on_device(at, id(set_name(e)), category_.memset, e.device, e.stream, "stream ");
}

void RowWriter::add(const GraphEvent& e, const Place& at) {
  where(e);
  integer(key_.graph, e.graph);
  on_device(at, id("CUDA graph " + std::to_string(e.graph)), category_.kernel, e.device, e.stream,
            "stream ");
}

void RowWriter::add(const SyncEvent& e, const Place& at, const EventRecord* waited_for) {
  const StringId name = id(sync_name(e.type));
  const auto found = log_.device_of_context.find(e.context);
  const std::uint32_t device = found != log_.device_of_context.end() ? found->second : 0;
  const bool has_stream = e.stream != kNoStream && e.type != kSyncContext;
  builder_.arg(key_.sync_kind, Value::string(sync_name(e.type)));
  if (e.type == kSyncEvent || e.type == kSyncStreamWaitsForEvent) {
    const auto of_record = [&](std::uint32_t EventRecord::* field) {
      return Value::integer(waited_for != nullptr ? std::int64_t{waited_for->*field} : -1);
    };
    builder_.arg(key_.wait_stream, of_record(&EventRecord::stream));
    builder_.arg(key_.wait_record, of_record(&EventRecord::correlation));
    integer(key_.wait_event, e.event);
  }
  builder_.arg(key_.stream, Value::integer(has_stream ? std::int64_t{e.stream} : -1));
  integer(key_.correlation, e.correlation);
  integer(key_.device, device);
  integer(key_.context, e.context);
  if (e.type == kSyncStream && has_stream) {
    on_device(at, name, category_.sync, device, kStreamSyncTid + e.stream, "waits for stream ");
  } else {
    on_device(at, name, category_.sync, device,
              has_stream ? std::int64_t{e.stream} : kDeviceSyncTid + device,
              has_stream ? "stream " : "waits for device ");
  }
}

void RowWriter::add(const OverheadEvent& e, const Place& at) {
  on_host(at, id(overhead_name(e.kind)), category_.overhead, kOverheadTid + e.thread, e.thread);
}

void RowWriter::add(const DeviceScope& e, const Place& at) {
  if (e.external_id != 0) builder_.arg(key_.external_id, Value::integer(e.external_id));
  on_device(at, e.name, category_.scope, e.device, e.stream, "stream ");
}

void RowWriter::add(const AllocationEvent& e, std::int64_t at, std::int64_t total,
                    std::uint32_t thread) {
  const auto bytes = static_cast<std::int64_t>(std::min(e.bytes, kMostBytes));
  builder_.add_memory({.at = at,
                       .bytes = e.release ? -bytes : bytes,
                       .addr = e.address,
                       .total_allocated = total,
                       .total_reserved = {},
                       .device_type = 1,  // CUDA
                       .device_id = static_cast<std::int32_t>(e.device)},
                      pid_, host_lane(thread, thread));
}

// ---- arguments ---------------------------------------------------------------------------------
void RowWriter::triple(StringId key, const std::uint32_t (&v)[3]) {
  char text[40] = "[";
  char* at = text + 1;
  for (const std::uint32_t n : v) {
    at = std::to_chars(at, text + sizeof text, n).ptr;
    *at++ = ',';
  }
  at[-1] = ']';
  builder_.arg(key, Value::json({text, static_cast<std::size_t>(at - text)}));
}

template <class E>
void RowWriter::where(const E& e) {
  integer(key_.device, e.device);
  integer(key_.context, e.context);
  integer(key_.stream, e.stream);
  integer(key_.correlation, e.correlation);
}

template <class E>
void RowWriter::graph(const E& e) {
  if (e.graph == 0 && e.graph_node == 0) return;
  integer(key_.graph, e.graph);
  integer(key_.graph_node, e.graph_node);
}

// Bytes a nanosecond are gigabytes a second.
void RowWriter::bandwidth(std::uint64_t bytes, std::int64_t ns) {
  integer(key_.bytes, bytes);
  if (ns <= 0) return;
  builder_.arg(key_.bandwidth, Value::real(static_cast<double>(bytes) / static_cast<double>(ns)));
}

// As torch: how many of an SM's threads these blocks occupy at most, full waves aside.
void RowWriter::occupancy(const KernelEvent& e) {
  const DeviceInfo* const device = find_device(e.device);
  if (device == nullptr || device->sms <= 0 || device->warp_size <= 0) return;
  const double blocks = static_cast<double>(e.grid[0]) * e.grid[1] * e.grid[2] / device->sms;
  const double threads = static_cast<double>(e.block[0]) * e.block[1] * e.block[2];
  builder_.arg(key_.blocks, Value::real(blocks));
  builder_.arg(key_.warps, Value::real(blocks * threads / device->warp_size));
  const int resident = resident_blocks(*device, e);
  if (resident == 0) return;
  const double share =
      std::min(blocks, static_cast<double>(resident)) * threads / device->max_threads_per_sm;
  integer(key_.occupancy, static_cast<std::uint64_t>(std::lround(100 * share)));
}

// ---- lanes and names ----------------------------------------------------------------------------
void RowWriter::on_device(const Place& at, StringId name, StringId category, std::uint32_t device,
                          std::int64_t tid, std::string_view thread) {
  const Lane& lane = device_lane(device, tid, thread);
  builder_.add_slice({.start = at.start,
                      .dur = at.dur,
                      .name = name,
                      .category = category,
                      .pid = lane.pid,
                      .tid = lane.tid});
}

void RowWriter::on_host(const Place& at, StringId name, StringId category, std::int64_t tid,
                        std::uint32_t thread) {
  builder_.add_slice({.start = at.start,
                      .dur = at.dur,
                      .name = name,
                      .category = category,
                      .pid = pid_,
                      .tid = host_lane(tid, thread)});
}

const RowWriter::Lane& RowWriter::device_lane(std::uint32_t device, std::int64_t tid,
                                              std::string_view thread) {
  const std::uint64_t key = (std::uint64_t{device} << 32) | static_cast<std::uint32_t>(tid);
  const auto [it, fresh] = device_lanes_.try_emplace(key);
  if (!fresh) return it->second;
  Lane& lane = it->second;
  lane = {id(std::to_string(device)), id(std::to_string(tid))};
  const DeviceInfo* const info = find_device(device);
  builder_.set_process_name(lane.pid, info != nullptr ? detail::valid_utf8(info->name) : "GPU");
  builder_.set_process_labels(lane.pid, "GPU " + std::to_string(device));
  builder_.set_process_sort(lane.pid, kDeviceSort + device);
  std::int64_t number = tid;
  if (tid >= kDeviceSyncTid) {
    number = device;
  } else if (tid >= kStreamSyncTid) {
    number = tid - kStreamSyncTid;
  }
  builder_.set_thread_name(lane.pid, lane.tid, std::string(thread) + std::to_string(number));
  builder_.set_thread_sort(lane.pid, lane.tid, tid);
  return lane;
}

StringId RowWriter::host_lane(std::int64_t tid, std::uint32_t thread) {
  const auto [it, fresh] = host_lanes_.try_emplace(tid);
  if (!fresh) return it->second;
  const std::string number = std::to_string(thread);
  it->second = id(std::to_string(tid));
  std::string name = "thread " + number;
  if (tid >= kOverheadTid) {
    name = thread == 0 ? "CUPTI overhead" : "CUPTI overhead, thread " + number;
  } else if (const std::string comm = comm_of(thread); !comm.empty()) {
    name += " (" + detail::valid_utf8(comm) + ")";
  }
  builder_.set_thread_name(pid_, it->second, name);
  builder_.set_thread_sort(pid_, it->second, tid);
  return it->second;
}

StringId RowWriter::call_name(bool driver, std::uint32_t cbid) {
  const std::uint64_t key = call_key(driver, cbid);
  const auto [it, fresh] = call_names_.try_emplace(key);
  if (fresh) {
    const auto found = log_.call_names.find(key);
    if (found != log_.call_names.end()) it->second = id(found->second.text);
  }
  return it->second;
}

StringId RowWriter::kernel_name(std::uint32_t name) {
  if (kernel_names_.size() <= name) kernel_names_.resize(log_.name_count());
  std::optional<StringId>& known = kernel_names_[name];
  if (!known) known = id(detail::valid_utf8(demangled(log_.name(name))));
  return *known;
}

const DeviceInfo* RowWriter::find_device(std::uint32_t device) const noexcept {
  for (const DeviceInfo& d : devices_) {
    if (d.id == static_cast<int>(device)) return &d;
  }
  return nullptr;
}

}  // namespace libtrace::cupti
