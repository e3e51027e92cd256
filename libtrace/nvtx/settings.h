// What the environment asks of a program that runs no Profiler itself.
//
//   TRACEGLASS_LOGDIR      where traces go; without it nothing is recorded
//   TRACEGLASS_WORKER      name of this process in the files; default <host>_<pid>
//   TRACEGLASS_ACTIVITIES  "cpu" or "cpu,cuda"; default: the latter where there is a driver of
//   NVIDIA TRACEGLASS_STEP        name of the range that begins a training step TRACEGLASS_SCHEDULE
//   which steps: "wait=1,warmup=1,active=3,repeat=2,skip_first=10" TRACEGLASS_DELAY_S     seconds
//   before recording begins TRACEGLASS_DURATION_S  seconds to record; default: until the program
//   ends
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "libtrace/profile.h"
#include "libtrace/schedule.h"

namespace libtrace::nvtx {

struct Settings {
  std::string logdir;
  std::string worker;
  std::optional<Activities> activities;
  std::string step;
  std::optional<Schedule> schedule;
  std::chrono::milliseconds delay{0};
  std::optional<std::chrono::milliseconds> duration;
};

using Environment = std::function<const char*(const char* name)>;

// Nothing when no trace is asked for. Throws std::invalid_argument, with a sentence, on a value
// that means nothing.
std::optional<Settings> read_settings(const Environment& environment);

}  // namespace libtrace::nvtx
