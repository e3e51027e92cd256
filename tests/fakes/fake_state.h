// What the fake CUPTI keeps between calls, and its buffers: asked of the client, filled, handed
// back from a thread of the library's own.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "libtrace/cupti/abi.h"
#include "tests/fakes/fake_records.h"

namespace traceglass_fakes {

using namespace libtrace::cupti;

struct OpenBuffer {
  std::uint8_t* bytes = nullptr;
  std::size_t size = 0, used = 0;
  bool pending = false;
};

// What a handle of a context points at.
struct FakeContext {
  FakeContext(std::uint32_t number, std::uint32_t on) : id(number), device(on) {}
  std::uint32_t id, device;
};

struct State {
  std::mutex mutex;
  std::uint32_t version = 130001;
  std::map<std::string, Result> failures;
  std::string calls;

  bool subscribed = false;
  CallbackFunc callback = nullptr;
  void* userdata = nullptr;
  std::size_t calling = 0;  // callbacks on their way
  std::set<std::uint32_t> resource_callbacks;
  std::set<std::uint32_t> kinds;
  std::set<std::uint64_t> disabled_calls;  // (domain << 32) | cbid
  BufferRequestedFunc requested = nullptr;
  BufferCompletedFunc completed = nullptr;
  TimestampFunc timestamp = nullptr;
  bool per_thread = false;
  bool zeroed = false;
  bool ever_enabled = false;

  std::map<std::uint32_t, OpenBuffer> open;  // by thread, or all under 0
  std::uint64_t mark = 0;
  std::uint32_t next_correlation = 1;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> stream_end;  // (device, stream)
  std::map<std::uint32_t, FakeContext> contexts;                                // by id
  std::size_t dropped = 0;
  bool zero_time = false, pending = false, holds = false;
  std::deque<std::unique_ptr<std::string>> names;

  // Completed buffers go back from a thread of the library's own.
  struct Done {
    OpenBuffer buffer;
  };
  std::deque<Done> done;
  std::size_t delivering = 0;
  std::condition_variable change;
  bool worker_runs = false;
};

State& state();

// A member's value, by the lock.
template <class T>
T locked(T State::* member) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  return s.*member;
}

// Where the real library would crash, or NVIDIA forbids the call: the end of the process.
[[noreturn]] void die(const std::string& why);
void require_driver(const char* name);
// Notes the call; what a test wants it to answer.
Result enter(const std::string& name, const std::string& detail = {});

// Hands an open buffer back. Under the lock.
void hand_over(State& s, OpenBuffer& buffer);
// All of them, but for those with incomplete records unless `forced`; waits until they are read.
void flush(bool forced);
// A record into the thread's buffer, if its kind is enabled.
void write(const Record& record, ActivityKind kind, std::uint32_t thread, bool pending = false);

}  // namespace traceglass_fakes
