#include "libtrace/cupti/decode.h"

#include <algorithm>
#include <iterator>
#include <unordered_map>

#include "libtrace/cupti/layout.h"

namespace libtrace::cupti {
namespace {

using layout::read;

constexpr std::uint32_t kObjectThread = 2;  // an overhead's object kind
constexpr std::uint32_t kRelease = 2;       // a memory operation
constexpr std::uint32_t kMostDevices = 64;  // of one process

// Calls f(kind, record) for each; returns how many records ended the buffer early.
template <class F>
std::uint64_t walk(const CuptiApi& api, std::uint8_t* bytes, std::size_t valid, F&& f) {
  if (valid == 0) return 0;
  std::uint8_t* record = nullptr;
  const std::uint8_t* before = bytes - 1;
  for (;;) {
    const Result result = api.ActivityGetNextRecord(bytes, valid, &record);
    if (result == error::kMaxLimitReached) return 0;  // the end
    // An unknown kind in mid-buffer is a record that was never completed: what follows cannot be
    // found.
    if (result != kSuccess || record == nullptr || record <= before) return 1;
    const auto left = static_cast<std::size_t>(bytes + valid - record);
    if (record >= bytes + valid || left < sizeof(ActivityKind)) return 1;
    const auto kind = read<ActivityKind>(record, layout::kKind);
    if (left < layout::least_size(kind)) return 1;
    f(kind, record, left);
    before = record;
  }
}

class Decoder {
 public:
  Decoder(const CuptiApi& api, EventLog& log) : api_(api), log_(log) {}

  void add(ActivityKind kind, const std::uint8_t* r, std::size_t left) {
    switch (kind) {
      case ActivityKind::kKernel:
      case ActivityKind::kConcurrentKernel:
        return kernel(r, left);
      case ActivityKind::kMemcpy:
        return copy(r, left, false);
      case ActivityKind::kMemcpy2:
        return copy(r, left, true);
      case ActivityKind::kMemset:
        return set(r, left);
      case ActivityKind::kDriver:
        return call(r, true);
      case ActivityKind::kRuntime:
        return call(r, false);
      case ActivityKind::kSynchronization:
        return sync(r);
      case ActivityKind::kCudaEvent:
        return event_record(r);
      case ActivityKind::kOverhead:
        return overhead(r);
      case ActivityKind::kMemory2:
        return allocation(r);
      case ActivityKind::kGraphTrace:
        return graph(r);
      case ActivityKind::kContext:
        log_.device_of_context[read<std::uint32_t>(r, layout::context::kContext)] =
            read<std::uint32_t>(r, layout::context::kDevice);
        return;
      default:
        return;
    }
  }

 private:
  [[nodiscard]] bool since(std::uint32_t version) const noexcept { return api_.version >= version; }
  // A field beyond the smallest size of its record, in its bytes and this version.
  template <class T>
  [[nodiscard]] T late(const std::uint8_t* r, std::size_t left, layout::Offset at,
                       std::uint32_t version) const noexcept {
    return since(version) && at + sizeof(T) <= left ? read<T>(r, at) : T{};
  }

  // The same pointers come again and again while a buffer is read: no module goes meanwhile.
  std::uint32_t name_behind(const char* name) {
    if (name == nullptr) return 0;
    const auto [it, fresh] = names_.try_emplace(name);
    if (fresh) it->second = log_.intern(name);
    return it->second;
  }
  void note_context(std::uint32_t context, std::uint32_t device) {
    if (context == last_context_ && device == last_device_) return;
    log_.device_of_context[last_context_ = context] = last_device_ = device;
  }

  // Device memory for its times ran out: the record is no use.
  bool has_time(std::uint64_t start, std::uint64_t end) {
    if (start != 0 && end != 0 && start <= end) return true;
    ++log_.losses.without_time;
    return false;
  }

  // What no machine has is no record of a layout that we know.
  bool is_plausible(std::uint32_t device) {
    if (device < kMostDevices) return true;
    ++log_.losses.unreadable;
    return false;
  }

