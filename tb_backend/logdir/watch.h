// The log directory over time: a snapshot that is never older than `max_age` when asked for.
// Scanning on request needs no thread, no inotify limits, and sees network file systems too.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>

#include "tb_backend/logdir/scan.h"

namespace traceglass {

class Watcher {
 public:
  using Clock = std::function<std::chrono::steady_clock::time_point()>;
  static constexpr std::chrono::milliseconds kMaxAge{1000};

  explicit Watcher(LogdirSpec spec, std::chrono::milliseconds max_age = kMaxAge,
                   Clock clock = &std::chrono::steady_clock::now);

  // Thread-safe. Scans when the last scan is older than max_age, or than 20 times what that scan
  // took (a slow disk is not asked all the time), each time when max_age is 0; one caller scans,
  // the others get what there is.
  std::shared_ptr<const Snapshot> snapshot();

  [[nodiscard]] const LogdirSpec& spec() const { return spec_; }

 private:
  const LogdirSpec spec_;
  const std::chrono::milliseconds max_age_;
  const Clock clock_;
  std::mutex scanning_;  // held during a scan; taken before state_
  std::mutex state_;
  std::shared_ptr<const Snapshot> last_;
  std::chrono::steady_clock::time_point due_;
};

}  // namespace traceglass
