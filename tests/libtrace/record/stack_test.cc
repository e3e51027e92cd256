// Native stacks: captured by return address, written as text.
#include "libtrace/record/stack.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <array>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "libtrace/profile.h"
#include "libtrace/range.h"
#include "libtrace/record/symbols.h"
#include "tests/libtrace/record/lookup.h"

// Out of the recorder's own namespace, whose frames are left out.
namespace program {
namespace {

__attribute__((noinline)) void innermost_function(int i) {
  const libtrace::RecordFunction range("inner", libtrace::RecordScope::kFunction);
  asm volatile("" : : "r"(i) : "memory");
}
__attribute__((noinline)) void middle_function(int i) {
  innermost_function(i);
  asm volatile("" ::: "memory");
}
void site_function() { LIBTRACE_SCOPE("site"); }

}  // namespace
}  // namespace program

namespace libtrace::detail {
namespace {

using program::innermost_function, program::middle_function, program::site_function;

using testing::arg;
using testing::event;
using testing::events;

std::vector<std::string> frames_of(const Trace& trace, EventId e) {
  std::vector<std::string> frames;
  std::istringstream text(arg(trace, e, "Call stack"));
  for (std::string frame; std::getline(text, frame, ';');) frames.push_back(frame);
  return frames;
}
bool contains(const std::vector<std::string>& frames, std::string_view text) {
  return std::any_of(frames.begin(), frames.end(),
                     [&](const std::string& f) { return f.find(text) != f.npos; });
}

TracePtr record_with(StackMethod method) {
  Profiler profiler({.with_stack = true});
  profiler.start();
  select_stack_method(method);
  for (int i = 0; i < 3; ++i) middle_function(i);
  site_function();
  std::thread([] { middle_function(7); }).join();
  profiler.stop();
  return profiler.trace();
}

TEST(Stack, BacktraceNamesTheCallers) {
  const TracePtr trace = record_with(StackMethod::kBacktrace);
  const auto inner = events(*trace, "inner");
  ASSERT_EQ(inner.size(), 4U);
  for (const EventId e : inner) {
    const auto frames = frames_of(*trace, e);
    ASSERT_GE(frames.size(), 2U);
    EXPECT_NE(frames[0].find("innermost_function(int)"), std::string::npos) << frames[0];
    EXPECT_NE(frames[1].find("middle_function(int)"), std::string::npos) << frames[1];
    EXPECT_FALSE(contains(frames, "begin_scope"));
  }
  EXPECT_TRUE(contains(frames_of(*trace, inner[0]), "TestBody"));
  EXPECT_FALSE(contains(frames_of(*trace, inner[3]), "TestBody")) << "another thread's stack";
  EXPECT_EQ(*trace->metadata("with_stack"), "1");
}

TEST(Stack, ASiteKnowsItsLine) {
  const TracePtr trace = record_with(StackMethod::kBacktrace);
  const auto frames = frames_of(*trace, event(*trace, "site"));
  ASSERT_GE(frames.size(), 2U);
  EXPECT_NE(frames[0].find("stack_test.cc("), std::string::npos) << frames[0];
  EXPECT_NE(frames[0].find("): site_function"), std::string::npos) << frames[0];
}

TEST(Stack, NoStackUnlessAskedFor) {
  Profiler profiler({});
  profiler.start();
  middle_function(1);
  profiler.stop();
  EXPECT_EQ(arg(*profiler.trace(), event(*profiler.trace(), "inner"), "Call stack"), "-");
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
// This file is compiled with frame pointers (tests/CMakeLists.txt); the libraries that start its
// threads are not. (Sanitizers start threads through more such frames.)
[[gnu::noinline]] void as_a_profiler_does(StackMethod& method) {
  method = choose_stack_method();
  asm volatile("");  // no jump instead of the call
}
TEST(Stack, FramePointersAreFoundToHold) {
  StackMethod method = StackMethod::kBacktrace;
  std::thread([&] { as_a_profiler_does(method); }).join();
  EXPECT_EQ(method, StackMethod::kFramePointers);
}

// The caller's frame alone proves nothing: the recorder is built with frame pointers, the program
// perhaps not.
TEST(Stack, AShallowStackProvesNothing) {
  static StackMethod method;
  method = StackMethod::kFramePointers;
  pthread_t thread{};
  const auto body = [](void*) -> void* {
    method = choose_stack_method();
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, nullptr, body, nullptr), 0);
  pthread_join(thread, nullptr);
  EXPECT_EQ(method, StackMethod::kBacktrace);
}
#endif

TEST(Stack, FramePointersFindTheSame) {
  const TracePtr by_pointers = record_with(StackMethod::kFramePointers);
  const TracePtr by_tables = record_with(StackMethod::kBacktrace);
  const auto a = frames_of(*by_pointers, events(*by_pointers, "inner")[0]);
  const auto b = frames_of(*by_tables, events(*by_tables, "inner")[0]);
  ASSERT_GE(a.size(), 2U);
  EXPECT_NE(a[0].find("innermost_function(int)"), std::string::npos) << a[0];
  EXPECT_NE(a[1].find("middle_function(int)"), std::string::npos) << a[1];
  EXPECT_EQ(std::vector(a.begin(), a.begin() + 2), std::vector(b.begin(), b.begin() + 2));
}

// Whatever the registers hold: only the stack itself is read.
TEST(Stack, FramePointersOfNoOneAreHarmless) {
  const TracePtr trace = record_with(StackMethod::kFramePointers);
  EXPECT_EQ(events(*trace, "inner").size(), 4U);
}

TEST(Stack, AFrameIsSaidOnceAWindow) {
  std::array<TracePtr, 2> traces;
  std::size_t at = 0;
  Options options;
  options.schedule = schedule(0, 0, 1, 2);
  options.with_stack = true;
  options.on_trace_ready = [&](const TracePtr& t) { traces[at++] = t; };
  Profiler profiler(options);
  profiler.start();
  select_stack_method(StackMethod::kBacktrace);
  for (int window = 0; window < 2; ++window) {
    for (int i = 0; i < 1000; ++i) middle_function(i);
    profiler.step();
  }
  profiler.stop();
  for (const TracePtr& trace : traces) {
    ASSERT_NE(trace, nullptr);
    for (const EventId e : events(*trace, "inner")) {
      ASSERT_TRUE(contains(frames_of(*trace, e), "middle_function(int)"));
    }
  }
}

TEST(Stack, OnASignalsOwnStack) {
  std::vector<char> memory(1 << 16);
  const stack_t stack{memory.data(), 0, memory.size()};
  stack_t before{};
  ASSERT_EQ(sigaltstack(&stack, &before), 0);
  struct sigaction action{}, old{};
  action.sa_handler = [](int) { innermost_function(1); };
  action.sa_flags = SA_ONSTACK;
  sigaction(SIGUSR1, &action, &old);
  Profiler profiler({.with_stack = true});
  profiler.start();
  select_stack_method(StackMethod::kFramePointers);
  innermost_function(0);
  raise(SIGUSR1);
  profiler.stop();
  sigaction(SIGUSR1, &old, nullptr);
  sigaltstack(&before, nullptr);
  EXPECT_EQ(events(*profiler.trace(), "inner").size(), 2U);
}

TEST(Stack, BoundsHoldTheStack) {
  const int here = 0;
  const auto at = reinterpret_cast<std::uintptr_t>(&here);
  const StackBounds main = stack_bounds_here();
  EXPECT_LE(main.low, at);
  EXPECT_GT(main.high, at);
  std::thread([] {
    const int there = 0;
    const StackBounds b = stack_bounds_here();
    EXPECT_LE(b.low, reinterpret_cast<std::uintptr_t>(&there));
    EXPECT_GT(b.high, reinterpret_cast<std::uintptr_t>(&there));
  }).join();
}

TEST(Symbols, UnknownAddressesAndFiles) {
  Symbolizer symbols;
  EXPECT_EQ(symbols.frame(0x1234).text, "(0x1234): ?");
  EXPECT_EQ(ElfSymbols("/nowhere").find(1), "");
  EXPECT_EQ(ElfSymbols("/proc/self/maps").find(1), "");
}

}  // namespace
}  // namespace libtrace::detail
