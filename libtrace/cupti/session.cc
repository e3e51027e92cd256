#include "libtrace/cupti/session.h"

#include "libtrace/cupti/collector.h"
#include "libtrace/cupti/device_clock.h"

namespace libtrace::cupti {
namespace {

constexpr std::uint32_t kFlushPeriodMs = 200;

struct Wish {
  ActivityKind kind;
  const char* name;
  bool essential;  // without it there is no use in the rest
};

std::vector<Wish> wishes(const detail::DeviceOptions& options, std::uint32_t version) {
  std::vector<Wish> kinds = {{ActivityKind::kConcurrentKernel, "kernels", true},
                             {ActivityKind::kMemcpy, "copies", true},
                             {ActivityKind::kMemcpy2, "copies between devices", false},
                             {ActivityKind::kMemset, "sets", true},
                             {ActivityKind::kRuntime, "runtime calls", true},
                             {ActivityKind::kDriver, "driver calls", false},
                             {ActivityKind::kOverhead, "overhead", false}};
  if (options.sync_events) {
    kinds.push_back({ActivityKind::kSynchronization, "synchronisation", false});
    kinds.push_back({ActivityKind::kCudaEvent, "event records", false});
  }
  if (options.profile_memory && version >= api_version::k11_1) {
    kinds.push_back({ActivityKind::kMemory2, "device memory", false});
  }
  if (options.whole_graphs) kinds.push_back({ActivityKind::kGraphTrace, "whole graphs", false});
  return kinds;
}

}  // namespace

Refusal Session::refuse(std::string_view call, Result code, std::string_view other) const {
  const char* name = nullptr;
  if (api_.GetResultString(code, &name) != kSuccess || name == nullptr) name = "";
  return cupti_failed(call, code, name, other);
}

Refusal Session::subscribe() {
  if (api_.Subscribe_v2 == nullptr) {
    const Result code = api_.Subscribe(&subscriber_, on_resource, this);
    return code == kSuccess ? Refusal{} : refused_subscription("cuptiSubscribe", code);
  }
  char other[kOldSubscriberName] = {};
  SubscriberParams params;
  params.name = "libtrace";
  params.old_name = other;
  params.old_name_size = sizeof other;
  const Result code = api_.Subscribe_v2(&subscriber_, on_resource, this, &params);
  other[sizeof other - 1] = '\0';
  return code == kSuccess ? Refusal{} : refused_subscription("cuptiSubscribe_v2", code, other);
}

// NVIDIA: after this answer a client makes no further calls.
Refusal Session::refused_subscription(std::string_view call, Result code, std::string_view other) {
  Refusal refusal = refuse(call, code, other);
  if (code == error::kMultipleSubscribers) occupied_ = refusal;
  return refusal;
}

Refusal Session::open() {
  if (is_open()) return {};
  if (occupied_) return occupied_;
  if (Refusal refusal = subscribe()) {
    subscriber_ = nullptr;
    return refusal;
  }
  if (api_.SetThreadIdType != nullptr) api_.SetThreadIdType(kThreadIdSystem);
  // Otherwise CUPTI cleans each buffer on a thread of the program.
  std::uint8_t on = 1;
  std::size_t size = sizeof on;
  api_.ActivitySetAttribute(Attribute::kZeroedOutBuffer, &size, &on);
  // As the newer releases do by themselves: threads that launch do not wait for one another.
  if (api_.version >= api_version::k12_3) {
    api_.ActivitySetAttribute(Attribute::kPerThreadBuffer, &size, &on);
  }
  if (api_.ActivityRegisterTimestampCallback != nullptr) {
    start_device_clock();
    own_clock_ = api_.ActivityRegisterTimestampCallback(device_now) == kSuccess;
  }
  if (const Result code =
          api_.ActivityRegisterCallbacks(Collector::buffer_requested, Collector::buffer_completed);
      code != kSuccess) {
    Refusal refusal = refuse("cuptiActivityRegisterCallbacks", code);
    close();
    return refusal;
  }
  for (const std::uint32_t cbid : {kResourceContextCreated, kResourceContextDestroyStarting}) {
    api_.EnableCallback(1, subscriber_, kDomainResource, cbid);
  }
  return {};
}

Refusal Session::enable(const detail::DeviceOptions& options) {
  if (!enabled_.empty()) return {};
  missing_.clear();
  for (const Wish& wish : wishes(options, api_.version)) {
    const Result code = api_.ActivityEnable(wish.kind);
    if (code == kSuccess) {
      enabled_.push_back(wish.kind);
    } else if (!wish.essential) {
      missing_.emplace_back(wish.name);
    } else {
      Refusal refusal = refuse("cuptiActivityEnable for " + std::string(wish.name), code);
      disable();
      return refusal;
    }
  }
  // Frequent calls that only ask; from 12.5 on CUPTI need not write them at all.
  if (api_.ActivityEnableRuntimeApi != nullptr) api_.ActivityEnableRuntimeApi(kRuntimeGetDevice, 0);
  if (api_.ActivityEnableDriverApi != nullptr) {
    for (const std::uint32_t cbid :
         {kDriverCtxGetCurrent, kDriverPrimaryCtxGetState, kDriverKernelGetAttribute}) {
      api_.ActivityEnableDriverApi(cbid, 0);
    }
  }
  return {};
}

void Session::disable() noexcept {
  for (const ActivityKind kind : enabled_) api_.ActivityDisable(kind);
  enabled_.clear();
}

void Session::flush_periodically(bool on) noexcept {
  if (api_.ActivityFlushPeriod != nullptr) api_.ActivityFlushPeriod(on ? kFlushPeriodMs : 0);
}

void Session::flush(bool forced) noexcept {
  api_.ActivityFlushAll(0);
  if (forced) api_.ActivityFlushAll(kFlushForced);
}

std::uint64_t Session::dropped() noexcept {
  std::size_t count = 0;
  return api_.ActivityGetNumDroppedRecords(nullptr, 0, &count) == kSuccess ? count : 0;
}

void Session::close() noexcept {
  if (!is_open()) return;
  disable();
  api_.Unsubscribe(subscriber_);
  subscriber_ = nullptr;
}

bool Session::driver_is_gone() const noexcept {
  int count = 0;
  return libraries_.driver.DeviceGetCount(&count) != kSuccess;
}

void Session::on_resource(void* self, std::uint32_t domain, std::uint32_t cbid, const void* data) {
  if (domain != kDomainResource || self == nullptr || data == nullptr) return;
  auto& session = *static_cast<Session*>(self);
  const Context context = static_cast<const ResourceData*>(data)->context;
  try {
    if (cbid == kResourceContextCreated) {
      std::uint32_t id = 0, device = 0;
      if (session.api_.GetContextId(context, &id) == kSuccess &&
          session.api_.GetDeviceId(context, &device) == kSuccess) {
        session.contexts_.created(context, id, device);
      }
    } else if (cbid == kResourceContextDestroyStarting) {
      session.contexts_.destroyed(context);
      session.api_.ActivityFlushAll(0);  // its records die with it
    }
  } catch (...) {
    return;  // out of memory: the context's device stays unknown
  }
}

}  // namespace libtrace::cupti
