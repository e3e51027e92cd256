// A libcuda.so.1 without a GPU: devices, versions and errors as a test sets them, contexts that
// only count. Settings: `fake_cuda_set(name, value)`, or the environment's FAKE_CUDA_<NAME>.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>

namespace {

std::mutex mutex;
std::map<std::string, int> settings = {
    {"version", 13000}, {"devices", 1}, {"init", 0}, {"primary", 0}, {"gone", 0}};
std::atomic<bool> initialised{false};
std::atomic<int> synchronised{0};
thread_local void* current = nullptr;
thread_local void* below = nullptr;

int setting(const char* name) {
  std::string variable = std::string("FAKE_CUDA_") + name;
  for (char& c : variable) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 32);
  }
  if (const char* const value = std::getenv(variable.c_str())) return std::atoi(value);
  const std::lock_guard lock(mutex);
  return settings[name];
}

// What the driver answers to anything before cuInit, and after its own end.
int state() {
  if (setting("gone") != 0) return 4;
  return initialised ? 0 : 3;
}

}  // namespace

#define EXPORT extern "C" __attribute__((visibility("default")))

EXPORT void fake_cuda_set(const char* name, int value) {
  const std::lock_guard lock(mutex);
  settings[name] = value;
}
EXPORT int fake_cuda_initialised() { return initialised ? 1 : 0; }
EXPORT int fake_cuda_synchronised() { return synchronised; }

EXPORT int cuInit(unsigned) {
  const int result = setting("init");
  if (result == 0) initialised = true;
  return result;
}
EXPORT int cuDriverGetVersion(int* version) {
  *version = setting("version");
  return 0;
}
EXPORT int cuDeviceGetCount(int* count) {
  *count = setting("devices");
  return state();
}
EXPORT int cuDeviceGet(int* device, int ordinal) {
  if (ordinal < 0 || ordinal >= setting("devices")) return 101;
  *device = ordinal;
  return state();
}
EXPORT int cuDeviceGetName(char* name, int size, int device) {
  std::snprintf(name, static_cast<std::size_t>(size), "Fake GPU %d", device);
  return state();
}
EXPORT int cuDeviceTotalMem_v2(std::size_t* bytes, int) {
  *bytes = std::size_t{80} << 30;
  return state();
}
// An H100's numbers.
EXPORT int cuDeviceGetAttribute(int* value, int attribute, int) {
  switch (attribute) {
    case 1:
      *value = 1024;
      break;
    case 8:
      *value = 49152;
      break;
    case 10:
      *value = 32;
      break;
    case 12:
      *value = 65536;
      break;
    case 16:
      *value = 132;
      break;
    case 39:
      *value = 2048;
      break;
    case 75:
      *value = 9;
      break;
    case 76:
      *value = 0;
      break;
    case 81:
      *value = 233472;
      break;
    case 82:
      *value = 65536;
      break;
    case 97:
      *value = 232448;
      break;
    case 106:
      *value = 32;
      break;
    case 111:
      *value = 1024;
      break;
    default:
      return 1;
  }
  return state();
}
EXPORT int cuCtxGetCurrent(void** context) {
  *context = current;
  return state();
}
EXPORT int cuCtxPushCurrent_v2(void* context) {
  below = current;
  current = context;
  return state();
}
EXPORT int cuCtxPopCurrent_v2(void** context) {
  *context = current;
  current = below;
  return state();
}
EXPORT int cuCtxSynchronize() {
  ++synchronised;
  return state();
}
EXPORT int cuDevicePrimaryCtxGetState(int device, unsigned* flags, int* active) {
  *flags = 0;
  *active = device < setting("primary") ? 1 : 0;  // of that many devices
  return state();
}
EXPORT int cuDevicePrimaryCtxRetain(void** context, int device) {
  static char contexts[64];
  *context = &contexts[device % 64];
  return state();
}
EXPORT int cuDevicePrimaryCtxRelease_v2(int) { return state(); }
