#include "libtrace/nvtx/auto_profile.h"

#include <pthread.h>
#include <unistd.h>

#include <exception>
#include <string>
#include <utility>

#include "libtrace/nvtx/held_signals.h"
#include "libtrace/tensorboard_trace_handler.h"

namespace libtrace::nvtx {
namespace {

// Asking a driver that is not there would be told as a fault in each trace of a machine without
// one.
Activities activities_here() {
  const bool driver = access("/dev/nvidiactl", F_OK) == 0 || access("/dev/dxg", F_OK) == 0;  // WSL
  return driver ? Activities::cpu() | Activities::cuda() : Activities::cpu();
}

}  // namespace

AutoProfile::AutoProfile(Settings settings, LogSink log)
    : settings_(std::move(settings)), log_(std::move(log)) {}

AutoProfile::~AutoProfile() { end(); }

template <class F>
void AutoProfile::guarded(F&& f) noexcept {
  try {
    try {
      f();
    } catch (const std::exception& e) {
      log_(e.what());
    }
  } catch (...) {
    return;  // the log itself failed: nobody is left to tell
  }
}

void AutoProfile::begin() noexcept {
  guarded([this] {
    const std::lock_guard lock(mutex_);
    Options options;
    options.activities = settings_.activities ? *settings_.activities : activities_here();
    options.on_trace_ready =
        tensorboard_trace_handler(settings_.logdir, settings_.worker, /*use_gzip=*/true);
    options.on_error = HandlerError::kLog;
    options.log = log_;
    if (settings_.schedule) {
      options.schedule = *settings_.schedule;
    } else if (!settings_.step.empty()) {
      // Every step, in one trace that ends with the program.
      options.schedule = [](std::uint64_t) { return ProfilerAction::kRecord; };
    }
    profiler_.emplace(std::move(options));
    if (settings_.delay.count() == 0) {
      may_start_ = true;
      start_locked();
    }
    if (settings_.delay.count() != 0 || settings_.duration) {
      const HeldSignals held;
      timer_ = std::thread([this] { keep_time(); });
      pthread_setname_np(timer_.native_handle(), "libtrace-time");
    }
  });
}

// Steps begin with the first range that is one; without such ranges recording begins at once.
void AutoProfile::start_locked() {
  if (!settings_.step.empty()) return;
  profiler_->start();
  running_ = true;
}

void AutoProfile::stop_locked() {
  if (running_) profiler_->stop();
  running_ = false;
}

void AutoProfile::on_range(std::string_view name) noexcept {
  if (settings_.step.empty() || name != settings_.step) return;
  guarded([this] {
    // Whoever finds it taken waits for nobody: two threads do not begin a step at once.
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock.owns_lock() || ended_ || !may_start_ || !profiler_) return;
    if (running_) {
      profiler_->step();
    } else {
      profiler_->start();
      running_ = true;
    }
  });
}

void AutoProfile::keep_time() {
  guarded([this] {
    std::unique_lock lock(mutex_);
    const auto ended = [this] { return ended_; };
    if (settings_.delay.count() != 0) {
      if (ended_changed_.wait_for(lock, settings_.delay, ended)) return;
      may_start_ = true;
      start_locked();
    }
    if (!settings_.duration || ended_changed_.wait_for(lock, *settings_.duration, ended)) return;
    ended_ = true;
    stop_locked();
  });
}

void AutoProfile::end() noexcept {
  guarded([this] {
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
      stop_locked();
    }
    ended_changed_.notify_all();
    if (timer_.joinable()) timer_.join();
  });
}

}  // namespace libtrace::nvtx
