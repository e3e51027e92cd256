// The memory a thread records into, and what one scope leaves there.
//
// A scope takes its 32-byte slot at its begin and patches `t1` at its end, so that a lane is in
// the order of begins, needs no matching of ends, and shows what is still open. A name made at
// run time fills the slots behind its record:
//
//   slot   | t0 t1 site aux arg |                          site of a LIBTRACE_SCOPE
//          | t0 t1 kDynamic… 40 | 40 bytes of name …… |      a run-time name: 1 + 2 slots
//          | t0 t1 kStepSite arg=7 |                       ProfilerStep#7
//
// One thread writes a chunk. It publishes `end` with release; whoever reads up to `end` after an
// acquire sees whole records. `t1` alone changes later, also with release, and only once.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace libtrace::detail {

struct Record {
  std::atomic<std::uint64_t> t0;  // ticks
  std::atomic<std::uint64_t> t1;  // ticks; 0: open
  std::atomic<std::uint32_t> site;
  std::atomic<std::uint32_t> aux;  // bytes of a run-time name
  std::atomic<std::uint64_t> arg;  // number of a step
};
static_assert(sizeof(Record) == 32);

// Ids below kFirstSite are no places in the source.
inline constexpr std::uint32_t kDynamicFunction = 1, kDynamicUserScope = 2, kStepSite = 3,
                               kFirstSite = 16;

constexpr std::size_t slots_for_name(std::size_t bytes) noexcept {
  return (bytes + sizeof(Record) - 1) / sizeof(Record);
}
// Slots a record takes, its name included.
inline std::size_t slots_of(const Record& r) noexcept {
  return 1 + slots_for_name(r.aux.load(std::memory_order_relaxed));
}
inline std::string_view name_behind(const Record& r) noexcept {
  return {reinterpret_cast<const char*>(&r + 1), r.aux.load(std::memory_order_relaxed)};
}

struct alignas(64) Chunk {
  std::atomic<Record*> end;  // published records stand before it
  std::atomic<Chunk*> next;  // of the same lane, later; set once the owner has moved on
  Chunk* link;               // in a list of the pool or a snapshot
  std::size_t bytes;         // whole mapping, this header included

  Record* begin() noexcept { return reinterpret_cast<Record*>(this + 1); }
  Record* limit() noexcept { return begin() + (bytes - sizeof(Chunk)) / sizeof(Record); }
};
static_assert(sizeof(Chunk) == 64);

// A thread that records little holds little; one that records much seldom comes back for more.
inline constexpr std::size_t kSmallChunk = 4096, kLargeChunk = 65536;

// Some scope in it has not ended. Reads every record; not for the hot path.
inline bool has_open_record(Chunk& chunk) noexcept {
  const Record* const end = chunk.end.load(std::memory_order_acquire);
  for (const Record* r = chunk.begin(); r < end; r += slots_of(*r)) {
    if (r->t1.load(std::memory_order_acquire) == 0) return true;
  }
  return false;
}

}  // namespace libtrace::detail
