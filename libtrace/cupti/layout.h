// Where fields lie in CUPTI's activity records. NVIDIA only ever appends to them: a field keeps its
// offset in every later version of a record, so that records of CUDA 11.0 to 13 are read by one
// table, and a field that came late is asked for by API version alone. Types: 32 bits unless said.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "libtrace/cupti/abi.h"

namespace libtrace::cupti::layout {

using Offset = std::size_t;

inline constexpr Offset kKind = 0;

namespace kernel {
inline constexpr Offset kRegisters = 6;          // 16 bits
inline constexpr Offset kStart = 16, kEnd = 24;  // 64 bits, ns
inline constexpr Offset kDevice = 40, kContext = 44, kStream = 48;
inline constexpr Offset kGrid = 52, kBlock = 64;  // x, y, z each
inline constexpr Offset kStaticShared = 76, kDynamicShared = 80;
inline constexpr Offset kCorrelation = 92;
inline constexpr Offset kName = 104;                         // const char*
inline constexpr Offset kQueued = 120, kSubmitted = 128;     // 64 bits, ns
inline constexpr Offset kGraphNode = 144;                    // 64 bits, 11.0
inline constexpr Offset kGraph = 156;                        // 11.1
inline constexpr Offset kChannel = 168, kChannelType = 172;  // 11.6
}  // namespace kernel

namespace memcpy {
inline constexpr Offset kCopyKind = 4, kSourceKind = 5, kTargetKind = 6, kFlags = 7;  // 8 bits
inline constexpr Offset kBytes = 8, kStart = 16, kEnd = 24;                           // 64 bits
inline constexpr Offset kDevice = 32, kContext = 36, kStream = 40, kCorrelation = 44;
inline constexpr Offset kGraphNode = 64;  // 64 bits, 11.0
inline constexpr Offset kGraph = 72;      // 11.1
inline constexpr Offset kChannel = 76;    // 11.6
}  // namespace memcpy

namespace peer {  // MEMCPY2; the head is memcpy's
inline constexpr Offset kSourceDevice = 44, kSourceContext = 48, kTargetDevice = 52,
                        kTargetContext = 56, kCorrelation = 60;
inline constexpr Offset kGraphNode = 72;  // 64 bits, 11.0
inline constexpr Offset kGraph = 80;      // 11.1
}  // namespace peer

namespace memset {
inline constexpr Offset kValue = 4;
inline constexpr Offset kBytes = 8, kStart = 16, kEnd = 24;  // 64 bits
inline constexpr Offset kDevice = 32, kContext = 36, kStream = 40, kCorrelation = 44;
inline constexpr Offset kFlags = 48, kMemoryKind = 50;  // 16 bits
inline constexpr Offset kGraphNode = 64;                // 64 bits, 11.0
inline constexpr Offset kGraph = 72;                    // 11.1
}  // namespace memset

namespace call {  // DRIVER, RUNTIME
inline constexpr Offset kCbid = 4;
inline constexpr Offset kStart = 8, kEnd = 16;  // 64 bits
inline constexpr Offset kProcess = 24, kThread = 28, kCorrelation = 32, kReturn = 36;
}  // namespace call

namespace sync {
inline constexpr Offset kType = 4;
inline constexpr Offset kStart = 8, kEnd = 16;  // 64 bits
inline constexpr Offset kCorrelation = 24, kContext = 28, kStream = 32, kEvent = 36;
}  // namespace sync

namespace cuda_event {
inline constexpr Offset kCorrelation = 4, kContext = 8, kStream = 12, kEvent = 16;
}  // namespace cuda_event

namespace overhead {
inline constexpr Offset kOverheadKind = 4, kObjectKind = 8, kProcess = 12, kThread = 16;
inline constexpr Offset kStart = 24, kEnd = 32;  // 64 bits
}  // namespace overhead

namespace memory {  // MEMORY2
inline constexpr Offset kOperation = 4, kMemoryKind = 8, kCorrelation = 12;
inline constexpr Offset kAddress = 16, kBytes = 24, kTime = 32;  // 64 bits
inline constexpr Offset kProcess = 48, kDevice = 52, kContext = 56, kStream = 60;
inline constexpr Offset kName = 64;  // const char*
}  // namespace memory

namespace graph {  // GRAPH_TRACE
inline constexpr Offset kCorrelation = 4;
inline constexpr Offset kStart = 8, kEnd = 16;  // 64 bits
inline constexpr Offset kDevice = 24, kGraph = 28, kContext = 32, kStream = 36;
}  // namespace graph

namespace context {
inline constexpr Offset kContext = 4, kDevice = 8;
}  // namespace context

// Smallest size of a record that we read to the end of; 0: a kind that is passed over. Records are
// stepped through by the library itself, which knows its sizes.
constexpr std::size_t least_size(ActivityKind kind) noexcept {
  switch (kind) {
    case ActivityKind::kKernel:
    case ActivityKind::kConcurrentKernel:
      return 144;
    case ActivityKind::kMemcpy:
    case ActivityKind::kMemset:
      return 64;
    case ActivityKind::kMemcpy2:
      return 72;
    case ActivityKind::kDriver:
    case ActivityKind::kRuntime:
    case ActivityKind::kSynchronization:
    case ActivityKind::kOverhead:
      return 40;
    case ActivityKind::kCudaEvent:
      return 20;
    case ActivityKind::kMemory2:
      return 72;
    case ActivityKind::kGraphTrace:
      return 40;
    case ActivityKind::kContext:
      return 12;
    default:
      return 0;
  }
}

// Records may stand at any address that CUPTI likes.
template <class T>
T read(const std::uint8_t* record, Offset at) noexcept {
  T value;
  std::memcpy(reinterpret_cast<unsigned char*>(&value), record + at, sizeof value);
  return value;
}

}  // namespace libtrace::cupti::layout
