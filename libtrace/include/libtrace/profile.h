// torch.profiler for C++: records what the program's scopes do, on the steps a schedule picks,
// and hands one Trace a cycle to `on_trace_ready`.
//
//   libtrace::Options options;
//   options.schedule = libtrace::schedule(/*wait=*/1, /*warmup=*/1, /*active=*/3);
//   options.on_trace_ready = libtrace::tensorboard_trace_handler("logs");
//   libtrace::Profiler profiler(options);
//   profiler.start();
//   for (...) { train_step(); profiler.step(); }
//   profiler.stop();
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libtrace/record_function.h"
#include "libtrace/schedule.h"
#include "libtrace/status.h"
#include "libtrace/trace.h"

namespace libtrace {

// A set of what to record.
class Activities {
 public:
  static constexpr Activities cpu() noexcept { return Activities(1U << 0); }
  // Device work. Where it cannot be recorded the profiler warns and goes on without it.
  static constexpr Activities cuda() noexcept { return Activities(1U << 1); }
  static constexpr Activities none() noexcept { return Activities(0); }

  [[nodiscard]] constexpr bool has(Activities a) const noexcept {
    return (bits_ & a.bits_) == a.bits_;
  }
  [[nodiscard]] constexpr bool empty() const noexcept { return bits_ == 0; }
  friend constexpr Activities operator|(Activities a, Activities b) noexcept {
    return Activities(a.bits_ | b.bits_);
  }
  friend constexpr Activities operator-(Activities a, Activities b) noexcept {
    return Activities(a.bits_ & ~b.bits_);
  }
  friend constexpr bool operator==(Activities a, Activities b) noexcept {
    return a.bits_ == b.bits_;
  }
  friend constexpr bool operator!=(Activities a, Activities b) noexcept { return !(a == b); }

 private:
  explicit constexpr Activities(std::uint32_t bits) noexcept : bits_(bits) {}
  std::uint32_t bits_;
};

// Called after a cycle is complete, on the thread that called step() or stop() or, with
// HandlerPolicy::kBackground, on a thread of its own. May throw.
using TraceHandler = std::function<void(const TracePtr&)>;
// Receives what a library must not print: warnings and errors nobody can catch. Called by start(),
// step(), stop() and, with HandlerPolicy::kBackground, by a thread of the library's as well, at the
// same time. What it throws is ignored.
using LogSink = std::function<void(std::string_view)>;

enum class HandlerError : std::uint8_t {
  kRethrow,  // step() or stop() throws it, once the transition is complete
  kLog,      // to Options::log
};

enum class HandlerPolicy : std::uint8_t {
  kInline,  // as torch: step() returns when the handler has
  // Made into a Trace and handled by a thread of its own, of low priority. Whoever waits for it
  // (flush(), the destructor, exit(), a step() that blocks) brings another thread, of his own
  // priority, that handles what is waiting and takes over the trace in the making or being written:
  // all but the pass over its rows that is under way, and what a handler of your own is doing. The
  // destructor waits as long as the handler takes, exit() for a minute. Errors go to the log and to
  // flush().
  kBackground,
};
// What step() does at a cycle's end when two earlier traces still wait for the background thread.
// stop() waits.
enum class WhenBehind : std::uint8_t {
  kDrop,   // this trace is lost, and counted in the next one
  kBlock,  // step() waits
};

// Processes that communicate with one another, as torch.distributed tells of them.
struct ProcessGroup {
  std::string name, description;  // "0", "default_pg"
  std::string backend;            // "cuda:nccl,cpu:gloo"
  std::vector<int> ranks;
};
// This process among those that train together; becomes the trace's `distributedInfo`.
struct DistributedInfo {
  std::string backend;
  int rank = 0;
  int world_size = 1;
  std::vector<ProcessGroup> groups = {};  // `pg_count` and `pg_config`; none: not known
  std::string nccl_version = {};          // "2.21.5"; empty: not known
};

// Runs with the window: torch's execution trace observer. Any may be empty.
struct TraceObserver {
  std::function<void()> start;    // before a window opens
  std::function<void()> stop;     // before it closes
  std::function<void()> cleanup;  // at stop()
};

struct Options {
  Activities activities = Activities::cpu();
  std::optional<ScheduleFn> schedule = {};  // absent: every step is recorded, without step markers
  TraceHandler on_trace_ready = {};
  HandlerError on_error = HandlerError::kRethrow;
  HandlerPolicy handler = HandlerPolicy::kInline;
  WhenBehind when_behind = WhenBehind::kDrop;

