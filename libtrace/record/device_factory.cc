#include "libtrace/record/device_factory.h"

#include <atomic>

namespace libtrace::detail {
namespace {

constinit std::atomic<DeviceFactory> injected{nullptr};

}  // namespace

void set_device_factory(DeviceFactory factory) noexcept { injected.store(factory); }

std::unique_ptr<DeviceSource> new_device_source() {
  if (const DeviceFactory factory = injected.load()) return factory();
  return make_device_source();
}

}  // namespace libtrace::detail
