#include "libtrace/record/build_trace.h"

#include <algorithm>
#include <string>

#include "libtrace/model/pieces.h"
#include "libtrace/record/host_rows.h"
#include "libtrace/record/json.h"
#include "libtrace/record/process.h"
#include "libtrace/trace_builder.h"

namespace libtrace::detail {
namespace {

constexpr std::int64_t kSecondNs = 1'000'000'000;
constexpr int kRowsAPiece = 8192;
constexpr std::int64_t kSpansSort = 0x20000000;  // as Kineto: below every process

class Build {
 public:
  explicit Build(const Cycle& cycle)
      : cycle_(cycle),
        host_(cycle.host),
        clock_(host_.start_clock, host_.stop_clock, ClockMap::process_ns_per_tick()) {
    const std::int64_t start = clock_.unix_ns(host_.start_ticks);
    // A round base keeps the file's decimals short.
    base_ = start / kSecondNs * kSecondNs;
    start_ = start - base_;
    end_ = clock_.unix_ns(host_.stop_ticks) - base_;
    builder_.set_base_unix_ns(base_);
    if (cycle.rank >= 0) builder_.set_rank(cycle.rank, false);
    if (cycle.world_size >= 0) builder_.set_world_size(cycle.world_size);
    pid_ = builder_.intern(std::to_string(host_.pid));
  }

  Built run() {
    add_metadata();
    add_losses();
    add_window();
    name_process();
    HostRows rows(host_, clock_, base_, builder_, pid_);
    add_slices(rows);
    run_as_piece([&] { rows.add_moments(); });
    add_mark("Record Window End", "", "", end_);
    return {builder_.finish(), rows.ranges(), host_.dropped + device_dropped_};
  }

 private:
  void add_metadata() {
    Metadata all = cycle_.metadata;
    if (cycle_.device) {
      for (const auto& [key, json] : cycle_.device->metadata()) set_metadata(all, key, json);
    }
    for (const auto& [key, json] : host_.notes) set_metadata(all, key, json);
    all.emplace_back("displayTimeUnit", "\"ms\"");
    for (const auto& [key, json] : all) builder_.add_metadata(key, json);
    if (cycle_.dropped_traces != 0) {
      builder_.add_metadata("dropped_traces", std::to_string(cycle_.dropped_traces));
      builder_.report().add("dropped_traces", static_cast<std::int64_t>(cycle_.dropped_traces));
    }
  }

  void add_losses() {
    if (clock_.jump_ns() != 0) {
      builder_.add_metadata("clock_jump_ns", std::to_string(clock_.jump_ns()));
    }
    const std::uint64_t dropped = host_.dropped + device_dropped_ + cycle_.dropped_events;
    if (dropped == 0) return;
    builder_.add_metadata("dropped_events", std::to_string(dropped));
    builder_.report().add("dropped_by_recorder", static_cast<std::int64_t>(cycle_.dropped_events),
                          "traces there was no memory to make");
    builder_.report().add("dropped_by_recorder", static_cast<std::int64_t>(device_dropped_),
                          "device");
    std::uint64_t unplaced = host_.dropped;
    for (const LaneSnapshot& lane : host_.lanes) {
      if (lane.dropped == 0) continue;
      unplaced -= lane.dropped;
      builder_.report().add("dropped_by_recorder", static_cast<std::int64_t>(lane.dropped),
                            "thread " + std::to_string(lane.tid));
    }
    if (unplaced != 0) {
      builder_.report().add("dropped_by_recorder", static_cast<std::int64_t>(unplaced));
    }
  }

  // The window itself, in the rows that viewers of torch's profiles take it from.
  void add_window() {
    const StringId spans = builder_.intern("Spans");
    builder_.set_process_sort(spans, kSpansSort);
    builder_.add_slice({.start = start_,
                        .dur = end_ - start_,
                        .name = builder_.intern("PyTorch Profiler (0)"),
                        .category = builder_.intern("Trace"),
                        .pid = spans,
                        .tid = builder_.intern("PyTorch Profiler")});
    add_mark("Iteration Start: PyTorch Profiler", "Traces", "Trace PyTorch Profiler", start_);
  }

  void add_mark(std::string_view name, std::string_view pid, std::string_view tid,
                std::int64_t at) {
    builder_.add_instant({.start = at,
                          .name = builder_.intern(name),
                          .pid = builder_.intern(pid),
                          .tid = builder_.intern(tid)},
                         'i');
  }

  void name_process() {
    builder_.set_process_name(pid_, valid_utf8(thread_name(host_.pid)));
    builder_.set_process_labels(pid_, "CPU");
    builder_.set_process_sort(pid_, host_.pid);
  }

  void add_slices(HostRows& host) {
    if (cycle_.device) {
      const std::vector<HostScope> scopes = host.user_scopes();
      const DeviceFrame frame{.clock = clock_,
                              .base_unix_ns = base_,
                              .start_ticks = host_.start_ticks,
                              .stop_ticks = host_.stop_ticks,
                              .pid = pid_,
                              .host_reports_device_memory = host.reports_device_memory(),
                              .user_scopes = scopes};
      const std::unique_ptr<DeviceRows> device = cycle_.device->rows(builder_, frame);
      host.name_threads();
      add_both(host, *device);
    } else {
      host.name_threads();
      run_in_pieces([&] {
        for (int i = 0; i < kRowsAPiece && host.head() != nullptr; ++i) host.add_head();
        return host.head() != nullptr;
      });
    }
  }

  static void add_both(HostRows& host, DeviceRows& device) {
    run_in_pieces([&] {
      for (int i = 0; i < kRowsAPiece; ++i) {
        const TimeRange* const h = host.head();
        const TimeRange* const d = device.head();
        if (h == nullptr && d == nullptr) return false;
        const bool device_first =
            h == nullptr ||
            (d != nullptr && (d->start < h->start || (d->start == h->start && d->end > h->end)));
        if (device_first) {
          device.add_head();
        } else {
          host.add_head();
        }
      }
      return true;
    });
  }

  const Cycle& cycle_;
  const Snapshot& host_;
  const std::uint64_t device_dropped_ = cycle_.device ? cycle_.device->dropped() : 0;
  ClockMap clock_;
  std::int64_t base_ = 0, start_ = 0, end_ = 0;
  TraceBuilder builder_;
  StringId pid_ = 0;
};

}  // namespace

Built build_trace(const Cycle& cycle) { return Build(cycle).run(); }

std::uint64_t records_in(const Cycle& cycle) noexcept {
  std::uint64_t records = 0;
  for (const LaneSnapshot& lane : cycle.host.lanes) {
    lane.for_each([&](const Record&) { ++records; });
  }
  return records;
}

}  // namespace libtrace::detail
