// What records a device beside the host's lanes: the seam between the profiler, which says when,
// and the folder that knows the vendor's library, which says what. Tests bring their own.
//
// Nothing here throws: a device that cannot be recorded costs its rows, and says so in the trace.
// Calls come from one thread at a time (the running Profiler's); a DeviceRecording is the caller's
// alone and may be turned into rows on any thread while the source records the next window.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "libtrace/record/clock.h"
#include "libtrace/status.h"
#include "libtrace/trace_builder.h"

namespace libtrace::detail {

struct DeviceOptions {
  bool sync_events = false;     // synchronisation calls and event records
  bool profile_memory = false;  // allocations of plain CUDA
  bool whole_graphs = false;    // one row a graph launch instead of one a node
  bool sync_on_stop = true;     // wait for the device before the window closes, as torch does
  // Ceiling of what a window's records may hold; what does not fit is dropped and counted.
  std::size_t max_bytes = std::size_t{1} << 30;
};

// A user's scope on the host; those around a launch are drawn on the stream as well.
struct HostScope {
  std::int64_t start = 0, end = 0;  // ns after the base
  std::int64_t tid = 0, external_id = 0;
  StringId name = 0;
};

// The frame that rows are placed in.
struct DeviceFrame {
  const ClockMap& clock;                          // ticks of this window -> Unix ns
  std::int64_t base_unix_ns = 0;                  // of the builder
  std::uint64_t start_ticks = 0, stop_ticks = 0;  // the window
  StringId pid = 0;                               // this process, for rows of its threads
  // Something on the host reports device memory already (an allocator of its own on top of CUDA's).
  bool host_reports_device_memory = false;
  std::span<const HostScope> user_scopes;  // in any order; alive while rows are taken
};

// The slices of one recording, by (start, -dur), so that they can be merged with the host's.
class DeviceRows {
 public:
  virtual ~DeviceRows() = default;
  // The next slice, or nullptr after the last: start and end, ns after the base.
  [[nodiscard]] virtual const TimeRange* head() const noexcept = 0;
  // Adds it to the builder.
  virtual void add_head() = 0;
};

// What a device did in one window. Owns its records.
class DeviceRecording {
 public:
  virtual ~DeviceRecording() = default;
  // Top-level keys, JSON values: `deviceProperties` always, versions, why there is nothing to see
  // (`cupti_error`), what was lost.
  [[nodiscard]] virtual std::vector<std::pair<std::string, std::string>> metadata() const = 0;
  // Adds at once what has no place in the order of slices (devices, memory, names of processes and
  // threads, entries of the report), and hands out the slices. Names of threads: call this before
  // naming lanes of your own, later ones win. `builder` and `frame` outlive the result.
  [[nodiscard]] virtual std::unique_ptr<DeviceRows> rows(TraceBuilder& builder,
                                                         const DeviceFrame& frame) const = 0;
  [[nodiscard]] virtual std::uint64_t dropped() const noexcept = 0;
};

class DeviceSource {
 public:
  virtual ~DeviceSource() = default;

  // Loads the vendor's library at its first call, starts collecting and throwing away. Not ok: a
  // sentence for the log; the calls below then do nothing, and the recording says the same.
  virtual Status prepare(const DeviceOptions& options) noexcept = 0;
  // The window is open from this time of the recorder's clock on.
  virtual void start(std::uint64_t start_ticks) noexcept = 0;
  // Right before the window closes: waits for the device (DeviceOptions::sync_on_stop).
  virtual void finish_work() noexcept = 0;
  // The window is closed: stops collecting, fetches what is under way. Waits for 5 s at most.
  // nullptr only when there is no memory.
  virtual std::unique_ptr<DeviceRecording> stop(std::uint64_t stop_ticks) noexcept = 0;
  // Within a window: collect or do not. Everything until `start` is thrown away anyhow.
  virtual void set_collecting(bool on) noexcept = 0;
  // The session is over: what was prepared and not stopped is thrown away, the library left alone.
  virtual void release() noexcept = 0;
  // In the child of a fork: no call to the vendor's library from here on, this object is dead.
  virtual void abandon_after_fork() noexcept = 0;
};

// The one for CUDA; nullptr where this build knows no device. Defined in libtrace/cupti.
std::unique_ptr<DeviceSource> make_device_source();

}  // namespace libtrace::detail