  bool record_shapes = false;   // inputs of operators, where an adapter gives them (range.h)
  bool profile_memory = false;  // allocations, where an allocator or adapter reports them
  bool with_stack = false;      // native stack of every range
  bool with_flops = false;      // key_averages() counts FLOPs; implies record_shapes
  bool with_modules = false;    // modules (ModuleScope) and the operators within
  // Keep the traces of all cycles, for averages over all: traces(). Memory grows with each.
  bool accumulate_events = false;

  bool cuda_sync_events = false;   // synchronisation calls and waits of CUDA
  bool cuda_whole_graphs = false;  // one row a graph launch instead of one a node

  // Ceiling of what recording may hold. What does not fit is dropped, newest first, and counted.
  std::size_t max_bytes = std::size_t{1} << 30;
  std::optional<DistributedInfo> distributed = {};
  std::function<std::string()> custom_trace_id = {};  // asked once a trace
  TraceObserver observer = {};
  LogSink log = {};
};

struct Stats {
  std::uint64_t cycles = 0;   // finished
  std::uint64_t events = 0;   // ranges recorded in finished cycles
  std::uint64_t dropped = 0;  // ranges dropped for lack of memory
  // Traces that no handler saw, because the background thread was behind or for lack of memory, and
  // those that it failed with (their handler threw).
  std::uint64_t dropped_traces = 0, failed_traces = 0;
  std::size_t bytes = 0;  // held by the recorder now
  std::size_t lanes = 0;  // threads seen in the last finished cycle
  std::int64_t prepare_us = 0, start_us = 0, stop_us = 0;  // what the last transitions took
};

// One may run in a process at a time. Its calls come from one thread at a time; the handler may
// use the const ones. Destruction stops it and keeps errors from escaping.
class Profiler {
 public:
  // Throws std::invalid_argument when `options` make no sense.
  explicit Profiler(Options options);
  ~Profiler();
  Profiler(const Profiler&) = delete;
  Profiler& operator=(const Profiler&) = delete;

  // Throw std::logic_error on misuse: started twice, two at a time, not started, called from
  // the handler. A second stop() does nothing; a stopped profiler may start again.
  void start();
  void step();
  void stop();

  // Steps since construction. Within the handler: already the next step.
  [[nodiscard]] std::uint64_t step_num() const noexcept;
  // The last finished cycle; nullptr before there is one. With a background thread: the last one
  // that it has made; flush() waits for it.
  [[nodiscard]] TracePtr trace() const;
  // All finished cycles with Options::accumulate_events, else the last one.
  [[nodiscard]] std::vector<TracePtr> traces() const;
  [[nodiscard]] Stats stats() const;

  // Within a window: stops or resumes recording of these activities, until the next window.
  void toggle_collection(bool enable, Activities activities);

  // Waits for the background thread to be done with all finished cycles. Not ok: the time is up,
  // or a handler failed since the last flush(). Any thread but the handler's.
  Status flush(std::chrono::milliseconds timeout);

  // Go into the trace being recorded, or else the next one, and into that one only. A key that the
  // writer itself uses ("traceEvents") is misuse: std::invalid_argument, or a Status.
  void add_metadata(std::string_view key, std::string_view value);
  Status add_metadata_json(std::string_view key, std::string_view json);
  // Goes into every trace that starts from now on.
  Status preset_metadata_json(std::string_view key, std::string_view json);

 private:
  friend class ProfilerGuard;
  void stop_and_log() noexcept;

  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// start() here, stop() at the end of the block. Errors of that stop() go to the log: call stop()
// yourself to see them.
class ProfilerGuard {
 public:
  explicit ProfilerGuard(Profiler& profiler) : profiler_(profiler) { profiler_.start(); }
  ~ProfilerGuard() { profiler_.stop_and_log(); }
  ProfilerGuard(const ProfilerGuard&) = delete;
  ProfilerGuard& operator=(const ProfilerGuard&) = delete;

 private:
  Profiler& profiler_;
};

}  // namespace libtrace
