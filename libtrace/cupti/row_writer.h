// One event -> one slice with its arguments, names and lane, in the words of torch's own profiles.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "libtrace/cupti/device_info.h"
#include "libtrace/cupti/device_scopes.h"
#include "libtrace/cupti/event_log.h"
#include "libtrace/trace_builder.h"

namespace libtrace::cupti {

// Where a slice stands in time, ns after the base.
struct Place {
  std::int64_t start = 0, dur = 0;
};

class RowWriter {
 public:
  // `pid`: this process, for the rows of its threads.
  RowWriter(const EventLog& log, const std::vector<DeviceInfo>& devices, TraceBuilder& builder,
            StringId pid);

  void add(const CallEvent& e, const Place& at);
  void add(const KernelEvent& e, const Place& at, std::int64_t queued);
  void add(const CopyEvent& e, const Place& at);
  void add(const SetEvent& e, const Place& at);
  void add(const GraphEvent& e, const Place& at);
  // `waited_for`: the record that the wait's event had, if it is known.
  void add(const SyncEvent& e, const Place& at, const EventRecord* waited_for);
  void add(const OverheadEvent& e, const Place& at);
  void add(const DeviceScope& e, const Place& at);
  void add(const AllocationEvent& e, std::int64_t at, std::int64_t total, std::uint32_t thread);

 private:
  void integer(StringId key, std::uint64_t value) {
    builder_.arg(key, Value::integer(static_cast<std::int64_t>(value)));
  }
  void triple(StringId key, const std::uint32_t (&v)[3]);
  template <class E>
  void where(const E& e);
  template <class E>
  void graph(const E& e);
  void bandwidth(std::uint64_t bytes, std::int64_t ns);
  void occupancy(const KernelEvent& e);
  void on_device(const Place& at, StringId name, StringId category, std::uint32_t device,
                 std::int64_t tid, std::string_view thread);
  void on_host(const Place& at, StringId name, StringId category, std::int64_t tid,
               std::uint32_t thread);

  // Lanes and names, made at first use.
  struct Lane {
    StringId pid = 0, tid = 0;
  };
  const Lane& device_lane(std::uint32_t device, std::int64_t tid, std::string_view thread);
  StringId host_lane(std::int64_t tid, std::uint32_t thread);
  StringId call_name(bool driver, std::uint32_t cbid);
  StringId kernel_name(std::uint32_t id);
  [[nodiscard]] const DeviceInfo* find_device(std::uint32_t id) const noexcept;

  StringId id(std::string_view text) { return builder_.intern(text); }

  const EventLog& log_;
  const std::vector<DeviceInfo>& devices_;
  TraceBuilder& builder_;
  const StringId pid_;
  std::unordered_map<std::uint64_t, Lane> device_lanes_;
  std::unordered_map<std::int64_t, StringId> host_lanes_;
  std::unordered_map<std::uint64_t, StringId> call_names_;
  std::vector<std::optional<StringId>> kernel_names_;

  struct {
    StringId runtime, driver, kernel, memcpy, memset, sync, overhead, scope;
  } const category_;
  struct {
    StringId device, context, stream, correlation, graph, graph_node, bytes, bandwidth, cbid,
        result, queued, registers, shared, blocks, warps, occupancy, grid, block, channel,
        channel_type, from_device, from_context, to_device, to_context, sync_kind, wait_stream,
        wait_record, wait_event, external_id;
  } const key_;
};

}  // namespace libtrace::cupti