  void kernel(const std::uint8_t* r, std::size_t left) {
    namespace at = layout::kernel;
    KernelEvent e;
    e.start = read<std::uint64_t>(r, at::kStart);
    e.end = read<std::uint64_t>(r, at::kEnd);
    if (!has_time(e.start, e.end)) return;
    e.queued = read<std::uint64_t>(r, at::kQueued);
    e.correlation = read<std::uint32_t>(r, at::kCorrelation);
    e.device = read<std::uint32_t>(r, at::kDevice);
    e.context = read<std::uint32_t>(r, at::kContext);
    e.stream = read<std::uint32_t>(r, at::kStream);
    if (!is_plausible(e.device)) return;
    for (std::size_t i = 0; i < 3; ++i) {
      e.grid[i] = read<std::uint32_t>(r, at::kGrid + 4 * i);
      e.block[i] = read<std::uint32_t>(r, at::kBlock + 4 * i);
    }
    e.static_shared = read<std::uint32_t>(r, at::kStaticShared);
    e.dynamic_shared = read<std::uint32_t>(r, at::kDynamicShared);
    e.registers = read<std::uint16_t>(r, at::kRegisters);
    e.graph_node = late<std::uint64_t>(r, left, at::kGraphNode, api_version::k11_0);
    e.graph = late<std::uint32_t>(r, left, at::kGraph, api_version::k11_1);
    e.channel = late<std::uint32_t>(r, left, at::kChannel, api_version::k11_6);
    e.channel_type = late<std::uint32_t>(r, left, at::kChannelType, api_version::k11_6);
    e.name = name_behind(read<const char*>(r, at::kName));
    note_context(e.context, e.device);
    log_.add(log_.kernels, e);
  }

  void copy(const std::uint8_t* r, std::size_t left, bool peer) {
    namespace at = layout::memcpy;
    CopyEvent e;
    e.start = read<std::uint64_t>(r, at::kStart);
    e.end = read<std::uint64_t>(r, at::kEnd);
    if (!has_time(e.start, e.end)) return;
    e.bytes = read<std::uint64_t>(r, at::kBytes);
    e.kind = read<std::uint8_t>(r, at::kCopyKind);
    e.source = read<std::uint8_t>(r, at::kSourceKind);
    e.target = read<std::uint8_t>(r, at::kTargetKind);
    e.device = read<std::uint32_t>(r, at::kDevice);
    e.context = read<std::uint32_t>(r, at::kContext);
    e.stream = read<std::uint32_t>(r, at::kStream);
    if (!is_plausible(e.device)) return;
    e.peer = peer;
    if (peer) {
      e.correlation = read<std::uint32_t>(r, layout::peer::kCorrelation);
      e.source_device = read<std::uint32_t>(r, layout::peer::kSourceDevice);
      e.source_context = read<std::uint32_t>(r, layout::peer::kSourceContext);
      e.target_device = read<std::uint32_t>(r, layout::peer::kTargetDevice);
      e.target_context = read<std::uint32_t>(r, layout::peer::kTargetContext);
    } else {
      e.correlation = read<std::uint32_t>(r, at::kCorrelation);
    }
    e.graph_node = late<std::uint64_t>(r, left, peer ? layout::peer::kGraphNode : at::kGraphNode,
                                       api_version::k11_0);
    e.graph =
        late<std::uint32_t>(r, left, peer ? layout::peer::kGraph : at::kGraph, api_version::k11_1);
    note_context(e.context, e.device);
    log_.add(log_.copies, e);
  }

