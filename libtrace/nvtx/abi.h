// What NVTX 3 and an injection library agree on: the layout of its tables and of an event's
// attributes, in our own words. Stable since NVTX 3.0; tests compare it with NVIDIA's headers
// where those are installed.
#pragma once

#include <cstddef>
#include <cstdint>

namespace libtrace::nvtx {

using FunctionPointer = void (*)();

// The program's function pointers, one slot a callback id; a slot may be null.
using FunctionTable = FunctionPointer**;

struct ExportTableCallbacks {
  std::size_t struct_size;
  // `size` is the number of ids, the invalid one included. 0: no such module.
  int (*module_function_table)(int module, FunctionTable* table, unsigned int* size);
};

// What the program gives us: a table by its number, null when it has none such.
using GetExportTable = const void* (*)(std::uint32_t id);
inline constexpr std::uint32_t kCallbacksTable = 1;

inline constexpr int kCoreModule = 1, kCore2Module = 5;

enum CoreId : std::uint8_t {
  kMarkEx = 1,
  kMarkA,
  kMarkW,
  kRangeStartEx,
  kRangeStartA,
  kRangeStartW,
  kRangeEnd,
  kRangePushEx,
  kRangePushA,
  kRangePushW,
  kRangePop,
  kNameCategoryA,
  kNameCategoryW,
};

enum Core2Id : std::uint8_t {
  kDomainMarkEx = 1,
  kDomainRangeStartEx,
  kDomainRangeEnd,
  kDomainRangePushEx,
  kDomainRangePop,
  kDomainNameCategoryA = 8,
  kDomainNameCategoryW,
  kDomainRegisterStringA,
  kDomainRegisterStringW,
  kDomainCreateA,
  kDomainCreateW,
};

enum MessageType : std::int32_t { kNoMessage, kAscii, kUnicode, kRegistered };

enum PayloadType : std::int32_t {
  kNoPayload,
  kUint64,
  kInt64,
  kDouble,
  kUint32,
  kInt32,
  kFloat,
};

struct EventAttributes {
  std::uint16_t version;
  std::uint16_t size;  // of what the program knows of this struct
  std::uint32_t category;
  std::int32_t color_type;
  std::uint32_t color;
  std::int32_t payload_type;
  std::int32_t reserved;
  union {
    std::uint64_t u64;
    std::int64_t i64;
    double f64;
    std::uint32_t u32;
    std::int32_t i32;
    float f32;
  } payload;
  std::int32_t message_type;
  union {
    const char* ascii;
    const wchar_t* unicode;
    const void* registered;  // what our DomainRegisterString gave
  } message;
};
static_assert(sizeof(EventAttributes) == 48);
static_assert(offsetof(EventAttributes, payload) == 24);
static_assert(offsetof(EventAttributes, message) == 40);

using RangeId = std::uint64_t;
inline constexpr int kNoPushPopTracking = -2;

}  // namespace libtrace::nvtx
