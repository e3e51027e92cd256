// A fork in every state: the parent records on, the child records nothing until it starts itself.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <thread>

#include "libtrace/profile.h"

namespace libtrace {
namespace {

#if defined(__SANITIZE_THREAD__)
constexpr bool kThreadSanitizer = true;
#elif defined(__has_feature)
constexpr bool kThreadSanitizer = __has_feature(thread_sanitizer);
#else
constexpr bool kThreadSanitizer = false;
#endif
#define SKIP_UNDER_THREAD_SANITIZER()                                                   \
  if (kThreadSanitizer) {                                                               \
    GTEST_SKIP() << "it ends a forked child of a threaded process that makes a thread"; \
  }

// Runs `child` in a forked process; true when it answers true.
bool in_child(const std::function<bool()>& child) {
  const pid_t pid = fork();
  if (pid == 0) _exit(child() ? 0 : 1);
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool has(const Trace& trace, std::string_view name) {
  for (EventId e = 0; e < trace.size(); ++e) {
    if (trace.name(e) == name) return true;
  }
  return false;
}

TEST(Fork, TheChildRecordsNothingAndTheParentGoesOn) {
  int handled = 0;
  Profiler profiler({.schedule = Schedule::make({.warmup = 1, .active = 2, .repeat = 1}),
                     .on_trace_ready = [&](const TracePtr&) { ++handled; }});
  profiler.start();
  for (int step = 0; step < 4; ++step) {
    LIBTRACE_SCOPE("open over the fork");
    EXPECT_TRUE(in_child([&] {
      {
        LIBTRACE_SCOPE("in the child");
      }
      profiler.step();  // a loop shared with the parent goes on unharmed
      profiler.stop();
      return handled == (step == 3 ? 1 : 0) && profiler.stats().bytes == 0;
    })) << step;
    profiler.step();
  }
  profiler.stop();
  EXPECT_EQ(handled, 1);
  EXPECT_TRUE(has(*profiler.trace(), "open over the fork"));
  EXPECT_FALSE(has(*profiler.trace(), "in the child"));
}

TEST(Fork, TheChildMayStartItsOwn) {
  SKIP_UNDER_THREAD_SANITIZER();
  Profiler profiler({});
  profiler.start();
  {
    LIBTRACE_SCOPE("parent");
  }
  EXPECT_TRUE(in_child([&] {
    Profiler own({});
    own.start();
    {
      LIBTRACE_SCOPE("child");
    }
    own.stop();
    const Trace& trace = *own.trace();
    return has(trace, "child") && !has(trace, "parent") &&
           trace.lanes()[0].pid != std::to_string(getppid());
  }));
  EXPECT_TRUE(in_child([&] {  // or the one it inherited
    profiler.start();
    {
      LIBTRACE_SCOPE("child");
    }
    profiler.stop();
    return has(*profiler.trace(), "child") && !has(*profiler.trace(), "parent");
  }));
  profiler.stop();
  EXPECT_TRUE(has(*profiler.trace(), "parent"));
}

// Where another thread of the parent was looking as it forked, the child finds no lock taken.
TEST(Fork, WhileAnotherThreadAsks) {
  std::atomic<bool> stop{false};
  Profiler profiler({});
  profiler.start();
  std::thread asker([&] {
    while (!stop.load(std::memory_order_relaxed)) (void)profiler.stats();
  });
  for (int i = 0; i < 100; ++i) {
    EXPECT_TRUE(in_child([&] {
      alarm(20);  // ends a child that waits for ever
      return profiler.stats().cycles == 0 && profiler.trace() == nullptr;
    })) << i;
  }
  stop = true;
  asker.join();
  profiler.stop();
}

TEST(Fork, UnderRunningWriters) {
  SKIP_UNDER_THREAD_SANITIZER();
  std::atomic<bool> stop{false};
  Profiler profiler({.max_bytes = 4 << 20});  // the writer never rests
  profiler.start();
  std::thread writer([&] {
    while (!stop.load(std::memory_order_relaxed)) {
      LIBTRACE_RECORD_FUNCTION("writer");
    }
  });
  for (int i = 0; i < 50; ++i) {
    EXPECT_TRUE(in_child([] {
      Profiler own({});
      own.start();
      {
        LIBTRACE_SCOPE("child");
      }
      own.stop();
      return own.stats().events == 1;
    })) << i;
  }
  stop = true;
  writer.join();
  profiler.stop();
  EXPECT_TRUE(has(*profiler.trace(), "writer"));
}

}  // namespace
}  // namespace libtrace