  void set(const std::uint8_t* r, std::size_t left) {
    namespace at = layout::memset;
    SetEvent e;
    e.start = read<std::uint64_t>(r, at::kStart);
    e.end = read<std::uint64_t>(r, at::kEnd);
    if (!has_time(e.start, e.end)) return;
    e.bytes = read<std::uint64_t>(r, at::kBytes);
    e.device = read<std::uint32_t>(r, at::kDevice);
    e.context = read<std::uint32_t>(r, at::kContext);
    e.stream = read<std::uint32_t>(r, at::kStream);
    e.correlation = read<std::uint32_t>(r, at::kCorrelation);
    if (!is_plausible(e.device)) return;
    e.memory = read<std::uint16_t>(r, at::kMemoryKind);
    e.graph_node = late<std::uint64_t>(r, left, at::kGraphNode, api_version::k11_0);
    e.graph = late<std::uint32_t>(r, left, at::kGraph, api_version::k11_1);
    note_context(e.context, e.device);
    log_.add(log_.sets, e);
  }

  void call(const std::uint8_t* r, bool driver) {
    namespace at = layout::call;
    CallEvent e;
    e.start = read<std::uint64_t>(r, at::kStart);
    e.end = read<std::uint64_t>(r, at::kEnd);
    e.cbid = read<std::uint32_t>(r, at::kCbid);
    e.driver = driver;
    if (e.start == 0 || e.end < e.start) {  // still running when the records were fetched
      ++log_.losses.without_time;
      return;
    }
    if (!wanted(driver, e.cbid)) return;
    e.thread = read<std::uint32_t>(r, at::kThread);
    e.correlation = read<std::uint32_t>(r, at::kCorrelation);
    e.result = read<std::uint32_t>(r, at::kReturn);
    log_.add(log_.calls, e);
  }

  bool wanted(bool driver, std::uint32_t cbid) {
    const auto [it, fresh] = log_.call_names.try_emplace(call_key(driver, cbid));
    if (fresh) {
      const char* name = nullptr;
      const std::uint32_t domain = driver ? kDomainDriver : kDomainRuntime;
      if (api_.GetCallbackName(domain, cbid, &name) == kSuccess && name != nullptr) {
        it->second.text = without_version(name);
        it->second.wanted = is_wanted_call(it->second.text, driver);
      } else {
        it->second.text = (driver ? "driver call " : "runtime call ") + std::to_string(cbid);
      }
    }
    return it->second.wanted;
  }

  void sync(const std::uint8_t* r) {
    namespace at = layout::sync;
    SyncEvent e;
    e.start = read<std::uint64_t>(r, at::kStart);
    e.end = read<std::uint64_t>(r, at::kEnd);
    if (!has_time(e.start, e.end)) return;
    e.type = read<std::uint32_t>(r, at::kType);
    e.correlation = read<std::uint32_t>(r, at::kCorrelation);
    e.context = read<std::uint32_t>(r, at::kContext);
    e.stream = read<std::uint32_t>(r, at::kStream);
    e.event = read<std::uint32_t>(r, at::kEvent);
    log_.add(log_.syncs, e);
  }

  void event_record(const std::uint8_t* r) {
    namespace at = layout::cuda_event;
    log_.add(log_.event_records,
             EventRecord{.correlation = read<std::uint32_t>(r, at::kCorrelation),
                         .context = read<std::uint32_t>(r, at::kContext),
                         .stream = read<std::uint32_t>(r, at::kStream),
                         .event = read<std::uint32_t>(r, at::kEvent)});
  }

  void overhead(const std::uint8_t* r) {
    namespace at = layout::overhead;
    OverheadEvent e;
    e.start = read<std::uint64_t>(r, at::kStart);
    e.end = read<std::uint64_t>(r, at::kEnd);
    if (e.start == 0 || e.end < e.start) return;
    e.kind = read<std::uint32_t>(r, at::kOverheadKind);
    if (read<std::uint32_t>(r, at::kObjectKind) == kObjectThread) {
      e.thread = read<std::uint32_t>(r, at::kThread);
    }
    log_.add(log_.overheads, e);
  }

