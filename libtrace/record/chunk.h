// The memory a thread records into, and what one scope leaves there.
//
// A scope takes its 32-byte slot at its begin and patches `t1` at its end, so that a lane is in
// the order of begins, needs no matching of ends, and shows what is still open. A name made at
// run time fills the slots behind its record:
//
//   slot   | t0 t1 site aux arg |                          site of a LIBTRACE_SCOPE
//          | t0 t1 kDynamic… 40 | 40 bytes of name …… |      a run-time name: 1 + 2 slots
//          | t0 t1 kStepSite arg=7 |                       ProfilerStep#7
//          | t0 t1 kHasDetails… 200 | 200 bytes …… |        shapes, arguments, stack: payload.h
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
  std::atomic<std::uint32_t> aux;  // bytes behind it
  // Number of a step, bits of a counter's value; of a range that may end on any thread, the id of
  // the thread that ended it.
  std::atomic<std::uint64_t> arg;
};
static_assert(sizeof(Record) == 32);

// Ids below kFirstSite are no places in the source. Of memory, marks and
// counters a record is over as it begins.
inline constexpr std::uint32_t kDynamicFunction = 1, kDynamicUserScope = 2, kStepSite = 3,
                               kModuleSite = 4, kMemorySite = 8, kMarkSite = 9, kCounterSite = 10,
                               kFirstSite = 16;
// Bits of Record::site above the id.
namespace site_bit {
inline constexpr std::uint32_t kHasDetails = 1U << 31;  // behind it stands more than a name
inline constexpr std::uint32_t kAsync = 1U << 30;       // may end on another thread
inline constexpr std::uint32_t kAll = kHasDetails | kAsync;
}  // namespace site_bit

constexpr std::size_t slots_for(std::size_t bytes) noexcept {
  return (bytes + sizeof(Record) - 1) / sizeof(Record);
}
// Slots a record takes, with what stands behind it.
inline std::size_t slots_of(const Record& r) noexcept {
  return 1 + slots_for(r.aux.load(std::memory_order_relaxed));
}
inline std::string_view bytes_behind(const Record& r) noexcept {
  return {reinterpret_cast<const char*>(&r + 1), r.aux.load(std::memory_order_relaxed)};
}

struct alignas(64) Chunk {
  std::atomic<Record*> end;  // published records stand before it
  std::atomic<Chunk*> next;  // of the same lane, later; set once the owner has moved on
  Chunk* link;               // in a list of the pool
  std::size_t bytes;         // whole mapping, this header included
  // Its lane until it has handed out the last of it, and each snapshot that shows a part.
  std::atomic<std::uint32_t> holders;

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
