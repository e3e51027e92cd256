#include "libtrace/record/device_factory.h"

#include <atomic>

namespace libtrace::detail {
namespace {

constinit std::atomic<DeviceFactory> injected{nullptr};

}  // namespace

void set_device_factory(DeviceFactory factory) noexcept { injected.store(factory); }

std::unique_ptr<DeviceSource> new_device_source() {
  if (const DeviceFactory factory = injected.load()) return factory();
#if defined(TRACEGLASS_DEVICES)
  return make_device_source();
#else
  return nullptr;
#endif
}

}  // namespace libtrace::detail