  void allocation(const std::uint8_t* r) {
    namespace at = layout::memory;
    AllocationEvent e;
    e.at = read<std::uint64_t>(r, at::kTime);
    if (e.at == 0) {
      ++log_.losses.without_time;
      return;
    }
    e.address = read<std::uint64_t>(r, at::kAddress);
    e.bytes = read<std::uint64_t>(r, at::kBytes);
    e.correlation = read<std::uint32_t>(r, at::kCorrelation);
    e.device = read<std::uint32_t>(r, at::kDevice);
    e.kind = read<std::uint32_t>(r, at::kMemoryKind);
    e.release = read<std::uint32_t>(r, at::kOperation) == kRelease;
    log_.add(log_.allocations, e);
  }

  void graph(const std::uint8_t* r) {
    namespace at = layout::graph;
    GraphEvent e;
    e.start = read<std::uint64_t>(r, at::kStart);
    e.end = read<std::uint64_t>(r, at::kEnd);
    if (!has_time(e.start, e.end)) return;
    e.correlation = read<std::uint32_t>(r, at::kCorrelation);
    e.device = read<std::uint32_t>(r, at::kDevice);
    e.context = read<std::uint32_t>(r, at::kContext);
    e.stream = read<std::uint32_t>(r, at::kStream);
    e.graph = read<std::uint32_t>(r, at::kGraph);
    if (is_plausible(e.device)) log_.add(log_.graphs, e);
  }

  const CuptiApi& api_;
  EventLog& log_;
  std::unordered_map<const char*, std::uint32_t> names_;
  std::uint32_t last_context_ = kNoContext, last_device_ = kNoContext;
  static constexpr std::uint32_t kNoContext = 0xFFFF'FFFF;
};

template <std::size_t N>
bool is_one_of(std::string_view name, const std::string_view (&names)[N]) noexcept {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

}  // namespace

void decode(const CuptiApi& api, std::uint8_t* bytes, std::size_t valid, EventLog& log) {
  Decoder decoder(api, log);
  log.losses.unreadable +=
      walk(api, bytes, valid, [&](ActivityKind kind, const std::uint8_t* record, std::size_t left) {
        decoder.add(kind, record, left);
      });
}

std::uint64_t count_records(const CuptiApi& api, std::uint8_t* bytes, std::size_t valid) {
  std::uint64_t count = 0;
  walk(api, bytes, valid, [&](ActivityKind, const std::uint8_t*, std::size_t) { ++count; });
  return count;
}

std::string_view without_version(std::string_view name) noexcept {
  const std::size_t mark = name.rfind("_v");
  if (mark == std::string_view::npos) return name;
  const std::string_view digits = name.substr(mark + 2);
  const bool version =
      digits.size() >= 4 && digits.find_first_not_of("0123456789") == std::string_view::npos;
  return version ? name.substr(0, mark) : name;
}

bool is_wanted_call(std::string_view name, bool driver) noexcept {
  static constexpr std::string_view kUnwanted[] = {"cudaGetDevice",    "cudaSetDevice",
                                                   "cudaGetLastError", "cudaPeekAtLastError",
                                                   "cudaEventCreate",  "cudaEventCreateWithFlags",
                                                   "cudaEventDestroy"};
  if (!driver) return !is_one_of(name, kUnwanted);
  // Of the driver, what starts work, moves memory or waits; the rest is bookkeeping of the runtime.
  for (const std::string_view start :
       {"cuLaunch",          "cuMemcpy",           "cuMemset",
        "cuMemAlloc",        "cuMemFree",          "cuMemHostAlloc",
        "cuMemCreate",       "cuMemMap",           "cuMemUnmap",
        "cuMemRelease",      "cuMemExport",        "cuMemImport",
        "cuGraphLaunch",     "cuGraphInstantiate", "cuStreamSynchronize",
        "cuStreamWaitEvent", "cuEventRecord",      "cuEventSynchronize",
        "cuCtxSynchronize",  "cuModuleLoad",       "cuLibraryLoad"}) {
    if (name.substr(0, start.size()) == start) return true;
  }
  return false;
}

}  // namespace libtrace::cupti
