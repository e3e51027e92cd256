// CUDA contexts as they come and go: which device each is on, and waiting for all of them.
#pragma once

#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "libtrace/cupti/api.h"
#include "libtrace/cupti/driver.h"

namespace libtrace::cupti {

class Contexts {
 public:
  // From CUPTI's resource callback. No call of CUPTI or the driver under the lock.
  void created(Context context, std::uint32_t id, std::uint32_t device);
  void destroyed(Context context);

  [[nodiscard]] std::unordered_map<std::uint32_t, std::uint32_t> device_by_id() const;

  // cuCtxSynchronize for each of these and for every active primary context. Errors are the
  // program's own business: it will meet them at its next call.
  void synchronize(const DriverApi& driver) const;

 private:
  struct Known {
    Context context;
    std::uint32_t id, device;
  };
  mutable std::mutex mutex_;
  std::vector<Known> alive_;
  std::unordered_map<std::uint32_t, std::uint32_t> device_by_id_;  // of dead ones as well
};

}  // namespace libtrace::cupti
