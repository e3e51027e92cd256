// Which signals a thread of this process has blocked.
#pragma once

#include <gtest/gtest.h>

#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace libtrace::testing {

// Of the thread of this name, as a mask: bit 0 is signal 1. 0, and a failure, without one.
inline std::uint64_t blocked_signals_of(std::string_view thread) {
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream status(task.path() / "status");
    std::string line, name;
    while (std::getline(status, line)) {
      if (line.rfind("Name:\t", 0) == 0) name = line.substr(6);
      if (line.rfind("SigBlk:\t", 0) == 0 && name == thread) {
        return std::stoull(line.substr(8), nullptr, 16);
      }
    }
  }
  ADD_FAILURE() << "no thread " << thread;
  return 0;
}

constexpr std::uint64_t signal_bit(int signal) { return std::uint64_t{1} << (signal - 1); }

}  // namespace libtrace::testing
