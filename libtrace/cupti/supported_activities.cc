#include "libtrace/supported_activities.h"

#include <dlfcn.h>

#include "libtrace/cupti/loader.h"

namespace libtrace {

Activities supported_activities() noexcept {
  void* const driver = dlopen(cupti::kCudaLibrary, RTLD_LAZY | RTLD_LOCAL);
  return driver == nullptr ? Activities::cpu() : Activities::cpu() | Activities::cuda();
}

}  // namespace libtrace
