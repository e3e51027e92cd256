// What runs as windows open and close.
#include "libtrace/record/window_hook.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "libtrace/profile.h"

namespace libtrace::detail {
namespace {

std::vector<std::string> calls;
constexpr WindowHook kHook = {
    [](std::uint32_t mask) noexcept {
      calls.push_back(mask != 0 && recording.load() == 0 ? "open" : "open: too late");
    },
    [](Notes& notes) {
      calls.push_back(recording.load() == 0 ? "close" : "close: too early");
      notes.emplace_back("noted", "[1]");
    }};

TEST(WindowHook, RunsWithTheWindowAndTellsTheTrace) {
  ASSERT_TRUE(add_window_hook(kHook));
  ASSERT_TRUE(add_window_hook(kHook));  // the same: once
  Profiler profiler(Options{});
  profiler.start();
  profiler.stop();
  EXPECT_EQ(calls, (std::vector<std::string>{"open", "close"}));
  bool noted = false;
  for (const auto& [key, json] : profiler.trace()->metadata()) {
    noted = noted || (key == "noted" && json == "[1]");
  }
  EXPECT_TRUE(noted);
}

}  // namespace
}  // namespace libtrace::detail
