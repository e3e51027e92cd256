#include "libtrace/cupti/contexts.h"

#include <algorithm>

namespace libtrace::cupti {

void Contexts::created(Context context, std::uint32_t id, std::uint32_t device) {
  const std::lock_guard lock(mutex_);
  alive_.push_back({context, id, device});
  device_by_id_[id] = device;
}

void Contexts::destroyed(Context context) {
  const std::lock_guard lock(mutex_);
  alive_.erase(std::remove_if(alive_.begin(), alive_.end(),
                              [&](const Known& known) { return known.context == context; }),
               alive_.end());
}

std::unordered_map<std::uint32_t, std::uint32_t> Contexts::device_by_id() const {
  const std::lock_guard lock(mutex_);
  return device_by_id_;
}

void Contexts::synchronize(const DriverApi& driver) const {
  if (driver.CtxPushCurrent == nullptr || driver.CtxPopCurrent == nullptr ||
      driver.CtxSynchronize == nullptr || driver.CtxGetCurrent == nullptr) {
    return;
  }
  std::vector<Context> done;
  const auto wait_for = [&](Context context) {
    if (context == nullptr || std::find(done.begin(), done.end(), context) != done.end()) return;
    done.push_back(context);
    if (driver.CtxPushCurrent(context) != kSuccess) return;
    driver.CtxSynchronize();
    Context popped = nullptr;
    driver.CtxPopCurrent(&popped);
  };
  Context current = nullptr;
  if (driver.CtxGetCurrent(&current) != kSuccess) return;  // the driver is shutting down
  wait_for(current);
  {
    std::vector<Known> alive;
    {
      const std::lock_guard lock(mutex_);
      alive = alive_;
    }
    for (const Known& known : alive) wait_for(known.context);
  }
  if (driver.PrimaryCtxGetState == nullptr || driver.PrimaryCtxRetain == nullptr ||
      driver.PrimaryCtxRelease == nullptr) {
    return;
  }
  for (int i = 0; i < driver.device_count; ++i) {
    CudaDevice device = 0;
    unsigned flags = 0;
    int active = 0;
    if (driver.DeviceGet(&device, i) != kSuccess ||
        driver.PrimaryCtxGetState(device, &flags, &active) != kSuccess || active == 0) {
      continue;
    }
    Context primary = nullptr;
    if (driver.PrimaryCtxRetain(&primary, device) != kSuccess) continue;
    wait_for(primary);
    driver.PrimaryCtxRelease(device);
  }
}

}  // namespace libtrace::cupti
