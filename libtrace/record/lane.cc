#include "libtrace/record/lane.h"

#include <pthread.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstring>
#include <new>
#include <string_view>

#include "libtrace/range.h"
#include "libtrace/record/chunk_pool.h"
#include "libtrace/record/clock.h"
#include "libtrace/record/payload.h"
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

// Between these two the lane is the caller's, whatever signal comes. nullptr: dropped and counted.
[[gnu::always_inline]] inline Lane* enter() noexcept {
  Lane* lane = this_lane;
  if (lane == nullptr) [[unlikely]]
    lane = make_lane();
  if (lane == nullptr || lane->busy.load(std::memory_order_relaxed) != 0) [[unlikely]] {
    drop(lane);
    return nullptr;
  }
  lane->busy.store(1, std::memory_order_relaxed);
  fence();
  return lane;
}
[[gnu::always_inline]] inline void leave(Lane& lane) noexcept {
  fence();
  lane.busy.store(0, std::memory_order_relaxed);
}

// Room for a record and what stands behind it; nullptr: dropped and counted.
[[gnu::always_inline]] inline Record* reserve(Lane& lane, std::size_t bytes) noexcept {
  const std::size_t slots = 1 + slots_for(bytes);
  if (static_cast<std::size_t>(lane.limit - lane.cursor) < slots && !grow(lane, slots))
      [[unlikely]] {
    drop(&lane);
    return nullptr;
  }
  Record* const r = lane.cursor;
  lane.cursor = r + slots;
  return r;
}

// All of it but the bytes behind it, which are written before.
[[gnu::always_inline]] inline void publish(Lane& lane, Record& r, std::uint32_t site,
                                           std::size_t bytes, std::uint64_t arg,
                                           bool is_moment) noexcept {
  if (!is_moment) r.t1.store(0, std::memory_order_relaxed);
  r.site.store(site, std::memory_order_relaxed);
  r.aux.store(static_cast<std::uint32_t>(bytes), std::memory_order_relaxed);
  r.arg.store(arg, std::memory_order_relaxed);
  const std::uint64_t now = ticks();
  r.t0.store(now, std::memory_order_relaxed);
  if (is_moment) r.t1.store(now, std::memory_order_relaxed);
  lane.chunk->end.store(lane.cursor, std::memory_order_release);
}

Record* begin(std::uint32_t site, std::uint64_t arg, std::string_view bytes,
              bool is_moment = false) noexcept {
  Lane* const lane = enter();
  if (lane == nullptr) [[unlikely]]
    return nullptr;
  Record* const r = reserve(*lane, bytes.size());
  if (r != nullptr) [[likely]] {
    if (!bytes.empty()) std::memcpy(static_cast<void*>(r + 1), bytes.data(), bytes.size());
    publish(*lane, *r, site, bytes.size(), arg, is_moment);
  }
  leave(*lane);
  return r;
}

// The length field has 32 bits; a longer name keeps its start.
std::string_view clipped_name(std::string_view name) noexcept {
  return name.substr(0, 0x7FFF'FFFF);
}

constexpr std::uint32_t bit(Detail d) noexcept { return static_cast<std::uint32_t>(d); }

// The caller's stack; its frames only where this window's records of the lane have not said them.
Stack stack_here(Lane& lane, std::uint64_t* frames, std::uint64_t*& said) noexcept {
  const std::uint32_t window = window_number.load(std::memory_order_acquire);
  if (lane.said_window != window) {
    std::memset(lane.said, 0, sizeof lane.said);
    lane.said_window = window;
    if (lane.stack.high == 0) lane.stack = stack_bounds_here();
  }
  Stack stack;
  stack.frames = frames;
  stack.count =
      static_cast<std::uint16_t>(capture_stack(lane.stack, frames, kMostFrames, stack.hash));
  if (stack.hash == 0) return stack;
  std::uint64_t& known = lane.said[stack.hash % kSaidStacks];
  if (known == stack.hash) {
    stack.count = 0;
  } else {
    said = &known;
  }
  return stack;
}

inline char* behind(Record* r) noexcept { return reinterpret_cast<char*>(r + 1); }

[[gnu::always_inline]] inline Record* write_range(Lane& lane, std::uint32_t site,
                                                  std::string_view name,
                                                  const RangeDetails& details, bool inputs,
                                                  const Stack& stack,
                                                  bool is_moment = false) noexcept {
  Record* r = lane.cursor;
  const char* end = nullptr;
  // Where what is left of the chunk will do, as nearly always, nobody needs to know beforehand how
  // much it is.
  const auto left = static_cast<std::size_t>(lane.limit - r) * sizeof(Record);
  if (left >= sizeof(Record) + head_bytes(name, stack)) [[likely]] {
    end = put_details(behind(r), reinterpret_cast<const char*>(lane.limit), name, details, inputs,
                      stack);
  }
  if (end == nullptr) [[unlikely]] {
    r = reserve(lane, most_bytes(name, details, inputs, stack));
    if (r == nullptr) return nullptr;
    end = put_details(behind(r), reinterpret_cast<const char*>(lane.cursor), name, details, inputs,
                      stack);
  }
  const auto bytes = static_cast<std::size_t>(end - behind(r));
  lane.cursor = r + 1 + slots_for(bytes);
  publish(lane, *r, site | site_bit::kHasDetails, bytes, 0, is_moment);
  return r;
}

// Apart, for the room that the frames take on the stack.
[[gnu::noinline]] Record* begin_with_stack(std::uint32_t site, std::string_view name,
                                           const RangeDetails& details, bool inputs) noexcept {
  Lane* const lane = enter();
  if (lane == nullptr) return nullptr;
  std::uint64_t frames[kMostFrames];
  std::uint64_t* said = nullptr;
  const Stack stack = stack_here(*lane, frames, said);
  Record* const r = write_range(*lane, site, name, details, inputs, stack);
  if (r != nullptr && said != nullptr) *said = stack.hash;
  leave(*lane);
  return r;
}

Record* begin_with(std::uint32_t site, std::string_view name, const RangeDetails& details,
                   std::uint32_t mask) noexcept {
  const bool inputs = (mask & bit(Detail::kShapes)) != 0;
  if ((mask & bit(Detail::kStacks)) != 0) return begin_with_stack(site, name, details, inputs);
  Lane* const lane = enter();
  if (lane == nullptr) return nullptr;
  Record* const r = write_range(*lane, site, name, details, inputs, Stack{});
  leave(*lane);
  return r;
}

// What the window asks of ranges; 0: none are wanted.
std::uint32_t mask_for_ranges() noexcept {
  const std::uint32_t mask = recording.load(std::memory_order_relaxed);
  return (mask & bit(Detail::kRanges)) != 0 ? mask : 0;
}
constexpr std::uint32_t kPlain = bit(Detail::kRanges) | bit(Detail::kShapes) |
                                 bit(Detail::kMemory) | bit(Detail::kModules) | kStepsBit;

std::uint32_t id_of(Site& site) noexcept {
  const std::uint32_t id = site.id.load(std::memory_order_acquire);
  return id != 0 ? id : register_site(site);
}
constexpr std::uint32_t dynamic_site(RecordScope scope) noexcept {
  return scope == RecordScope::kFunction ? kDynamicFunction : kDynamicUserScope;
}

}  // namespace

