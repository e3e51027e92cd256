// What the fake CUPTI is told to have seen.
//
// Script, a command a line, `key=value` in any order (see `Script` for the defaults):
//   reset                        as loaded
//   version N                    the API version to play; before the library is loaded by the code
//   mark                         now; times written `+N` count from here
//   fail NAME CODE               cuptiNAME answers CODE from here on; NAME may be
//   ActivityEnable:KIND launch memcpy peer memset    a call of the API and the work it starts call
//   sync record overhead alloc free graphtrace context graph nodes=N                one call, N
//   kernels zero-time                    the next work has no times pending the next work is not
//   complete: only a forced flush hands it over garbage                      a record of an unknown
//   kind split                        hands over the open buffers as they are drop N CUPTI says
//   that it dropped N records unload                       names of kernels become unreadable
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <mutex>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "tests/fakes/fake_cupti.h"
#include "tests/fakes/fake_state.h"

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace traceglass_fakes {
namespace {

namespace layout = libtrace::cupti::layout;

class Script {
 public:
  explicit Script(const std::string& line) : in_(line) {
    in_ >> command_;
    for (std::string word; in_ >> word;) {
      const std::size_t equals = word.find('=');
      if (equals == std::string::npos) {
        words_.push_back(word);
      } else {
        values_[word.substr(0, equals)] = word.substr(equals + 1);
      }
    }
  }

  std::string run() {
    State& s = state();
    if (command_.empty() || command_[0] == '#') return {};
    if (command_ == "reset") return reset(), "";
    if (command_ == "version") return s.version = word32(0), "";
    if (command_ == "mark") return s.mark = now(), "";
    if (command_ == "fail") {
      const std::lock_guard lock(s.mutex);
      s.failures[words_.at(0)] = std::stoi(words_.at(1));
      return {};
    }
    if (command_ == "drop") {
      const std::lock_guard lock(s.mutex);
      return s.dropped += word32(0), "";
    }
    if (command_ == "hold") return s.holds = true, "";
    if (command_ == "release") return s.holds = false, "";
    if (command_ == "zero-time") return s.zero_time = true, "";
    if (command_ == "pending") return s.pending = true, "";
    if (command_ == "unload") {
      for (const auto& name : s.names) name->assign(name->size(), '?');
      return {};
    }
    if (command_ == "split") {
      const std::lock_guard lock(s.mutex);
      for (auto& [thread, buffer] : s.open) hand_over(s, buffer);
      return {};
    }
    if (command_ == "garbage") return garbage(), "";
    if (command_ == "context") return context(), "";
    if (command_ == "launch") return launch(1), "";
    if (command_ == "graph") return launch(number("nodes", 3)), "";
    if (command_ == "memcpy") return copy(false), "";
    if (command_ == "peer") return copy(true), "";
    if (command_ == "memset") return set(), "";
    if (command_ == "call") return call(), "";
    if (command_ == "sync") return sync(), "";
    if (command_ == "record") return record(), "";
    if (command_ == "overhead") return overhead(), "";
    if (command_ == "alloc" || command_ == "free") return allocation(command_ == "free"), "";
    if (command_ == "graphtrace") return graph_trace(), "";
    return "unknown command: " + command_;
  }

 private:
  struct Times {
    std::uint64_t start, end;
  };

  std::uint32_t word32(std::size_t i) const {
    return static_cast<std::uint32_t>(std::stoul(words_.at(i)));
  }
  std::uint64_t number(const char* key, std::uint64_t otherwise) const {
    const auto it = values_.find(key);
    return it == values_.end() ? otherwise : std::stoull(it->second, nullptr, 0);
  }
  std::uint32_t number32(const char* key, std::uint32_t otherwise) const {
    return static_cast<std::uint32_t>(number(key, otherwise));
  }
  // "+N": after the mark.
  std::uint64_t time(const char* key, std::uint64_t otherwise) const {
    const auto it = values_.find(key);
    if (it == values_.end()) return otherwise;
    const bool relative = it->second[0] == '+';
    return (relative ? state().mark : 0) + std::stoull(it->second.substr(relative ? 1 : 0));
  }
  static std::uint64_t now() {
    if (const TimestampFunc function = locked(&State::timestamp)) return function();
    timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000U +
           static_cast<std::uint64_t>(t.tv_nsec);
  }

  std::uint32_t thread() const { return number32("tid", static_cast<std::uint32_t>(gettid())); }
  std::uint32_t correlation() {
    if (correlation_ == 0) {
      State& s = state();
      const std::lock_guard lock(s.mutex);
      correlation_ = number32("corr", s.next_correlation);
      s.next_correlation = std::max(s.next_correlation, correlation_ + 1);
    }
    return correlation_;
  }

  // The call that starts the work. `api=none` leaves it out.
  // It takes as long as the fake does for it, unless told.
  Times call_times() {
    if (!call_) {
      const std::uint64_t start = time("at", now());
      const bool told = values_.count("at") != 0 || values_.count("for") != 0;
      call_ = {start, told ? start + number("for", 1000) : now()};
    }
    return *call_;
  }
  void api(std::uint32_t cbid, bool driver = false) {
    if (values_.count("api") != 0) {
      if (values_.at("api") == "none") return;
      cbid = number32("api", cbid);
    }
    driver = driver || number("driver", 0) != 0;
    State& s = state();
    const std::uint64_t key = (std::uint64_t{driver ? kDomainDriver : kDomainRuntime} << 32) | cbid;
    if (locked(&State::disabled_calls).count(key) != 0) return;
    const Times t = call_times();
    namespace at = layout::call;
    const ActivityKind kind = driver ? ActivityKind::kDriver : ActivityKind::kRuntime;
    Record r(kind, s.version);
    r.put(at::kCbid, cbid).put(at::kStart, t.start).put(at::kEnd, t.end);
    r.put(at::kProcess, static_cast<std::uint32_t>(getpid())).put(at::kThread, thread());
    r.put(at::kCorrelation, correlation()).put(at::kReturn, number32("ret", 0));
    write(r, kind, thread());
  }
  // Behind what its stream has to do already, unless told.
  Times work_times() {
    State& s = state();
    const std::uint64_t earliest = call_times().end + 1000;
    const std::lock_guard lock(s.mutex);
    std::uint64_t& stream = s.stream_end[{number("dev", 0), number("stream", 7)}];
    const std::uint64_t start = time("gpu", std::max(earliest, stream));
    Times t{start, start + number("gpufor", 5000)};
    stream = t.end;
    if (std::exchange(s.zero_time, false)) t = {0, 0};
    pending_ = std::exchange(s.pending, false);
    if (pending_) t.end = 0;
    return t;
  }

  void launch(std::uint64_t nodes) {
    State& s = state();
    const bool graph = command_ == "graph";
    api(graph ? 311 : number("driver", 0) != 0 ? 307 : 211);
    for (std::uint64_t i = 0; i < nodes; ++i) {
      const Times t = work_times();
      const std::string name = values_.count("kernel") != 0 ? values_["kernel"] : "_Z6kernelPf";
      const char* kept = nullptr;
      {
        const std::lock_guard lock(s.mutex);
        s.names.push_back(std::make_unique<std::string>(name));
        kept = s.names.back()->c_str();
      }
      namespace at = layout::kernel;
      Record r(ActivityKind::kConcurrentKernel, s.version);
      r.put(at::kStart, t.start).put(at::kEnd, t.end).put(at::kQueued, std::uint64_t{0});
      r.put(at::kDevice, number32("dev", 0)).put(at::kContext, number32("ctx", 1));
      r.put(at::kStream, number32("stream", 7)).put(at::kCorrelation, correlation());
      r.put(at::kGrid, number32("grid", 128)).put(at::kGrid + 4, 1U).put(at::kGrid + 8, 1U);
      r.put(at::kBlock, number32("block", 256)).put(at::kBlock + 4, 1U).put(at::kBlock + 8, 1U);
      r.put(at::kStaticShared, 1024U).put(at::kDynamicShared, number32("shared", 0));
      r.put(at::kRegisters, static_cast<std::uint16_t>(number("regs", 32)));
      r.put(at::kName, kept);
      r.put(at::kGraphNode, graph ? std::uint64_t{0x500000000} + i : 0U);
      r.put(at::kGraph, graph ? number32("id", 5) : 0U);
      r.put(at::kChannel, 3U).put(at::kChannelType, 1U);
      write(r, ActivityKind::kConcurrentKernel, thread(), pending_);
    }
  }

  void copy(bool peer) {
    State& s = state();
    api(41);
    const Times t = work_times();
    namespace at = layout::memcpy;
    const ActivityKind kind = peer ? ActivityKind::kMemcpy2 : ActivityKind::kMemcpy;
    Record r(kind, s.version);
    r.put(at::kCopyKind, static_cast<std::uint8_t>(number("kind", peer ? 10 : 1)));
    r.put(at::kSourceKind, static_cast<std::uint8_t>(number("src", peer ? 3 : 1)));
    r.put(at::kTargetKind, static_cast<std::uint8_t>(number("dst", 3)));
    r.put(at::kBytes, number("bytes", 4096)).put(at::kStart, t.start).put(at::kEnd, t.end);
    r.put(at::kDevice, number32("dev", 0)).put(at::kContext, number32("ctx", 1));
    r.put(at::kStream, number32("stream", 7));
    if (peer) {
      r.put(layout::peer::kSourceDevice, number32("from", 0));
      r.put(layout::peer::kSourceContext, 1U).put(layout::peer::kTargetContext, 2U);
      r.put(layout::peer::kTargetDevice, number32("to", 1));
      r.put(layout::peer::kCorrelation, correlation());
      r.put(layout::peer::kGraphNode, std::uint64_t{0}).put(layout::peer::kGraph, 0U);
    } else {
      r.put(at::kCorrelation, correlation());
      r.put(at::kGraphNode, std::uint64_t{0}).put(at::kGraph, 0U);
    }
    write(r, kind, thread(), pending_);
  }

  void set() {
    api(51);
    const Times t = work_times();
    namespace at = layout::memset;
    Record r(ActivityKind::kMemset, state().version);
    r.put(at::kValue, 0U).put(at::kBytes, number("bytes", 4096));
    r.put(at::kStart, t.start).put(at::kEnd, t.end);
    r.put(at::kDevice, number32("dev", 0)).put(at::kContext, number32("ctx", 1));
    r.put(at::kStream, number32("stream", 7)).put(at::kCorrelation, correlation());
    r.put(at::kMemoryKind, static_cast<std::uint16_t>(number("dst", 3)));
    r.put(at::kGraphNode, std::uint64_t{0}).put(at::kGraph, 0U);
    write(r, ActivityKind::kMemset, thread(), pending_);
  }

  void call() { api(165); }

  static void reset() {
    State& s = state();
    const std::lock_guard lock(s.mutex);
    s.subscribed = false;
    s.kinds.clear();
    s.open.clear();
    s.version = 130001;
    s.failures.clear();
    s.calls.clear();
    s.disabled_calls.clear();
    s.timestamp = nullptr;
    s.per_thread = s.zeroed = s.zero_time = s.pending = s.holds = false;
    s.dropped = 0;
    s.next_correlation = 1;
    s.stream_end.clear();
    s.contexts.clear();
  }

  void sync() {
    const Times t = call_times();
    api(number32("type", 4) == 3 ? 131 : 165);
    namespace at = layout::sync;
    Record r(ActivityKind::kSynchronization, state().version);
    r.put(at::kType, number32("type", 4)).put(at::kStart, t.start).put(at::kEnd, t.end);
    r.put(at::kCorrelation, correlation()).put(at::kContext, number32("ctx", 1));
    r.put(at::kStream, number32("stream", 0xFFFFFFFF)).put(at::kEvent, number32("event", 0));
    write(r, ActivityKind::kSynchronization, thread());
  }

  void record() {
    api(135);
    namespace at = layout::cuda_event;
    Record r(ActivityKind::kCudaEvent, state().version);
    r.put(at::kCorrelation, correlation()).put(at::kContext, number32("ctx", 1));
    r.put(at::kStream, number32("stream", 7)).put(at::kEvent, number32("event", 0));
    write(r, ActivityKind::kCudaEvent, thread());
  }

  void overhead() {
    const Times t = call_times();
    namespace at = layout::overhead;
    Record r(ActivityKind::kOverhead, state().version);
    r.put(at::kOverheadKind, number32("kind", 1 << 16))
        .put(at::kStart, t.start)
        .put(at::kEnd, t.end);
    r.put(at::kObjectKind, 2U).put(at::kProcess, static_cast<std::uint32_t>(getpid()));
    r.put(at::kThread, thread());
    write(r, ActivityKind::kOverhead, thread());
  }

  void allocation(bool release) {
    api(release ? 22 : 20);
    namespace at = layout::memory;
    Record r(ActivityKind::kMemory2, state().version);
    r.put(at::kOperation, release ? 2U : 1U).put(at::kMemoryKind, number32("kind", 3));
    r.put(at::kCorrelation, correlation()).put(at::kAddress, number("addr", 0x7f0000000000));
    r.put(at::kBytes, number("bytes", 1024)).put(at::kTime, call_times().start + 10);
    r.put(at::kProcess, static_cast<std::uint32_t>(getpid())).put(at::kDevice, number32("dev", 0));
    r.put(at::kName, static_cast<const char*>(nullptr));
    r.put(120, static_cast<const char*>(nullptr));  // source, since 12.6
    write(r, ActivityKind::kMemory2, thread());
  }

  void graph_trace() {
    api(311);
    const Times t = work_times();
    namespace at = layout::graph;
    Record r(ActivityKind::kGraphTrace, state().version);
    r.put(at::kCorrelation, correlation()).put(at::kStart, t.start).put(at::kEnd, t.end);
    r.put(at::kDevice, number32("dev", 0)).put(at::kGraph, number32("id", 5));
    r.put(at::kContext, number32("ctx", 1)).put(at::kStream, number32("stream", 7));
    write(r, ActivityKind::kGraphTrace, thread());
  }

  void garbage() {
    Record r(ActivityKind::kRuntime, state().version);
    r.put(layout::kKind, 4000U);
    write(r, ActivityKind::kRuntime, thread());
  }

  // A context comes (or goes, with `gone=1`).
  void context() {
    State& s = state();
    const std::uint32_t cbid =
        number("gone", 0) != 0 ? kResourceContextDestroyStarting : kResourceContextCreated;
    CallbackFunc callback = nullptr;
    void* userdata = nullptr;
    Context handle = nullptr;
    {
      const std::lock_guard lock(s.mutex);
      if (s.callback == nullptr || s.resource_callbacks.count(cbid) == 0) return;
      callback = s.callback;
      userdata = s.userdata;
      handle = reinterpret_cast<Context>(
          &s.contexts.try_emplace(number32("ctx", 1), number32("ctx", 1), number32("dev", 0))
               .first->second);
      ++s.calling;
    }
    const ResourceData data{handle, nullptr, nullptr};
    callback(userdata, kDomainResource, cbid, &data);
    const std::lock_guard lock(s.mutex);
    --s.calling;
    s.change.notify_all();
  }

  std::istringstream in_;
  std::string command_;
  std::vector<std::string> words_;
  std::map<std::string, std::string> values_;
  std::uint32_t correlation_ = 0;
  bool pending_ = false;
  std::optional<Times> call_;
};

}  // namespace
}  // namespace traceglass_fakes

using traceglass_fakes::Script;
using traceglass_fakes::State;
using traceglass_fakes::state;

EXPORT const char* fake_cupti_run(const char* script) {
  static std::mutex mutex;
  static std::string error;
  std::istringstream lines(script);
  for (std::string line; std::getline(lines, line);) {
    try {
      const std::string why = Script(line).run();
      if (why.empty()) continue;
      const std::lock_guard lock(mutex);
      return (error = why).c_str();
    } catch (const std::exception& e) {
      const std::lock_guard lock(mutex);
      return (error = line + ": " + e.what()).c_str();
    }
  }
  return nullptr;
}

EXPORT const char* fake_cupti_calls() {
  static std::string copy;
  State& s = state();
  const std::lock_guard lock(s.mutex);
  copy = s.calls;
  return copy.c_str();
}
