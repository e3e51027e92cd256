#include "libtrace/record/session.h"

#include <array>
#include <exception>
#include <utility>

namespace libtrace {
namespace {

using Op = TraceOp;

// At most X R P S. The table of torch 1.13 to 2.15, its hole included: RECORD to WARMUP does not
// prepare, so that the next RECORD starts an unprepared trace; only a hand-written schedule does.
struct Cell {
  std::array<Op, 4> ops{};
  std::size_t count = 0;
  std::string_view warning;

  template <class... Ops>
  static constexpr Cell of(std::string_view warning, Ops... ops) {
    Cell c;
    ((c.ops[c.count++] = ops), ...);
    c.warning = warning;
    return c;
  }
};

constexpr Op W = Op::kWarn, P = Op::kPrepare, S = Op::kStart, X = Op::kStop, R = Op::kReady;
constexpr std::string_view kWarmupNone = "Incorrect schedule: WARMUP followed by NONE";
constexpr std::string_view kRecordNone = "Incorrect schedule: RECORD followed by NONE";
constexpr std::string_view kRecordWarmup = "Incorrect schedule: RECORD followed by WARMUP";

// Rows: previous action. Columns: NONE, WARMUP, RECORD, RECORD_AND_SAVE, stop().
constexpr Cell kTable[4][5] = {
    {Cell::of(""), Cell::of("", P), Cell::of("", P, S), Cell::of("", P, S), Cell::of("")},
    {Cell::of(kWarmupNone, W, S, X), Cell::of(""), Cell::of("", S), Cell::of("", S),
     Cell::of("", S, X)},
    {Cell::of(kRecordNone, W, X), Cell::of(kRecordWarmup, W, X), Cell::of(""), Cell::of(""),
     Cell::of("", X, R)},
    {Cell::of("", X, R), Cell::of("", X, R, P), Cell::of("", X, R, P, S), Cell::of("", X, R, P, S),
     Cell::of("", X, R)},
};

Transition at(ProfilerAction from, int column) noexcept {
  const Cell& cell = kTable[static_cast<int>(from)][column];
  return {std::span(cell.ops).first(cell.count), cell.warning};
}

// A user's function may answer anything.
ProfilerAction checked(ProfilerAction action) noexcept {
  return action <= ProfilerAction::kRecordAndSave ? action : ProfilerAction::kNone;
}

}  // namespace

Transition transition(ProfilerAction from, ProfilerAction to) noexcept {
  return at(from, static_cast<int>(to));
}
Transition stop_transition(ProfilerAction from) noexcept { return at(from, kStopColumn); }

Session::Session(ScheduleFn schedule, bool marks_steps, TraceControl& control)
    : schedule_(std::move(schedule)),
      marks_steps_(marks_steps),
      control_(control),
      current_(checked(schedule_(0))) {}

void Session::run(const Transition& t) {
  std::exception_ptr error;
  for (const Op op : t.ops) {
    switch (op) {
      case Op::kWarn:
        control_.warn(t.warning);
        break;
      case Op::kPrepare:
        control_.prepare_trace();
        break;
      case Op::kStart:
        control_.start_trace();
        break;
      case Op::kStop:
        control_.stop_trace();
        break;
      case Op::kReady:
        // The user's handler. What it throws must not leave the next cycle unstarted.
        try {
          control_.trace_ready();
        } catch (...) {
          error = std::current_exception();
        }
        break;
    }
  }
  if (error) std::rethrow_exception(error);
}

void Session::start() {
  running_ = true;
  run(transition(ProfilerAction::kNone, current_));
  open_step();
}

void Session::step() {
  const std::uint64_t number = step_num() + 1;
  const ProfilerAction next = checked(schedule_(number));  // may throw: nothing has happened yet
  close_step();
  step_num_.store(number, std::memory_order_relaxed);
  const ProfilerAction previous = std::exchange(current_, next);
  std::exception_ptr error;
  try {
    run(transition(previous, next));
  } catch (...) {
    error = std::current_exception();
  }
  open_step();
  if (error) std::rethrow_exception(error);
}

void Session::stop() {
  if (!running_) return;
  running_ = false;
  close_step();
  run(stop_transition(current_));
}

}  // namespace libtrace