Record* begin_scope(Site& site) noexcept {
  const std::uint32_t mask = mask_for_ranges();
  if (mask == 0) return nullptr;
  std::uint32_t id = site.id.load(std::memory_order_acquire);
  if (id == 0) [[unlikely]] {
    id = register_site(site);
    if (id == 0) {
      drop(this_lane);
      return nullptr;
    }
  }
  if ((mask & ~kPlain) != 0) return begin_with(id, {}, {}, mask);
  return begin(id, 0, {});
}

Record* begin_scope(Site& site, const RangeDetails& details) noexcept {
  const std::uint32_t mask = mask_for_ranges();
  if (mask == 0) return nullptr;
  const std::uint32_t id = id_of(site);
  if (id == 0) {
    drop(this_lane);
    return nullptr;
  }
  return begin_with(id, {}, details, mask);
}

Record* begin_scope(std::string_view name, RecordScope scope) noexcept {
  const std::uint32_t mask = mask_for_ranges();
  if (mask == 0) return nullptr;
  if ((mask & ~kPlain) != 0) return begin_with(dynamic_site(scope), clipped_name(name), {}, mask);
  return begin(dynamic_site(scope), 0, clipped_name(name));
}

Record* begin_scope(std::string_view name, RecordScope scope,
                    const RangeDetails& details) noexcept {
  const std::uint32_t mask = mask_for_ranges();
  if (mask == 0) return nullptr;
  return begin_with(dynamic_site(scope), clipped_name(name), details, mask);
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

namespace libtrace {

OpenRange* begin_async_range(std::string_view name, RecordScope scope,
                             const RangeDetails& details) noexcept {
  using namespace detail;
  const std::uint32_t mask = mask_for_ranges();
  if (mask == 0) return nullptr;
  return begin_with(dynamic_site(scope) | site_bit::kAsync, clipped_name(name), details, mask);
}

void end_async_range(OpenRange* range) noexcept {
  if (range == nullptr) return;
  const detail::Lane* const lane = detail::this_lane;
  range->arg.store(static_cast<std::uint64_t>(lane != nullptr ? lane->tid : gettid()),
                   std::memory_order_relaxed);
  detail::end_scope(range);
}

ModuleScope::ModuleScope(std::string_view name) noexcept
    : range_(wants(Detail::kModules)
                 ? detail::begin(detail::kModuleSite, 0, detail::clipped_name(name))
                 : nullptr) {}

void report_memory(const MemoryReport& report) noexcept {
  if (!wants(Detail::kMemory)) return;
  char bytes[sizeof report];
  std::memcpy(bytes, &report, sizeof report);
  detail::begin(detail::kMemorySite, 0, {bytes, sizeof bytes}, true);
}

void mark(std::string_view name) noexcept {
  if (wants(Detail::kRanges)) detail::begin(detail::kMarkSite, 0, detail::clipped_name(name), true);
}

void mark(std::string_view name, const RangeDetails& details) noexcept {
  using namespace detail;
  const std::uint32_t mask = mask_for_ranges();
  if (mask == 0) return;
  Lane* const lane = enter();
  if (lane == nullptr) return;
  const bool inputs = (mask & bit(Detail::kShapes)) != 0;
  write_range(*lane, kMarkSite, clipped_name(name), details, inputs, Stack{}, true);
  leave(*lane);
}

void count(std::string_view name, double value) noexcept {
  if (!wants(Detail::kRanges)) return;
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  detail::begin(detail::kCounterSite, bits, detail::clipped_name(name), true);
}

}  // namespace libtrace
