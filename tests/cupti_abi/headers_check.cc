// Compiled once for each release, with its headers and a file STRUCTS: a line `FAMILY(Struct)` for
// each record type that the header declares.
#include <cupti.h>

#include <cstddef>
#include <cstdio>

#include "libtrace/cupti/abi.h"
#include "libtrace/cupti/layout.h"
#include "tests/fakes/fake_records.h"

namespace cupti = libtrace::cupti;
namespace layout = libtrace::cupti::layout;
using cupti::ActivityKind;

namespace {

int checks = 0;

// A field that this version of the record has lies where our table says.
#define FIELD(offset, ...)                                                            \
  [] {                                                                                \
    if constexpr (requires(T t) { t.__VA_ARGS__; }) {                                 \
      static_assert(offsetof(T, __VA_ARGS__) == (offset), #__VA_ARGS__ " has moved"); \
      ++checks;                                                                       \
    }                                                                                 \
  }()

template <class T>
void check_kernel() {
  namespace at = layout::kernel;
  FIELD(at::kRegisters, registersPerThread);
  FIELD(at::kStart, start);
  FIELD(at::kEnd, end);
  FIELD(at::kDevice, deviceId);
  FIELD(at::kContext, contextId);
  FIELD(at::kStream, streamId);
  FIELD(at::kGrid, gridX);
  FIELD(at::kGrid + 4, gridY);
  FIELD(at::kGrid + 8, gridZ);
  FIELD(at::kBlock, blockX);
  FIELD(at::kBlock + 4, blockY);
  FIELD(at::kBlock + 8, blockZ);
  FIELD(at::kStaticShared, staticSharedMemory);
  FIELD(at::kDynamicShared, dynamicSharedMemory);
  FIELD(at::kCorrelation, correlationId);
  FIELD(at::kName, name);
  FIELD(at::kQueued, queued);
  FIELD(at::kSubmitted, submitted);
  FIELD(at::kGraphNode, graphNodeId);
  FIELD(at::kGraph, graphId);
  FIELD(at::kChannel, channelID);
  FIELD(at::kChannelType, channelType);
}

template <class T>
void check_memcpy() {
  namespace at = layout::memcpy;
  FIELD(at::kCopyKind, copyKind);
  FIELD(at::kSourceKind, srcKind);
  FIELD(at::kTargetKind, dstKind);
  FIELD(at::kFlags, flags);
  FIELD(at::kBytes, bytes);
  FIELD(at::kStart, start);
  FIELD(at::kEnd, end);
  FIELD(at::kDevice, deviceId);
  FIELD(at::kContext, contextId);
  FIELD(at::kStream, streamId);
  FIELD(at::kCorrelation, correlationId);
  FIELD(at::kGraphNode, graphNodeId);
  FIELD(at::kGraph, graphId);
  FIELD(at::kChannel, channelID);
}

template <class T>
void check_peer() {
  namespace at = layout::memcpy;
  FIELD(at::kCopyKind, copyKind);
  FIELD(at::kSourceKind, srcKind);
  FIELD(at::kTargetKind, dstKind);
  FIELD(at::kBytes, bytes);
  FIELD(at::kStart, start);
  FIELD(at::kEnd, end);
  FIELD(at::kDevice, deviceId);
  FIELD(at::kContext, contextId);
  FIELD(at::kStream, streamId);
  FIELD(layout::peer::kSourceDevice, srcDeviceId);
  FIELD(layout::peer::kSourceContext, srcContextId);
  FIELD(layout::peer::kTargetDevice, dstDeviceId);
  FIELD(layout::peer::kTargetContext, dstContextId);
  FIELD(layout::peer::kCorrelation, correlationId);
  FIELD(layout::peer::kGraphNode, graphNodeId);
  FIELD(layout::peer::kGraph, graphId);
}

template <class T>
void check_memset() {
  namespace at = layout::memset;
  FIELD(at::kValue, value);
  FIELD(at::kBytes, bytes);
  FIELD(at::kStart, start);
  FIELD(at::kEnd, end);
  FIELD(at::kDevice, deviceId);
  FIELD(at::kContext, contextId);
  FIELD(at::kStream, streamId);
  FIELD(at::kCorrelation, correlationId);
  FIELD(at::kFlags, flags);
  FIELD(at::kMemoryKind, memoryKind);
  FIELD(at::kGraphNode, graphNodeId);
  FIELD(at::kGraph, graphId);
}

template <class T>
void check_call() {
  namespace at = layout::call;
  FIELD(at::kCbid, cbid);
  FIELD(at::kStart, start);
  FIELD(at::kEnd, end);
  FIELD(at::kProcess, processId);
  FIELD(at::kThread, threadId);
  FIELD(at::kCorrelation, correlationId);
  FIELD(at::kReturn, returnValue);
}

template <class T>
void check_sync() {
  namespace at = layout::sync;
  FIELD(at::kType, type);
  FIELD(at::kStart, start);
  FIELD(at::kEnd, end);
  FIELD(at::kCorrelation, correlationId);
  FIELD(at::kContext, contextId);
  FIELD(at::kStream, streamId);
  FIELD(at::kEvent, cudaEventId);
}

template <class T>
void check_cuda_event() {
  namespace at = layout::cuda_event;
  FIELD(at::kCorrelation, correlationId);
  FIELD(at::kContext, contextId);
  FIELD(at::kStream, streamId);
  FIELD(at::kEvent, eventId);
}

template <class T>
void check_overhead() {
  namespace at = layout::overhead;
  FIELD(at::kOverheadKind, overheadKind);
  FIELD(at::kObjectKind, objectKind);
  FIELD(at::kProcess, objectId.pt.processId);
  FIELD(at::kThread, objectId.pt.threadId);
  FIELD(at::kStart, start);
  FIELD(at::kEnd, end);
}

template <class T>
void check_memory() {
  namespace at = layout::memory;
  FIELD(at::kOperation, memoryOperationType);
  FIELD(at::kMemoryKind, memoryKind);
  FIELD(at::kCorrelation, correlationId);
  FIELD(at::kAddress, address);
  FIELD(at::kBytes, bytes);
  FIELD(at::kTime, timestamp);
  FIELD(at::kProcess, processId);
  FIELD(at::kDevice, deviceId);
  FIELD(at::kContext, contextId);
  FIELD(at::kStream, streamId);
  FIELD(at::kName, name);
}

template <class T>
void check_graph() {
  namespace at = layout::graph;
  FIELD(at::kCorrelation, correlationId);
  FIELD(at::kStart, start);
  FIELD(at::kEnd, end);
  FIELD(at::kDevice, deviceId);
  FIELD(at::kGraph, graphId);
  FIELD(at::kContext, contextId);
  FIELD(at::kStream, streamId);
}

template <class T>
void check_context() {
  FIELD(layout::context::kContext, contextId);
  FIELD(layout::context::kDevice, deviceId);
}

template <class T>
void check_subscriber() {
  FIELD(offsetof(cupti::SubscriberParams, struct_size), structSize);
  FIELD(offsetof(cupti::SubscriberParams, name), subscriberName);
  FIELD(offsetof(cupti::SubscriberParams, old_name), oldSubscriberName);
  FIELD(offsetof(cupti::SubscriberParams, old_name_size), oldSubscriberSize);
  static_assert(sizeof(T) >= sizeof(cupti::SubscriberParams));  // its size tells how much is filled
}

// The newest version of a record is as long as the fake makes it, and none is shorter than what
// is read of it unasked.
#define SIZES(T, kind)                                                \
  static_assert(sizeof(T) >= layout::least_size(ActivityKind::kind)); \
  newest_##kind = sizeof(T) > newest_##kind ? sizeof(T) : newest_##kind
std::size_t newest_kConcurrentKernel, newest_kMemcpy, newest_kMemcpy2, newest_kMemset,
    newest_kRuntime, newest_kSynchronization, newest_kCudaEvent, newest_kOverhead, newest_kMemory2,
    newest_kGraphTrace, newest_kContext;

bool has_size(const char* name, std::size_t newest, ActivityKind kind) {
  const std::size_t known = traceglass_fakes::record_size(kind, CUPTI_API_VERSION);
  if (newest == known || newest == 0) return true;
  std::printf("%s: %zu bytes in the header, %zu in fake_records.h\n", name, newest, known);
  return false;
}

#define SAME(ours, theirs) static_assert(static_cast<long>(ours) == static_cast<long>(theirs))
SAME(ActivityKind::kMemcpy, CUPTI_ACTIVITY_KIND_MEMCPY);
SAME(ActivityKind::kMemset, CUPTI_ACTIVITY_KIND_MEMSET);
SAME(ActivityKind::kKernel, CUPTI_ACTIVITY_KIND_KERNEL);
SAME(ActivityKind::kDriver, CUPTI_ACTIVITY_KIND_DRIVER);
SAME(ActivityKind::kRuntime, CUPTI_ACTIVITY_KIND_RUNTIME);
SAME(ActivityKind::kContext, CUPTI_ACTIVITY_KIND_CONTEXT);
SAME(ActivityKind::kConcurrentKernel, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
SAME(ActivityKind::kOverhead, CUPTI_ACTIVITY_KIND_OVERHEAD);
SAME(ActivityKind::kMemcpy2, CUPTI_ACTIVITY_KIND_MEMCPY2);
SAME(ActivityKind::kCudaEvent, CUPTI_ACTIVITY_KIND_CUDA_EVENT);
SAME(ActivityKind::kSynchronization, CUPTI_ACTIVITY_KIND_SYNCHRONIZATION);
SAME(ActivityKind::kExternalCorrelation, CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION);
SAME(ActivityKind::kMemory2, CUPTI_ACTIVITY_KIND_MEMORY2);
SAME(ActivityKind::kMemoryPool, CUPTI_ACTIVITY_KIND_MEMORY_POOL);
SAME(ActivityKind::kGraphTrace, CUPTI_ACTIVITY_KIND_GRAPH_TRACE);

SAME(cupti::kSuccess, CUPTI_SUCCESS);
SAME(cupti::error::kInvalidParameter, CUPTI_ERROR_INVALID_PARAMETER);
SAME(cupti::error::kInvalidDevice, CUPTI_ERROR_INVALID_DEVICE);
SAME(cupti::error::kInvalidOperation, CUPTI_ERROR_INVALID_OPERATION);
SAME(cupti::error::kOutOfMemory, CUPTI_ERROR_OUT_OF_MEMORY);
SAME(cupti::error::kMaxLimitReached, CUPTI_ERROR_MAX_LIMIT_REACHED);
SAME(cupti::error::kNotInitialized, CUPTI_ERROR_NOT_INITIALIZED);
SAME(cupti::error::kInvalidKind, CUPTI_ERROR_INVALID_KIND);
SAME(cupti::error::kNotSupported, CUPTI_ERROR_NOT_SUPPORTED);
SAME(cupti::error::kInsufficientPrivileges, CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
SAME(cupti::error::kMultipleSubscribers, CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
SAME(cupti::error::kVirtualizedInsufficientPrivileges,
     CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES);
SAME(cupti::error::kUnknown, CUPTI_ERROR_UNKNOWN);
#if CUPTI_API_VERSION >= 19
SAME(cupti::error::kConfidentialComputing, CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED);
#endif

SAME(cupti::Attribute::kZeroedOutBuffer, CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER);
#if CUPTI_API_VERSION >= 21
SAME(cupti::Attribute::kPerThreadBuffer, CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER);
#endif
SAME(cupti::kThreadIdSystem, CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
SAME(cupti::kFlushForced, CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
SAME(cupti::kDomainDriver, CUPTI_CB_DOMAIN_DRIVER_API);
SAME(cupti::kDomainRuntime, CUPTI_CB_DOMAIN_RUNTIME_API);
SAME(cupti::kDomainResource, CUPTI_CB_DOMAIN_RESOURCE);
SAME(cupti::kResourceContextCreated, CUPTI_CBID_RESOURCE_CONTEXT_CREATED);
SAME(cupti::kResourceContextDestroyStarting, CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING);
SAME(cupti::kRuntimeGetDevice, CUPTI_RUNTIME_TRACE_CBID_cudaGetDevice_v3020);
SAME(cupti::kDriverCtxGetCurrent, CUPTI_DRIVER_TRACE_CBID_cuCtxGetCurrent);
SAME(cupti::kDriverPrimaryCtxGetState, CUPTI_DRIVER_TRACE_CBID_cuDevicePrimaryCtxGetState);
#if CUPTI_API_VERSION >= 19
SAME(cupti::kDriverKernelGetAttribute, CUPTI_DRIVER_TRACE_CBID_cuKernelGetAttribute);
#endif
SAME(offsetof(cupti::ResourceData, context), offsetof(CUpti_ResourceData, context));
SAME(sizeof(cupti::ResourceData), sizeof(CUpti_ResourceData));

SAME(cupti::cuda_error::kDeinitialized, CUDA_ERROR_DEINITIALIZED);
SAME(cupti::cuda_error::kStubLibrary, CUDA_ERROR_STUB_LIBRARY);
SAME(cupti::cuda_error::kNoDevice, CUDA_ERROR_NO_DEVICE);
SAME(cupti::cuda_error::kDriverMismatch, CUDA_ERROR_SYSTEM_DRIVER_MISMATCH);
SAME(cupti::cuda_error::kNotSupportedOnDevice, CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE);
using Attribute = cupti::DeviceAttribute;
SAME(Attribute::kMaxThreadsPerBlock, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
SAME(Attribute::kSharedMemPerBlock, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
SAME(Attribute::kWarpSize, CU_DEVICE_ATTRIBUTE_WARP_SIZE);
SAME(Attribute::kRegsPerBlock, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK);
SAME(Attribute::kNumSms, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
SAME(Attribute::kMaxThreadsPerSm, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
SAME(Attribute::kComputeMajor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
SAME(Attribute::kComputeMinor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
SAME(Attribute::kSharedMemPerSm, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
SAME(Attribute::kRegsPerSm, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR);
SAME(Attribute::kSharedMemPerBlockOptin, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
SAME(Attribute::kMaxBlocksPerSm, CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR);
SAME(Attribute::kReservedSharedMemPerBlock, CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK);

}  // namespace

int main() {
#define KERNEL(T)    \
  check_kernel<T>(); \
  SIZES(T, kConcurrentKernel);
#define MEMCPY(T)    \
  check_memcpy<T>(); \
  SIZES(T, kMemcpy);
#define PEER(T)    \
  check_peer<T>(); \
  SIZES(T, kMemcpy2);
#define MEMSET(T)    \
  check_memset<T>(); \
  SIZES(T, kMemset);
#define CALL(T)    \
  check_call<T>(); \
  SIZES(T, kRuntime);
#define SYNC(T)    \
  check_sync<T>(); \
  SIZES(T, kSynchronization);
#define CUDA_EVENT(T)    \
  check_cuda_event<T>(); \
  SIZES(T, kCudaEvent);
#define OVERHEAD(T)    \
  check_overhead<T>(); \
  SIZES(T, kOverhead);
#define MEMORY(T)    \
  check_memory<T>(); \
  SIZES(T, kMemory2);
#define GRAPH(T)    \
  check_graph<T>(); \
  SIZES(T, kGraphTrace);
#define CONTEXT(T)    \
  check_context<T>(); \
  SIZES(T, kContext);
#define SUBSCRIBER(T) check_subscriber<T>();
#include STRUCTS
  bool good = has_size("kernel", newest_kConcurrentKernel, ActivityKind::kConcurrentKernel);
  good &= has_size("memcpy", newest_kMemcpy, ActivityKind::kMemcpy);
  good &= has_size("peer", newest_kMemcpy2, ActivityKind::kMemcpy2);
  good &= has_size("memset", newest_kMemset, ActivityKind::kMemset);
  good &= has_size("call", newest_kRuntime, ActivityKind::kRuntime);
  good &= has_size("sync", newest_kSynchronization, ActivityKind::kSynchronization);
  good &= has_size("cuda event", newest_kCudaEvent, ActivityKind::kCudaEvent);
  good &= has_size("overhead", newest_kOverhead, ActivityKind::kOverhead);
  good &= has_size("memory", newest_kMemory2, ActivityKind::kMemory2);
  good &= has_size("graph", newest_kGraphTrace, ActivityKind::kGraphTrace);
  good &= has_size("context", newest_kContext, ActivityKind::kContext);
  std::printf("API version %d: %d offsets\n", CUPTI_API_VERSION, checks);
  return good ? 0 : 1;
}
