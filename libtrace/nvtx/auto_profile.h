// The Profiler of a program that has none: started by the environment, stopped when its time is up
// or the program exits.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string_view>
#include <thread>

#include "libtrace/nvtx/settings.h"
#include "libtrace/profile.h"

namespace libtrace::nvtx {

// Its calls may come from any thread. None throws: what goes wrong is told to `log`.
class AutoProfile {
 public:
  AutoProfile(Settings settings, LogSink log);
  ~AutoProfile();
  AutoProfile(const AutoProfile&) = delete;
  AutoProfile& operator=(const AutoProfile&) = delete;

  void begin() noexcept;
  // A range of that name begins: perhaps a step.
  void on_range(std::string_view name) noexcept;
  // Writes what was recorded; for good.
  void end() noexcept;

 private:
  void keep_time();
  void start_locked();
  void stop_locked();
  template <class F>
  void guarded(F&& f) noexcept;

  Settings settings_;
  LogSink log_;
  std::mutex mutex_;  // guards what follows
  std::condition_variable ended_changed_;
  std::optional<Profiler> profiler_;
  bool may_start_ = false;  // the delay is over
  bool running_ = false;
  bool ended_ = false;
  std::thread timer_;
};

}  // namespace libtrace::nvtx
