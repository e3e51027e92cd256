#include "libtrace/cupti/driver.h"

#include "libtrace/cupti/function_finder.h"

namespace libtrace::cupti {

std::string find_functions(void* library, DriverApi& driver) {
  FunctionFinder find(library);
  find.required("cuInit", driver.Init);
  find.required("cuDriverGetVersion", driver.DriverGetVersion);
  find.required("cuDeviceGetCount", driver.DeviceGetCount);
  find.required("cuDeviceGet", driver.DeviceGet);
  find.required("cuDeviceGetName", driver.DeviceGetName);
  find.required("cuDeviceGetAttribute", driver.DeviceGetAttribute);
  find.required("cuDeviceTotalMem_v2", driver.DeviceTotalMem);

  find.optional("cuCtxGetCurrent", driver.CtxGetCurrent);
  find.optional("cuCtxPushCurrent_v2", driver.CtxPushCurrent);
  find.optional("cuCtxPopCurrent_v2", driver.CtxPopCurrent);
  find.optional("cuCtxSynchronize", driver.CtxSynchronize);
  find.optional("cuDevicePrimaryCtxGetState", driver.PrimaryCtxGetState);
  find.optional("cuDevicePrimaryCtxRetain", driver.PrimaryCtxRetain);
  find.optional("cuDevicePrimaryCtxRelease_v2", driver.PrimaryCtxRelease);
  return find.missing();
}

}  // namespace libtrace::cupti
