#include "tests/fakes/fake_state.h"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

namespace traceglass_fakes {

void die(const std::string& why) {
  std::fprintf(stderr, "fake CUPTI: %s\n", why.c_str());
  std::abort();
}

State& state() {
  static auto* const s = new State;  // its worker outlives everything
  return *s;
}

void require_driver(const char* name) {
  void* const cuda = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  using Initialised = int (*)();
  auto* const initialised =
      cuda == nullptr ? nullptr
                      : reinterpret_cast<Initialised>(dlsym(cuda, "fake_cuda_initialised"));
  if (initialised == nullptr || initialised() == 0) {
    die(std::string("cupti") + name + " was called before cuInit succeeded");
  }
}

Result enter(const std::string& name, const std::string& detail) {
  require_driver(name.c_str());
  State& s = state();
  const std::lock_guard lock(s.mutex);
  s.calls += detail.empty() ? name + " " : name + "(" + detail + ") ";
  for (const std::string& key : {name + ":" + detail, name}) {
    if (const auto it = s.failures.find(key); it != s.failures.end()) return it->second;
  }
  return kSuccess;
}

namespace {
void work() {
  State& s = state();
  std::unique_lock lock(s.mutex);
  for (;;) {
    s.change.wait(lock, [&] { return !s.done.empty(); });
    const OpenBuffer buffer = s.done.front().buffer;
    s.done.pop_front();
    ++s.delivering;
    const BufferCompletedFunc completed = s.completed;
    lock.unlock();
    completed(nullptr, 0, buffer.bytes, buffer.size, buffer.used);
    lock.lock();
    --s.delivering;
    s.change.notify_all();
  }
}

}  // namespace

void hand_over(State& s, OpenBuffer& buffer) {
  if (buffer.bytes == nullptr) return;
  if (!s.worker_runs) {
    s.worker_runs = true;
    std::thread(work).detach();
  }
  s.done.push_back({buffer});
  buffer = {};
  s.change.notify_all();
}

void flush(bool forced) {
  State& s = state();
  std::unique_lock lock(s.mutex);
  for (auto& [thread, buffer] : s.open) {
    if (!s.holds && (forced || !buffer.pending)) hand_over(s, buffer);
  }
  s.change.wait(lock, [&] { return s.done.empty() && s.delivering == 0; });
}

void write(const Record& record, ActivityKind kind, std::uint32_t thread, bool pending) {
  State& s = state();
  const std::vector<std::uint8_t>& bytes = record.bytes();
  std::unique_lock lock(s.mutex);
  if (s.kinds.count(static_cast<std::uint32_t>(kind)) == 0) return;
  OpenBuffer& buffer = s.open[s.per_thread ? thread : 0];
  if (buffer.bytes != nullptr && buffer.used + bytes.size() > buffer.size) hand_over(s, buffer);
  if (buffer.bytes == nullptr) {
    std::size_t most = 0;
    const BufferRequestedFunc requested = s.requested;
    OpenBuffer fresh;
    lock.unlock();
    requested(&fresh.bytes, &fresh.size, &most);
    lock.lock();
    if (fresh.bytes == nullptr || fresh.size == 0) {
      if (s.version < api_version::k12_9) die("a null buffer, which crashes CUPTI before 12.9");
      ++s.dropped;
      return;
    }
    if (reinterpret_cast<std::uintptr_t>(fresh.bytes) % 8 != 0) die("a buffer off its alignment");
    const bool zero =
        fresh.bytes[0] == 0 && std::memcmp(fresh.bytes, fresh.bytes + 1, fresh.size - 1) == 0;
    if (s.zeroed && !zero) die("a buffer that is not zeroed, although it was said to be");
    // Two threads may have asked at once: one of the buffers goes back empty.
    if (buffer.bytes != nullptr) hand_over(s, fresh);
    if (fresh.bytes != nullptr) buffer = fresh;
  }
  std::memcpy(buffer.bytes + buffer.used, bytes.data(), bytes.size());
  buffer.used += bytes.size();
  buffer.pending = buffer.pending || pending;
}

}  // namespace traceglass_fakes
