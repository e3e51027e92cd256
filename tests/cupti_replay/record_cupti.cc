// libcupti_record.so: CUPTI to whoever opens it, the library in $LIBTRACE_CUPTI_REAL behind it.
// What passes through the completed buffers goes to $LIBTRACE_CUPTI_RECORD when the subscriber
// leaves.
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <mutex>

#include "libtrace/cupti/layout.h"
#include "tests/cupti_replay/replay_file.h"

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

using namespace libtrace::cupti;
using cupti_replay::Block;
using cupti_replay::ReplayFile;

constexpr Result kNotImplemented = 11;

struct Recorder {
  CuptiApi real;
  std::mutex mutex;  // never held across a call of the client's
  ReplayFile file;
  BufferCompletedFunc completed = nullptr;

  Recorder() {
    const char* const path = std::getenv("LIBTRACE_CUPTI_REAL");
    void* const library = dlopen(path != nullptr ? path : "libcupti.so", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      std::fprintf(stderr, "libcupti_record: %s\n", dlerror());
      return;
    }
    find_functions(library, real);
  }

  void note(std::uint8_t* buffer, std::size_t valid) {
    Block block;
    block.bytes.assign(buffer, buffer + valid);
    std::uint8_t* record = nullptr;
    std::uint8_t* before = nullptr;
    const auto ends = [&](const std::uint8_t* end) {
      if (before == nullptr) return;
      const auto kind = layout::read<std::uint32_t>(before, layout::kKind);
      const auto size = static_cast<std::size_t>(end - before);
      // The last record of a buffer may be followed by padding: any other tells its true size.
      const auto [it, fresh] = file.sizes.try_emplace(kind, static_cast<std::uint32_t>(size));
      if (!fresh && size < it->second) it->second = static_cast<std::uint32_t>(size);
      note_record(block, buffer, before, kind, size);
    };
    while (real.ActivityGetNextRecord(buffer, valid, &record) == kSuccess) {
      ends(record);
      before = record;
    }
    ends(buffer + valid);
    file.blocks.push_back(std::move(block));
  }

  void note_record(Block& block, const std::uint8_t* buffer, const std::uint8_t* record,
                   std::uint32_t kind, std::size_t size) {
    for (const std::uint32_t at : cupti_replay::pointers_of(kind, size)) {
      const auto* const text = layout::read<const char*>(record, at);
      if (text == nullptr) continue;
      block.pointers.emplace_back(static_cast<std::uint32_t>(record - buffer) + at,
                                  file.intern(text));
    }
    const bool driver = kind == static_cast<std::uint32_t>(ActivityKind::kDriver);
    if (!driver && kind != static_cast<std::uint32_t>(ActivityKind::kRuntime)) return;
    const std::uint32_t domain = driver ? kDomainDriver : kDomainRuntime;
    const auto cbid = layout::read<std::uint32_t>(record, layout::call::kCbid);
    const char* name = nullptr;
    if (real.GetCallbackName(domain, cbid, &name) == kSuccess && name != nullptr) {
      file.callbacks[{domain, cbid}] = file.intern(name);
    }
  }

  void write() {
    const char* const path = std::getenv("LIBTRACE_CUPTI_RECORD");
    if (path == nullptr) return;
    const std::lock_guard lock(mutex);
    file.version = real.version;
    std::ofstream(path, std::ios::binary) << to_bytes(file);
  }
};

Recorder& recorder() {
  static auto* const r = new Recorder;
  return *r;
}

void on_completed(Context context, std::uint32_t stream, std::uint8_t* buffer, std::size_t size,
                  std::size_t valid) {
  Recorder& r = recorder();
  {
    const std::lock_guard lock(r.mutex);
    if (buffer != nullptr && valid != 0) r.note(buffer, valid);
  }
  r.completed(context, stream, buffer, size, valid);
}

}  // namespace

// Passed on as they are; what the real library does not have is not implemented.
#define PASS(name, parameters, arguments)                                    \
  EXPORT Result cupti##name parameters {                                     \
    Recorder& r = recorder();                                                \
    return r.real.name == nullptr ? kNotImplemented : r.real.name arguments; \
  }
PASS(GetResultString, (Result code, const char** text), (code, text))
PASS(GetCallbackName, (std::uint32_t domain, std::uint32_t cbid, const char** name),
     (domain, cbid, name))
PASS(GetDeviceId, (Context context, std::uint32_t* id), (context, id))
PASS(GetContextId, (Context context, std::uint32_t* id), (context, id))
PASS(Subscribe, (Subscriber * s, CallbackFunc f, void* data), (s, f, data))
PASS(EnableCallback, (std::uint32_t on, Subscriber s, std::uint32_t domain, std::uint32_t cbid),
     (on, s, domain, cbid))
PASS(ActivityEnable, (ActivityKind kind), (kind))
PASS(ActivityDisable, (ActivityKind kind), (kind))
PASS(ActivityFlushAll, (std::uint32_t flag), (flag))
PASS(ActivityGetNextRecord, (std::uint8_t* buffer, std::size_t valid, std::uint8_t** record),
     (buffer, valid, record))
PASS(ActivityGetNumDroppedRecords, (Context context, std::uint32_t stream, std::size_t* count),
     (context, stream, count))
PASS(ActivitySetAttribute, (Attribute attribute, std::size_t* size, void* value),
     (attribute, size, value))
PASS(SetThreadIdType, (std::uint32_t type), (type))
PASS(ActivityFlushPeriod, (std::uint32_t ms), (ms))
PASS(ActivityRegisterTimestampCallback, (TimestampFunc f), (f))
PASS(ActivityEnableRuntimeApi, (std::uint32_t cbid, std::uint8_t on), (cbid, on))
PASS(ActivityEnableDriverApi, (std::uint32_t cbid, std::uint8_t on), (cbid, on))

EXPORT Result cuptiGetVersion(std::uint32_t* version) {
  Recorder& r = recorder();
  if (r.real.GetVersion == nullptr) return kNotImplemented;
  const Result result = r.real.GetVersion(version);
  r.real.version = *version;
  return result;
}
EXPORT Result cuptiSubscribe_v2(Subscriber* s, CallbackFunc f, void* data,
                                SubscriberParams* params) {
  const CuptiApi& real = recorder().real;
  return real.Subscribe_v2 != nullptr ? real.Subscribe_v2(s, f, data, params)
                                      : cuptiSubscribe(s, f, data);
}
EXPORT Result cuptiActivityRegisterCallbacks(BufferRequestedFunc requested,
                                             BufferCompletedFunc completed) {
  Recorder& r = recorder();
  {
    const std::lock_guard lock(r.mutex);
    r.completed = completed;
  }
  return r.real.ActivityRegisterCallbacks(requested, on_completed);
}
EXPORT Result cuptiUnsubscribe(Subscriber s) {
  Recorder& r = recorder();
  const Result result = r.real.Unsubscribe(s);
  r.write();
  return result;
}
