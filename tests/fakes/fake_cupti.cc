// A libcupti.so that needs no GPU: it keeps subscriber, kinds and attributes, writes records in the
// layout of the release it plays (fake_script.cc says which), and ends the process where the real
// one would crash or where a call comes in an order that NVIDIA forbids.
#include <cstdio>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "tests/fakes/fake_state.h"

#define EXPORT extern "C" __attribute__((visibility("default")))

using namespace traceglass_fakes;
namespace layout = libtrace::cupti::layout;

namespace {

const char* name_of(std::uint32_t domain, std::uint32_t cbid) {
  static const std::map<std::pair<std::uint32_t, std::uint32_t>, const char*> names = {
      {{2, 17}, "cudaGetDevice_v3020"},     {{2, 41}, "cudaMemcpyAsync_v3020"},
      {{2, 51}, "cudaMemsetAsync_v3020"},   {{2, 20}, "cudaMalloc_v3020"},
      {{2, 22}, "cudaFree_v3020"},          {{2, 131}, "cudaStreamSynchronize_v3020"},
      {{2, 135}, "cudaEventRecord_v3020"},  {{2, 165}, "cudaDeviceSynchronize_v3020"},
      {{2, 211}, "cudaLaunchKernel_v7000"}, {{2, 214}, "cudaLaunchKernel_ptsz_v7000"},
      {{2, 311}, "cudaGraphLaunch_v10000"}, {{1, 17}, "cuCtxSynchronize"},
      {{1, 277}, "cuMemcpyHtoDAsync_v2"},   {{1, 304}, "cuCtxGetCurrent"},
      {{1, 307}, "cuLaunchKernel"},
  };
  const auto it = names.find({domain, cbid});
  return it == names.end() ? nullptr : it->second;
}

}  // namespace

EXPORT Result cuptiGetVersion(std::uint32_t* version) {
  *version = state().version;
  return enter("GetVersion");
}
EXPORT Result cuptiGetResultString(Result code, const char** text) {
  *text = code == 39 ? "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED" : "CUPTI_ERROR_OF_THE_FAKE";
  return enter("GetResultString");
}
EXPORT Result cuptiGetCallbackName(std::uint32_t domain, std::uint32_t cbid, const char** name) {
  require_driver("GetCallbackName");
  *name = name_of(domain, cbid);
  return *name == nullptr ? error::kInvalidParameter : kSuccess;
}
EXPORT Result cuptiGetDeviceId(Context context, std::uint32_t* device) {
  *device = reinterpret_cast<const FakeContext*>(context)->device;
  return enter("GetDeviceId");
}
EXPORT Result cuptiGetContextId(Context context, std::uint32_t* id) {
  *id = reinterpret_cast<const FakeContext*>(context)->id;
  return enter("GetContextId");
}

