// The profiler's state machine: which of prepare, start, stop and deliver a change of action
// calls, in torch's order. Knows nothing of clocks, threads or traces.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <string_view>

#include "libtrace/schedule.h"

namespace libtrace {

// What a transition does. kWarn stands for a schedule that cannot have been meant.
enum class TraceOp : std::uint8_t { kWarn, kPrepare, kStart, kStop, kReady };

struct Transition {
  std::span<const TraceOp> ops;
  std::string_view warning;  // the text of kWarn
};
// The next action of stop() is its own column of the table.
inline constexpr int kStopColumn = 4;
Transition transition(ProfilerAction from, ProfilerAction to) noexcept;
Transition stop_transition(ProfilerAction from) noexcept;

// What a Session drives. A device source joins here.
class TraceControl {
 public:
  virtual ~TraceControl() = default;
  virtual void warn(std::string_view text) = 0;
  virtual void prepare_trace() = 0;  // allocate; nothing is kept yet
  virtual void start_trace() = 0;    // the window opens
  virtual void stop_trace() = 0;     // the window closes
  virtual void trace_ready() = 0;    // may throw
  virtual void open_step(std::uint64_t step) = 0;
  virtual void close_step() = 0;
};

// Not thread-safe but for step_num.
class Session {
 public:
  // `marks_steps`: step scopes are opened and closed.
  Session(ScheduleFn schedule, bool marks_steps, TraceControl& control);

  // An exception of trace_ready leaves these only after the whole transition is done.
  void start();
  void step();
  void stop();  // nothing when not running
  // The process forked: whatever ran, runs in the parent only.
  void abandon() noexcept { running_ = false; }

  [[nodiscard]] bool running() const noexcept { return running_; }
  [[nodiscard]] std::uint64_t step_num() const noexcept {
    return step_num_.load(std::memory_order_relaxed);
  }

 private:
  void run(const Transition& transition);
  void open_step() {
    if (marks_steps_) control_.open_step(step_num());
  }
  void close_step() {
    if (marks_steps_) control_.close_step();
  }

  ScheduleFn schedule_;
  bool marks_steps_;
  TraceControl& control_;
  ProfilerAction current_;
  std::atomic<std::uint64_t> step_num_{0};  // the handler's other threads may ask
  bool running_ = false;
};

}  // namespace libtrace
