// What a Profiler does as its session drives it: each transition, what it keeps, and what it leaves
// alone in a forked child. The public calls are in profiler.cc.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "libtrace/profile.h"
#include "libtrace/range.h"
#include "libtrace/record/background.h"
#include "libtrace/record/build_trace.h"
#include "libtrace/record/chunk_pool.h"
#include "libtrace/record/clock.h"
#include "libtrace/record/device_factory.h"
#include "libtrace/record/lane.h"
#include "libtrace/record/metadata.h"
#include "libtrace/record/options.h"
#include "libtrace/record/process.h"
#include "libtrace/record/session.h"
#include "libtrace/record/window.h"

namespace libtrace {
namespace detail {

constexpr std::uint32_t bit(Detail d) noexcept { return static_cast<std::uint32_t>(d); }

inline std::uint32_t mask_of(const Options& o) noexcept {
  std::uint32_t mask = 0;
  if (o.activities.has(Activities::cpu())) mask |= bit(Detail::kRanges);
  if (o.record_shapes) mask |= bit(Detail::kShapes);
  if (o.profile_memory) mask |= bit(Detail::kMemory);
  if (o.with_stack) mask |= bit(Detail::kStacks);
  if (o.with_modules) mask |= bit(Detail::kModules);
  return mask;
}

// Never destroyed: of the parent, in a forked child.
template <class T>
void leak(T& value) {
  new T(std::move(value));
}

// Whose background thread this is.
inline thread_local const void* handling = nullptr;

class Stopwatch {
 public:
  explicit Stopwatch(std::int64_t& us) : us_(us) {}
  ~Stopwatch() {
    using std::chrono::duration_cast, std::chrono::microseconds;
    us_ = duration_cast<microseconds>(std::chrono::steady_clock::now() - start_).count();
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  std::int64_t& us_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace detail

// Locks: `mutex` guards what handlers and other threads may ask for while a call runs; it is never
// held across the handler or the building of a trace. Everything else belongs to the calling
// thread, of which `in_call` admits one at a time, but for `background`, which looks after itself.
struct Profiler::Impl final : TraceControl {
  explicit Impl(Options o)
      : device(o.activities.has(Activities::cuda()) ? detail::new_device_source() : nullptr),
        options(detail::checked_options(std::move(o), device != nullptr)),
        session(detail::schedule_of(options), options.schedule.has_value(), *this) {
    detail::install_fork_handlers();
    detail::hold_at_fork(mutex);
    select_best_clock();
  }
  ~Impl() override {
    detail::no_longer_hold_at_fork(mutex);
    if (abandoned()) {
      // A forked child's copy: its thread does not run, what waits is the parent's to do.
      detail::leak(background);
      abandon_device();
    }
    background.reset();  // finishes; its work needs all that is here
  }

  std::unique_ptr<detail::DeviceSource> device;  // nullptr: none asked for, or none known
  Options options;
  Session session;
  std::atomic<bool> in_call{false};
  std::uint64_t born_in_fork = detail::fork_count();
  detail::Record* step_scope = nullptr;
  bool prepared = false;
  std::uint32_t mask = 0;  // what is asked of the window to come, or open
  bool device_failed = false;
  std::string trace_id;
  detail::Cycle cycle;
  std::unique_ptr<detail::Background> background;

  std::mutex mutable mutex;
  detail::Metadata preset, pending;
  detail::Metadata preset_of_window;  // as it was when the window opened
  std::vector<TracePtr> traces;       // the last one, or all
  Stats stats;
  std::uint64_t untold_traces = 0, untold_events = 0;  // dropped, and not yet said in a trace

  // A sink that throws must not end a transition half-way.
  void warn(std::string_view text) override {
    if (!options.log) return;
    try {
      options.log(text);
    } catch (...) {
      return;
    }
  }

  void prepare_trace() override {
    std::int64_t us = 0;
    {
      const detail::Stopwatch watch(us);
      forget_cycle();
      detail::chunk_pool().set_max_bytes(options.max_bytes);
      ClockMap::process_ns_per_tick();
      detail::Window::prepare();
      mask = detail::mask_of(options);
      prepare_device();
      trace_id = new_trace_id();
      prepared = true;
    }
    const std::lock_guard lock(mutex);
    stats.prepare_us = us;
  }

  void prepare_device() {
    if (!device) return;
    detail::DeviceOptions o;
    o.sync_events = options.cuda_sync_events;
    o.whole_graphs = options.cuda_whole_graphs;
    o.profile_memory = options.profile_memory;
    o.max_bytes = options.max_bytes;
    const Status status = device->prepare(o);
    if (!status.ok()) {
      if (!device_failed) warn(status.message());
      mask |=
          detail::bit(Detail::kRanges);  // refused: the host is recorded, and the trace says why
    }
    device_failed = !status.ok();
  }

  std::string new_trace_id() {
    if (!options.custom_trace_id) return detail::random_trace_id();
    try {
      return options.custom_trace_id();
    } catch (...) {
      log(std::current_exception());
      return detail::random_trace_id();
    }
  }

  void start_trace() override {
    std::int64_t us = 0;
    if (!prepared) prepare_trace();  // torch's hole: RECORD to WARMUP does not prepare
    observe(options.observer.start);
    {
      const detail::Stopwatch watch(us);
      const std::uint64_t start_ticks = detail::Window::open(mask);
      if (device) device->start(start_ticks);
    }
    const std::lock_guard lock(mutex);
    stats.start_us = us;
    preset_of_window = preset;
  }

  void stop_trace() override {
    std::int64_t us = 0;
    observe(options.observer.stop);
    {
      const detail::Stopwatch watch(us);
      if (device) device->finish_work();
      cycle.host = detail::Window::close();
      if (device) cycle.device = device->stop(cycle.host.stop_ticks);
    }
    cycle.metadata = detail::standard_metadata(options, trace_id);
    prepared = false;
    if (const auto& d = options.distributed) {
      cycle.rank = d->rank;
      cycle.world_size = d->world_size;
    }
    const std::lock_guard lock(mutex);
    stats.stop_us = us;
    for (const detail::Metadata* const some : {&preset_of_window, &pending}) {
      for (const auto& [key, json] : *some) detail::set_metadata(cycle.metadata, key, json);
    }
    pending.clear();
    cycle.dropped_traces = std::exchange(untold_traces, 0);
    cycle.dropped_events = std::exchange(untold_events, 0);
  }

  // Of a window that was closed but not delivered. What it was to say of those before, the next
  // one says.
  void forget_cycle() {
    {
      const std::lock_guard lock(mutex);
      untold_traces += cycle.dropped_traces;
      untold_events += cycle.dropped_events;
    }
    cycle = {};
  }

  void trace_ready() override {
    if (options.handler == HandlerPolicy::kBackground && start_background()) {
      // Nobody's step waits at stop(): there the last trace is worth a wait.
      const bool block = options.when_behind == WhenBehind::kBlock || !session.running();
      const bool taken = background->submit(cycle, block);
      if (!taken) {
        for (detail::LaneSnapshot& lane : cycle.host.lanes) lane.give_back_later();
        forget_cycle();
        warn("Profiler: a trace was dropped, two earlier ones are still being written");
        const std::lock_guard lock(mutex);
        ++untold_traces;
        ++stats.dropped_traces;
      }
      cycle = {};
      return;
    }
    detail::Cycle taken = std::exchange(cycle, {});
    deliver(taken);
  }

  // Without a thread to be had the handler runs here.
  bool start_background() {
    if (background) return true;
    try {
      auto fresh = std::make_unique<detail::Background>([this](detail::Cycle& finished) {
        detail::handling = this;
        try {
          deliver(finished);
        } catch (...) {
          log(std::current_exception());
          const std::lock_guard lock(mutex);
          ++stats.failed_traces;
          throw;
        }
      });
      const std::lock_guard lock(mutex);  // flush() may ask on another thread
      background = std::move(fresh);
    } catch (...) {
      log(std::current_exception());
    }
    return background != nullptr;
  }

  void deliver(detail::Cycle& finished) {
    const std::size_t lanes = finished.host.lanes.size();
    const detail::Built built = made_of(finished);
    // Gives the memory back before the handler takes its time.
    run_as_piece([&] { finished = {}; });
    std::vector<TracePtr> old;  // to free a large one takes long: not while a step may wait
    {
      const std::lock_guard lock(mutex);
      if (!options.accumulate_events) old.swap(traces);
      traces.push_back(built.trace);
      ++stats.cycles;
      stats.events += built.ranges;
      stats.dropped += built.dropped;
      stats.lanes = lanes;
    }
    run_as_piece([&] { old.clear(); });
    if (options.on_trace_ready) options.on_trace_ready(built.trace);
  }

  // Where there is no memory for it, the cycle is lost and counted.
  detail::Built made_of(const detail::Cycle& finished) try {
    return build_trace(finished);
  } catch (...) {
    const std::uint64_t dropped = detail::records_in(finished) + finished.host.dropped +
                                  (finished.device ? finished.device->dropped() : 0);
    const std::lock_guard lock(mutex);
    untold_traces += finished.dropped_traces + 1;
    untold_events += finished.dropped_events + dropped;
    stats.dropped += dropped;
    ++stats.dropped_traces;
    throw;
  }

  void observe(const std::function<void()>& f) {
    if (!f) return;
    try {
      f();
    } catch (...) {
      log(std::current_exception());  // an observer is no reason to lose the window
    }
  }

  void toggle(bool enable, Activities activities) {
    if (detail::recording.load(std::memory_order_relaxed) == 0) return;  // no window is open
    if (activities.has(Activities::cpu())) detail::Window::set_mask(enable ? mask : 0);
    if (activities.has(Activities::cuda()) && device) device->set_collecting(enable);
  }

  void open_step(std::uint64_t step) override { step_scope = detail::begin_step(step); }
  void close_step() override {
    if (detail::Record* const scope = std::exchange(step_scope, nullptr)) {
      detail::end_scope(scope);
    }
  }

  // The session this object thinks it runs is the parent's.
  bool abandoned() const { return born_in_fork != detail::fork_count(); }
  // A child that the handler forked is free to call.
  bool on_handler_thread() const { return detail::handling == this && !abandoned(); }
  void forget_if_abandoned() {
    if (!abandoned()) return;
    born_in_fork = detail::fork_count();
    session.abandon();
    step_scope = nullptr;
    prepared = false;
    // Memory that the pool has forgotten, a thread that is not ours: left as they are.
    detail::leak(cycle);
    cycle = {};
    detail::leak(background);
    abandon_device();
    if (options.activities.has(Activities::cuda())) device = detail::new_device_source();
  }
  void abandon_device() noexcept {
    if (!device) return;
    device->abandon_after_fork();
    detail::leak(device);
  }

  void finish_session() noexcept {
    forget_cycle();
    prepared = false;
    detail::Window::release();
    if (device) device->release();
    detail::release_recorder(this);
  }

  void stop() {
    if (!session.running()) return;
    std::exception_ptr error;
    try {
      session.stop();
    } catch (...) {
      error = std::current_exception();
    }
    finish_session();
    observe(options.observer.cleanup);
    if (error) report(error);
  }

  void report(const std::exception_ptr& error) {
    if (options.on_error == HandlerError::kRethrow) std::rethrow_exception(error);
    log(error);
  }
  void log(const std::exception_ptr& error) noexcept {
    try {
      if (!options.log) return;
      try {
        std::rethrow_exception(error);
      } catch (const std::exception& e) {
        options.log(std::string("Profiler: ") + e.what());
      } catch (...) {
        options.log("Profiler: unknown exception");
      }
    } catch (...) {
      return;  // a log sink that throws has had its say
    }
  }
};

}  // namespace libtrace
