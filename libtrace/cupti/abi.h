// Numbers and signatures of CUPTI's and the CUDA driver's binary interface, as far as we use them.
// Stable since CUDA 11; where something came later, the comment names the first release.
#pragma once

#include <cstddef>
#include <cstdint>

namespace libtrace::cupti {

using Result = int;  // CUptiResult and CUresult
inline constexpr Result kSuccess = 0;

namespace error {  // CUptiResult
inline constexpr Result kInvalidParameter = 1, kInvalidDevice = 2, kInvalidOperation = 7,
                        kOutOfMemory = 8, kMaxLimitReached = 12, kNotCompatible = 14,
                        kNotInitialized = 15, kQueueEmpty = 18, kInvalidKind = 21,
                        kNotSupported = 27, kInsufficientPrivileges = 35, kMultipleSubscribers = 39,
                        kVirtualizedInsufficientPrivileges = 40, kConfidentialComputing = 41,
                        kUnknown = 999;
}
namespace cuda_error {  // CUresult
inline constexpr Result kDeinitialized = 4, kStubLibrary = 34, kNoDevice = 100,
                        kDriverMismatch = 803, kNotSupportedOnDevice = 804;
}

enum class ActivityKind : std::uint32_t {
  kMemcpy = 1,
  kMemset = 2,
  kKernel = 3,  // never enabled: it serialises kernels
  kDriver = 4,
  kRuntime = 5,
  kContext = 9,
  kConcurrentKernel = 10,
  kOverhead = 17,
  kMemcpy2 = 22,  // between two devices
  kCudaEvent = 36,
  kSynchronization = 38,
  kExternalCorrelation = 39,
  kMemory2 = 49,     // 11.1
  kMemoryPool = 50,  // 11.2
  kGraphTrace = 51,  // 11.7
};

enum class Attribute : std::uint32_t {
  kDeviceBufferSize = 0,  // size_t, bytes; before a context is created
  kDeviceBufferPoolLimit = 2,
  kZeroedOutBuffer = 5,  // uint8_t: our buffers are zero when handed over
  kPerThreadBuffer = 9,  // uint8_t, 12.3; before the callbacks are registered
};

inline constexpr std::uint32_t kThreadIdSystem = 1;  // gettid()
inline constexpr std::uint32_t kFlushForced = 1;
inline constexpr std::uint32_t kDomainDriver = 1, kDomainRuntime = 2, kDomainResource = 3;
inline constexpr std::uint32_t kResourceContextCreated = 1, kResourceContextDestroyStarting = 2;

// Callback ids. Numbers are never reused.
inline constexpr std::uint32_t kRuntimeGetDevice = 17;
inline constexpr std::uint32_t kDriverCtxGetCurrent = 304, kDriverPrimaryCtxGetState = 392,
                               kDriverKernelGetAttribute = 686;

// What cuptiGetVersion answers.
namespace api_version {
inline constexpr std::uint32_t k11_0 = 13, k11_1 = 14, k11_2 = 15, k11_6 = 17, k11_8 = 18,
                               k12_0 = 19, k12_3 = 21, k12_4 = 22, k12_5 = 23, k12_6 = 24,
                               k12_8 = 26, k12_9 = 27, k13_0 = 130000, k13_4 = 130400,
                               kNewestTested = 130599;
}

using Subscriber = struct SubscriberOpaque*;
using Context = struct ContextOpaque*;

using CallbackFunc = void (*)(void* userdata, std::uint32_t domain, std::uint32_t cbid,
                              const void* data);
using BufferRequestedFunc = void (*)(std::uint8_t** buffer, std::size_t* size,
                                     std::size_t* max_records);
using BufferCompletedFunc = void (*)(Context context, std::uint32_t stream, std::uint8_t* buffer,
                                     std::size_t size, std::size_t valid);
using TimestampFunc = std::uint64_t (*)();

// The argument of cuptiSubscribe_v2.
struct SubscriberParams {
  std::size_t struct_size = sizeof(SubscriberParams);
  const char* name = nullptr;
  char* old_name = nullptr;  // out: who holds the subscription already
  std::size_t old_name_size = 0;
};
inline constexpr std::size_t kOldSubscriberName = 64;

// What a resource callback points at.
struct ResourceData {
  Context context;
  void* handle;
  void* descriptor;
};

// The driver's.
using CudaDevice = int;
using CudaContext = Context;
enum class DeviceAttribute : int {
  kMaxThreadsPerBlock = 1,
  kSharedMemPerBlock = 8,
  kWarpSize = 10,
  kRegsPerBlock = 12,
  kNumSms = 16,
  kMaxThreadsPerSm = 39,
  kComputeMajor = 75,
  kComputeMinor = 76,
  kSharedMemPerSm = 81,
  kRegsPerSm = 82,
  kSharedMemPerBlockOptin = 97,
  kMaxBlocksPerSm = 106,
  kReservedSharedMemPerBlock = 111,
};

}  // namespace libtrace::cupti
