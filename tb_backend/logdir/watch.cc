#include "tb_backend/logdir/watch.h"

#include <algorithm>
#include <utility>

namespace traceglass {

Watcher::Watcher(LogdirSpec spec, std::chrono::milliseconds max_age, Clock clock)
    : spec_(std::move(spec)), max_age_(max_age), clock_(std::move(clock)) {}

std::shared_ptr<const Snapshot> Watcher::snapshot() {
  const auto fresh = [this]() -> std::shared_ptr<const Snapshot> {
    const std::lock_guard lock(state_);
    return last_ && clock_() < due_ ? last_ : nullptr;
  };
  if (auto now = fresh()) return now;
  std::unique_lock scanning(scanning_, std::try_to_lock);
  if (!scanning) {
    {
      const std::lock_guard lock(state_);
      if (last_) return last_;
    }
    scanning.lock();  // the very first scan: everyone waits for it
  }
  if (auto now = fresh()) return now;
  const auto begin = clock_();
  auto next = std::make_shared<const Snapshot>(scan(spec_));
  const auto end = clock_();
  const std::lock_guard lock(state_);
  if (!last_ || !(*last_ == *next)) last_ = std::move(next);
  due_ = end;
  if (max_age_.count() > 0) {
    due_ += std::max<std::chrono::steady_clock::duration>(max_age_, 20 * (end - begin));
  }
  return last_;
}

}  // namespace traceglass
