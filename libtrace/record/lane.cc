#include "libtrace/record/lane.h"

#include <pthread.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstring>
#include <new>
#include <string_view>

#include "libtrace/record/chunk_pool.h"
#include "libtrace/record/clock.h"
#include "libtrace/record/site.h"
#include "libtrace/record_function.h"

namespace libtrace::detail {

constinit std::atomic<std::uint32_t> recording{0};
constinit std::atomic<std::uint32_t> window_number{0};
constinit std::atomic<std::uint64_t> dropped_without_lane{0};

namespace {

// Trivially destructible: scopes in destructors of other thread-locals still find it.
constinit thread_local Lane* this_lane __attribute__((tls_model("initial-exec"))) = nullptr;
constinit thread_local bool making_lane __attribute__((tls_model("initial-exec"))) = false;

constinit std::atomic<Lane*> new_lanes{nullptr};

void fence() noexcept { std::atomic_signal_fence(std::memory_order_seq_cst); }

void drop(Lane* lane) noexcept {
  (lane != nullptr ? lane->dropped : dropped_without_lane).fetch_add(1, std::memory_order_relaxed);
}

void retire(void* p) noexcept {
  auto* const lane = static_cast<Lane*>(p);
  if (this_lane == lane) this_lane = nullptr;  // a later scope of this thread makes another
  prctl(PR_GET_NAME, lane->exit_name);
  lane->exit_ticks = ticks();
  lane->retired.store(true, std::memory_order_release);
}

pthread_key_t exit_key() noexcept {
  static const pthread_key_t key = [] {
    pthread_key_t k{};
    pthread_key_create(&k, retire);
    return k;
  }();
  return key;
}

// The lane lives in a chunk of the pool: no malloc, which a signal may have interrupted.
Lane* make_lane() noexcept {
  if (making_lane) return nullptr;
  making_lane = true;
  fence();
  Lane* lane = nullptr;
  constexpr std::size_t kSlots = (sizeof(Lane) + sizeof(Record) - 1) / sizeof(Record);
  if (Chunk* const memory = chunk_pool().take(kSlots, true)) {
    lane = new (memory->begin()) Lane;
    lane->tid = gettid();
    prctl(PR_GET_NAME, lane->name);
    pthread_setspecific(exit_key(), lane);
    lane->next = new_lanes.load(std::memory_order_relaxed);
    while (!new_lanes.compare_exchange_weak(lane->next, lane, std::memory_order_release,
                                            std::memory_order_relaxed)) {
    }
    this_lane = lane;
  }
  fence();
  making_lane = false;
  return lane;
}

// Once a chunk, or once a dropped scope.
bool grow(Lane& lane, std::size_t slots) noexcept {
  const std::uint32_t window = window_number.load(std::memory_order_relaxed);
  if (lane.full_window == window) return false;
  Chunk* const chunk = chunk_pool().take(slots, lane.chunk == nullptr);
  if (chunk == nullptr) {
    // Not after a refused long name only: short ones may fit yet.
    if (slots * sizeof(Record) <= kSmallChunk / 2) lane.full_window = window;
    return false;
  }
  lane.cursor = chunk->begin();
  lane.limit = chunk->limit();
  (lane.chunk != nullptr ? lane.chunk->next : lane.first_chunk)
      .store(chunk, std::memory_order_release);
  lane.chunk = chunk;
  return true;
}

Record* begin(std::uint32_t site, std::uint64_t arg, std::string_view name) noexcept {
  Lane* lane = this_lane;
  if (lane == nullptr) [[unlikely]]
    lane = make_lane();
  if (lane == nullptr || site == 0 || lane->busy.load(std::memory_order_relaxed) != 0)
      [[unlikely]] {
    drop(lane);
    return nullptr;
  }
  lane->busy.store(1, std::memory_order_relaxed);
  fence();
  const std::size_t slots = 1 + slots_for_name(name.size());
  Record* r = nullptr;
  if (static_cast<std::size_t>(lane->limit - lane->cursor) >= slots || grow(*lane, slots))
      [[likely]] {
    r = lane->cursor;
    lane->cursor = r + slots;
    r->t1.store(0, std::memory_order_relaxed);
    r->site.store(site, std::memory_order_relaxed);
    r->aux.store(static_cast<std::uint32_t>(name.size()), std::memory_order_relaxed);
    r->arg.store(arg, std::memory_order_relaxed);
    if (!name.empty()) std::memcpy(static_cast<void*>(r + 1), name.data(), name.size());
    r->t0.store(ticks(), std::memory_order_relaxed);
    lane->chunk->end.store(lane->cursor, std::memory_order_release);
  } else {
    drop(lane);
  }
  fence();
  lane->busy.store(0, std::memory_order_relaxed);
  return r;
}

}  // namespace

Record* begin_scope(Site& site) noexcept {
  std::uint32_t id = site.id.load(std::memory_order_relaxed);
  if (id == 0) [[unlikely]]
    id = register_site(site);
  return begin(id, 0, {});
}

Record* begin_scope(std::string_view name, RecordScope scope) noexcept {
  // The length field has 32 bits; a longer name keeps its start.
  name = name.substr(0, 0x7FFF'FFFF);
  return begin(scope == RecordScope::kFunction ? kDynamicFunction : kDynamicUserScope, 0, name);
}

Record* begin_step(std::uint64_t number) noexcept {
  return recording.load(std::memory_order_relaxed) != 0 ? begin(kStepSite, number, {}) : nullptr;
}

void end_scope(Record* record) noexcept { record->t1.store(ticks(), std::memory_order_release); }

Lane* take_new_lanes() noexcept { return new_lanes.exchange(nullptr, std::memory_order_acquire); }

void free_lane(Lane* lane) noexcept {
  auto* const memory = reinterpret_cast<Chunk*>(lane) - 1;
  lane->~Lane();
  chunk_pool().give_back(memory);
}

void forget_lanes_after_fork() noexcept {
  this_lane = nullptr;
  making_lane = false;
  new_lanes.store(nullptr, std::memory_order_relaxed);
}

}  // namespace libtrace::detail
