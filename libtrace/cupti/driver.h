// The CUDA driver's function table: whether there is a device, what it is, and waiting for it.
// Plain data; the optional ones may be nullptr.
#pragma once

#include <cstddef>
#include <string>

#include "libtrace/cupti/abi.h"

namespace libtrace::cupti {

struct DriverApi {
  int version = 0;  // 12090: CUDA 12.9
  int device_count = 0;

  Result (*Init)(unsigned flags) = nullptr;
  Result (*DriverGetVersion)(int*) = nullptr;
  Result (*DeviceGetCount)(int*) = nullptr;
  Result (*DeviceGet)(CudaDevice*, int ordinal) = nullptr;
  Result (*DeviceGetName)(char*, int size, CudaDevice) = nullptr;
  Result (*DeviceGetAttribute)(int*, DeviceAttribute, CudaDevice) = nullptr;
  Result (*DeviceTotalMem)(std::size_t*, CudaDevice) = nullptr;

  // ---- optional: without them the window closes without waiting for the device ----------------
  Result (*CtxGetCurrent)(CudaContext*) = nullptr;
  Result (*CtxPushCurrent)(CudaContext) = nullptr;
  Result (*CtxPopCurrent)(CudaContext*) = nullptr;
  Result (*CtxSynchronize)() = nullptr;
  Result (*PrimaryCtxGetState)(CudaDevice, unsigned* flags, int* active) = nullptr;
  Result (*PrimaryCtxRetain)(CudaContext*, CudaDevice) = nullptr;
  Result (*PrimaryCtxRelease)(CudaDevice) = nullptr;
};

// Fills the table from an open library. On failure the names of required functions it lacks.
std::string find_functions(void* library, DriverApi& driver);

}  // namespace libtrace::cupti
