// CUPTI's function table: what we call of it, found by name. Plain data; nullptr is what this
// release does not have.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "libtrace/cupti/abi.h"

namespace libtrace::cupti {

struct CuptiApi {
  std::uint32_t version = 0;  // what GetVersion answered
  std::string path;           // the file the library came from
  void* library = nullptr;    // dlopen's handle, never closed

  // ---- required ----------------------------------------------------------------------------
  Result (*GetVersion)(std::uint32_t*) = nullptr;
  Result (*GetResultString)(Result, const char**) = nullptr;
  Result (*GetCallbackName)(std::uint32_t domain, std::uint32_t cbid, const char**) = nullptr;
  Result (*GetDeviceId)(Context, std::uint32_t*) = nullptr;
  Result (*GetContextId)(Context, std::uint32_t*) = nullptr;
  Result (*Subscribe)(Subscriber*, CallbackFunc, void*) = nullptr;
  Result (*Unsubscribe)(Subscriber) = nullptr;
  Result (*EnableCallback)(std::uint32_t on, Subscriber, std::uint32_t domain,
                           std::uint32_t cbid) = nullptr;
  Result (*ActivityRegisterCallbacks)(BufferRequestedFunc, BufferCompletedFunc) = nullptr;
  Result (*ActivityEnable)(ActivityKind) = nullptr;
  Result (*ActivityDisable)(ActivityKind) = nullptr;
  Result (*ActivityFlushAll)(std::uint32_t flag) = nullptr;
  Result (*ActivityGetNextRecord)(std::uint8_t* buffer, std::size_t valid,
                                  std::uint8_t** record) = nullptr;
  Result (*ActivityGetNumDroppedRecords)(Context, std::uint32_t stream, std::size_t*) = nullptr;
  Result (*ActivitySetAttribute)(Attribute, std::size_t* size, void* value) = nullptr;

  // ---- optional: without one, its feature is off ---------------------------------------------
  Result (*SetThreadIdType)(std::uint32_t) = nullptr;                                     // 10.2
  Result (*ActivityFlushPeriod)(std::uint32_t ms) = nullptr;                              // 11.1
  Result (*ActivityRegisterTimestampCallback)(TimestampFunc) = nullptr;                   // 11.6
  Result (*ActivityEnableRuntimeApi)(std::uint32_t cbid, std::uint8_t) = nullptr;         // 12.5
  Result (*ActivityEnableDriverApi)(std::uint32_t cbid, std::uint8_t) = nullptr;          // 12.5
  Result (*Subscribe_v2)(Subscriber*, CallbackFunc, void*, SubscriberParams*) = nullptr;  // 13.0
};

// Fills the table from an open library. On failure the names of required functions it lacks.
std::string find_functions(void* library, CuptiApi& api);

}  // namespace libtrace::cupti
