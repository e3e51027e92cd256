// The state machine against torch's own traces (torch 1.13.1, logged through a subclass).
#include "libtrace/record/session.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "libtrace/schedule.h"

namespace libtrace {
namespace {

// Writes what happens: P S X R(step) W, and | at the end of each call.
class Log : public TraceControl {
 public:
  void warn(std::string_view what) override {
    warning = what;
    add("W");
  }
  void prepare_trace() override { add("P"); }
  void start_trace() override { add("S"); }
  void stop_trace() override { add("X"); }
  void trace_ready() override {
    add("R(" + std::to_string(session->step_num()) + ")");
    if (fail) throw std::runtime_error("disk full");
  }
  void open_step(std::uint64_t step) override {
    if (marks) add("[" + std::to_string(step));
  }
  void close_step() override {
    if (marks) add("]");
  }
  void add(const std::string& what) { text += (text.empty() ? "" : " ") + what; }

  std::string text, warning;
  Session* session = nullptr;
  bool marks = false, fail = false;
};

ScheduleFn always_record() {
  return [](std::uint64_t) { return ProfilerAction::kRecord; };
}

std::string replay(const ScheduleFn& schedule, bool scheduled, int steps, bool stop = true,
                   bool marks = false) {
  Log log;
  Session session(schedule, scheduled, log);
  log.session = &session;
  log.marks = marks;
  session.start();
  for (int i = 0; i < steps; ++i) {
    log.add("|");
    session.step();
  }
  log.add("|");
  if (stop) session.stop();
  return log.text;
}

std::string replay(Schedule s, int steps) { return replay(Schedule::make(s), true, steps); }

TEST(Session, ExecutedTracesOfTorch) {
  EXPECT_EQ(replay({.wait = 1, .warmup = 1, .active = 2, .repeat = 1}, 3), "| P | S | | X R(3)");
  EXPECT_EQ(replay({.wait = 1, .warmup = 1, .active = 2, .repeat = 1}, 4), "| P | S | | X R(4) |");
  EXPECT_EQ(replay({.wait = 1, .warmup = 1, .active = 2, .repeat = 2}, 9),
            "| P | S | | X R(4) | P | S | | X R(8) | |");
  EXPECT_EQ(replay({.wait = 0, .warmup = 0, .active = 1}, 3),
            "P S | X R(1) P S | X R(2) P S | X R(3) P S | X R(3)");
  EXPECT_EQ(replay({.wait = 0, .warmup = 1, .active = 2}, 0), "P | S X");
  EXPECT_EQ(replay({.wait = 0, .warmup = 1, .active = 2}, 1), "P | S | X R(1)");
  EXPECT_EQ(replay({.wait = 1, .warmup = 1, .active = 1, .repeat = 1, .skip_first = 2}, 6),
            "| | | P | S | X R(5) | |");
  EXPECT_EQ(replay(always_record(), false, 2), "P S | | | X R(2)");
}

// The whole table: every previous action, every next one, and stop().
TEST(Session, TransitionTable) {
  const auto text = [](const Transition& t) {
    std::string s;
    for (const TraceOp op : t.ops) s += "WPSXR"[static_cast<int>(op)];
    return s;
  };
  const char* const expected[4][5] = {{"", "P", "PS", "PS", ""},
                                      {"WSX", "", "S", "S", "SX"},
                                      {"WX", "WX", "", "", "XR"},
                                      {"XR", "XRP", "XRPS", "XRPS", "XR"}};
  for (int from = 0; from < 4; ++from) {
    for (int to = 0; to < 4; ++to) {
      EXPECT_EQ(text(transition(ProfilerAction(from), ProfilerAction(to))), expected[from][to])
          << from << " to " << to;
    }
    EXPECT_EQ(text(stop_transition(ProfilerAction(from))), expected[from][4]) << from;
  }
}

TEST(Session, WarningTexts) {
  using A = ProfilerAction;
  EXPECT_EQ(transition(A::kWarmup, A::kNone).warning,
            "Incorrect schedule: WARMUP followed by NONE");
  EXPECT_EQ(transition(A::kRecord, A::kNone).warning,
            "Incorrect schedule: RECORD followed by NONE");
  EXPECT_EQ(transition(A::kRecord, A::kWarmup).warning,
            "Incorrect schedule: RECORD followed by WARMUP");
}

// Every pair of actions, by a hand-written schedule: the calls are those of the table.
TEST(Session, HandWrittenSchedulesFollowTheTable) {
  for (int from = 0; from < 4; ++from) {
    for (int to = 0; to < 4; ++to) {
      Log log;
      Session session([&](std::uint64_t step) { return ProfilerAction(step == 0 ? from : to); },
                      true, log);
      log.session = &session;
      session.start();
      log.text.clear();
      session.step();
      std::string got;
      for (const char c : log.text) {
        if (std::string_view("WPSXR").find(c) != std::string_view::npos) got += c;
      }
      std::string want;
      for (const TraceOp op : transition(ProfilerAction(from), ProfilerAction(to)).ops) {
        want += "WPSXR"[static_cast<int>(op)];
      }
      EXPECT_EQ(got, want) << from << " to " << to;
      EXPECT_EQ(log.warning.empty(), want.empty() || want[0] != 'W');
    }
  }
}

TEST(Session, StepScopesStandAroundTheTransitions) {
  // The last recorded step is closed before the window closes, the first opens after it opened.
  EXPECT_EQ(replay(Schedule::make({.wait = 1, .warmup = 0, .active = 1, .repeat = 1}), true, 2,
                   true, true),
            "[0 | ] P S [1 | ] X R(2) [2 | ]");
  EXPECT_EQ(replay(always_record(), false, 1, true, true), "P S | | X R(1)") << "no schedule";
}

TEST(Session, AThrowingHandlerDoesNotTearTheTransition) {
  Log log;
  log.fail = true;
  log.marks = true;
  Session session(Schedule::make({.active = 1}), true, log);
  log.session = &session;
  session.start();
  EXPECT_THROW(session.step(), std::runtime_error);
  EXPECT_EQ(log.text, "P S [0 ] X R(1) P S [1");
  EXPECT_TRUE(session.running());
  EXPECT_THROW(session.stop(), std::runtime_error);
  EXPECT_EQ(log.text, "P S [0 ] X R(1) P S [1 ] X R(1)");
  EXPECT_FALSE(session.running());
}

TEST(Session, AThrowingScheduleLeavesEverythingAsItWas) {
  Log log;
  Session session(
      [](std::uint64_t step) {
        if (step == 1) throw std::runtime_error("no idea");
        return ProfilerAction::kRecord;
      },
      true, log);
  log.session = &session;
  session.start();
  EXPECT_THROW(session.step(), std::runtime_error);
  EXPECT_EQ(session.step_num(), 0U);
  EXPECT_EQ(log.text, "P S");
  session.stop();
  EXPECT_EQ(log.text, "P S X R(0)");
}

TEST(Session, AnActionThatDoesNotExistIsNone) {
  Log log;
  Session session([](std::uint64_t) { return ProfilerAction(99); }, true, log);
  log.session = &session;
  session.start();
  session.step();
  session.stop();
  EXPECT_EQ(log.text, "");
}

TEST(Session, RestartGoesOnCounting) {
  Log log;
  Session session(Schedule::make({.wait = 1, .warmup = 1, .active = 1}), true, log);
  log.session = &session;
  session.start();
  session.step();
  session.stop();
  EXPECT_EQ(log.text, "P S X");
  session.start();  // the action of step 1 is still the current one
  session.step();
  session.stop();
  EXPECT_EQ(log.text, "P S X P S X R(2)");
  EXPECT_EQ(session.step_num(), 2U);
}

// Any function of the step, stopped anywhere: windows open and close in turn, and only an open
// one is delivered.
TEST(Session, RandomSchedulesKeepWindowsWhole) {
  std::uint64_t seed = 1;
  const auto random = [&] { return seed = seed * 6364136223846793005U + 1442695040888963407U; };
  for (int round = 0; round < 2000; ++round) {
    std::vector<int> actions(16);
    for (int& a : actions) a = static_cast<int>(random() >> 62);
    Log log;
    Session session([&](std::uint64_t s) { return ProfilerAction(actions[s % 16]); }, true, log);
    log.session = &session;
    session.start();
    const auto steps = static_cast<int>(random() >> 60);
    for (int i = 0; i < steps; ++i) session.step();
    session.stop();
    bool open = false, closed_now = false;
    for (const char c : log.text) {
      ASSERT_FALSE(c == 'S' && std::exchange(open, true)) << log.text;
      ASSERT_FALSE(c == 'X' && !std::exchange(open, false)) << log.text;
      ASSERT_FALSE(c == 'R' && !closed_now) << log.text;
      if (std::string_view("WPSXR").find(c) != std::string_view::npos) closed_now = c == 'X';
    }
    ASSERT_FALSE(open) << log.text;
  }
}

}  // namespace
}  // namespace libtrace