static Result subscribe(const char* name, Subscriber* subscriber, CallbackFunc callback,
                        void* userdata) {
  if (const Result result = enter(name)) return result;
  State& s = state();
  const std::lock_guard lock(s.mutex);
  if (s.subscribed) return error::kMultipleSubscribers;
  s.subscribed = true;
  s.callback = callback;
  s.userdata = userdata;
  *subscriber = reinterpret_cast<Subscriber>(&s);
  return kSuccess;
}
EXPORT Result cuptiSubscribe(Subscriber* subscriber, CallbackFunc callback, void* userdata) {
  return subscribe("Subscribe", subscriber, callback, userdata);
}
EXPORT Result cuptiUnsubscribe(Subscriber) {
  const Result result = enter("Unsubscribe");
  State& s = state();
  std::unique_lock lock(s.mutex);
  if (!s.subscribed) die("unsubscribed twice");
  if (!s.kinds.empty()) die("unsubscribed while kinds are enabled");
  s.change.wait(lock, [&] { return s.calling == 0; });
  s.subscribed = false;
  s.callback = nullptr;
  s.resource_callbacks.clear();
  return result;
}
EXPORT Result cuptiEnableCallback(std::uint32_t on, Subscriber, std::uint32_t domain,
                                  std::uint32_t cbid) {
  const Result result =
      enter("EnableCallback", std::to_string(domain) + "," + std::to_string(cbid));
  State& s = state();
  const std::lock_guard lock(s.mutex);
  if (!s.subscribed) return error::kInvalidParameter;
  if (domain == kDomainResource && on != 0) s.resource_callbacks.insert(cbid);
  return result;
}
EXPORT Result cuptiActivityRegisterCallbacks(BufferRequestedFunc requested,
                                             BufferCompletedFunc completed) {
  if (const Result result = enter("ActivityRegisterCallbacks")) return result;
  State& s = state();
  const std::lock_guard lock(s.mutex);
  s.requested = requested;
  s.completed = completed;
  return kSuccess;
}
EXPORT Result cuptiActivityEnable(ActivityKind kind) {
  const auto number = static_cast<std::uint32_t>(kind);
  if (const Result result = enter("ActivityEnable", std::to_string(number))) return result;
  State& s = state();
  const std::lock_guard lock(s.mutex);
  if (s.requested == nullptr) die("a kind was enabled before the callbacks were registered");
  if (!s.subscribed) die("a kind was enabled without a subscriber");
  if (kind == ActivityKind::kKernel) die("KERNEL was enabled, which serialises kernels");
  if (record_size(kind, s.version) == 0) return error::kInvalidKind;
  s.kinds.insert(number);
  s.ever_enabled = true;
  return kSuccess;
}
EXPORT Result cuptiActivityDisable(ActivityKind kind) {
  const auto number = static_cast<std::uint32_t>(kind);
  const Result result = enter("ActivityDisable", std::to_string(number));
  State& s = state();
  const std::lock_guard lock(s.mutex);
  s.kinds.erase(number);
  return result;
}
EXPORT Result cuptiActivityFlushAll(std::uint32_t flag) {
  const Result result = enter("ActivityFlushAll", std::to_string(flag));
  if (state().requested == nullptr) return error::kInvalidOperation;
  flush(flag != 0);
  return result;
}
EXPORT Result cuptiActivityGetNextRecord(std::uint8_t* buffer, std::size_t valid,
                                         std::uint8_t** record) {
  require_driver("ActivityGetNextRecord");
  const std::uint32_t version = state().version;
  if (buffer == nullptr) return error::kInvalidParameter;
  std::uint8_t* next = buffer;
  if (*record != nullptr) {
    next = *record + record_size(layout::read<ActivityKind>(*record, 0), version);
  }
  if (next + sizeof(ActivityKind) > buffer + valid) return error::kMaxLimitReached;
  const std::size_t size = record_size(layout::read<ActivityKind>(next, 0), version);
  if (size == 0) return error::kInvalidKind;
  if (next + size > buffer + valid) return error::kMaxLimitReached;
  *record = next;
  return kSuccess;
}
EXPORT Result cuptiActivityGetNumDroppedRecords(Context, std::uint32_t, std::size_t* count) {
  const Result result = enter("ActivityGetNumDroppedRecords");
  State& s = state();
  const std::lock_guard lock(s.mutex);
  *count = std::exchange(s.dropped, 0);
  return result;
}
EXPORT Result cuptiActivitySetAttribute(Attribute attribute, std::size_t* size, void* value) {
  const auto number = static_cast<std::uint32_t>(attribute);
  if (const Result result = enter("ActivitySetAttribute", std::to_string(number))) return result;
  State& s = state();
  const std::lock_guard lock(s.mutex);
  const bool on = *size == 1 && *static_cast<std::uint8_t*>(value) != 0;
  if (attribute == Attribute::kPerThreadBuffer) {
    if (s.version < api_version::k12_3) return error::kInvalidParameter;
    if (!s.kinds.empty()) die("buffers per thread were chosen while kinds are enabled");
    s.per_thread = on;
  } else if (attribute == Attribute::kZeroedOutBuffer) {
    s.zeroed = on;
  } else {
    return error::kInvalidParameter;
  }
  return kSuccess;
}
#ifndef FAKE_CUPTI_OLD
EXPORT Result cuptiSetThreadIdType(std::uint32_t type) {
  return enter("SetThreadIdType", std::to_string(type));
}
EXPORT Result cuptiActivityFlushPeriod(std::uint32_t ms) {
  return enter("ActivityFlushPeriod", std::to_string(ms));
}
EXPORT Result cuptiActivityRegisterTimestampCallback(TimestampFunc function) {
  if (const Result result = enter("ActivityRegisterTimestampCallback")) return result;
  State& s = state();
  const std::lock_guard lock(s.mutex);
  if (!s.kinds.empty()) die("the clock was changed while kinds are enabled");
  s.timestamp = function;
  return kSuccess;
}
EXPORT Result cuptiActivityEnableRuntimeApi(std::uint32_t cbid, std::uint8_t on) {
  const Result result = enter("ActivityEnableRuntimeApi", std::to_string(cbid));
  State& s = state();
  const std::lock_guard lock(s.mutex);
  const std::uint64_t key = (std::uint64_t{kDomainRuntime} << 32) | cbid;
  if (on == 0) s.disabled_calls.insert(key);
  return result;
}
EXPORT Result cuptiActivityEnableDriverApi(std::uint32_t cbid, std::uint8_t on) {
  const Result result = enter("ActivityEnableDriverApi", std::to_string(cbid));
  State& s = state();
  const std::lock_guard lock(s.mutex);
  const std::uint64_t key = (std::uint64_t{kDomainDriver} << 32) | cbid;
  if (on == 0) s.disabled_calls.insert(key);
  return result;
}
EXPORT Result cuptiSubscribe_v2(Subscriber* subscriber, CallbackFunc callback, void* userdata,
                                SubscriberParams* params) {
  const Result result = subscribe("Subscribe_v2", subscriber, callback, userdata);
  if (result == error::kMultipleSubscribers && params->old_name != nullptr) {
    std::snprintf(params->old_name, params->old_name_size, "Nsight Systems");
  }
  return result;
}
#endif
