// Many threads in CUPTI while windows open and close (thread sanitizer), and forks in between.
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include "libtrace/cupti/collector.h"
#include "recorded.h"

namespace libtrace::cupti {
namespace {

TEST(Threads, LaunchesNeverWaitForWindows) {
  const Fake fake;
  std::atomic<bool> ends{false};
  std::vector<std::thread> threads;
  Window window(fake);
  ASSERT_TRUE(window.prepare().ok());
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      while (!ends) fake.run("launch\nmemcpy\n");
    });
  }
  for (int cycle = 0; cycle < 5; ++cycle) {
    ASSERT_TRUE(window.prepare().ok());
    window.start();
    fake.run("launch kernel=mine");
    window.stop();
    const TracePtr trace = window.trace();
    EXPECT_TRUE(find(*trace, "mine"));
    for (const EventId kernel : all(*trace, Kind::kKernel)) {
      EXPECT_EQ(trace->arg(kernel, "grid")->text, "[128,1,1]");
    }
  }
  window.source().release();
  ends = true;
  for (std::thread& t : threads) t.join();
}

TEST(Threads, SessionsComeAndGoWhileThreadsLaunch) {
  const Fake fake;
  std::atomic<bool> ends{false};
  std::thread launcher([&] {
    while (!ends) fake.run("launch\ncontext ctx=3 dev=0\ncontext ctx=3 dev=0 gone=1\n");
  });
  for (int i = 0; i < 20; ++i) {
    Window window(fake);
    ASSERT_TRUE(window.prepare().ok());
    window.start();
    window.stop();
    window.source().release();
  }
  ends = true;
  launcher.join();
}

// A signal of the program's is never handled on the collector's thread, whichever it is sent by.
TEST(Threads, TheCollectorTakesNoSignals) {
  const Fake fake;
  Window window(fake);
  window.record(fake, "launch");  // it has run
  std::size_t collectors = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream status(task.path() / "status");
    std::string line, name, blocked;
    while (std::getline(status, line)) {
      if (line.rfind("Name:", 0) == 0) name = line.substr(6);
      if (line.rfind("SigBlk:", 0) == 0) blocked = line.substr(8);
    }
    if (name != "libtrace-cupti") continue;
    ++collectors;
    constexpr std::uint64_t kTerm = std::uint64_t{1} << (SIGTERM - 1);
    EXPECT_NE(std::stoull(blocked, nullptr, 16) & kTerm, 0U);
  }
  EXPECT_EQ(collectors, 1U);
}

int exit_code_of(const std::function<int()>& child) {
  const pid_t pid = fork();
  if (pid == 0) _exit(child());
  int status = 0;
  EXPECT_EQ(waitpid(pid, &status, 0), pid);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 256 + WTERMSIG(status);
}

// The child of a process that records makes no call of CUPTI or the driver: the fake's calls stay
// as they were, and recording the GPU is refused in words.
TEST(Fork, TheChildsGpuPartIsDead) {
  for (const bool in_window : {false, true}) {
    const Fake fake;
    auto source = fake.source();
    Window window(std::move(source));
    ASSERT_TRUE(window.prepare().ok());
    if (in_window) window.start();
    const int code = exit_code_of([&] {
      const std::string before = fake.calls();
      window.source().set_collecting(false);
      if (in_window) window.stop();
      Window fresh(fake);
      const Status status = fresh.prepare();
      if (status.ok()) return 1;
      if (status.message().find("forked") == std::string::npos) return 2;
      fresh.start();
      fresh.stop();
      if (fresh.metadata("cupti_error").find("forked") == std::string::npos) return 3;
      if (fresh.trace()->size() != 0) return 4;
      window.source().release();
      fresh.source().release();
      return fake.calls() == before ? 0 : 5;
    });
    EXPECT_EQ(code, 0) << (in_window ? "in a window" : "before");
    // The parent goes on.
    if (!in_window) window.start();
    fake.run("launch");
    window.stop();
    EXPECT_EQ(window.trace()->size(), 2U);
  }
}

}  // namespace
}  // namespace libtrace::cupti
