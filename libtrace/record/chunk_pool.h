// Where chunks come from and go to: a ceiling on what recording may hold, a stock of touched
// memory so that a scope seldom meets a page fault, and a place to wait for chunks whose scopes
// have not ended yet.
//
// Lock: `lock_` is held for a few loads and stores, never across a system call. A signal handler
// that interrupts the holder is refused instead of deadlocked.
#pragma once

#include <atomic>
#include <cstddef>
#include <thread>

#include "libtrace/record/chunk.h"

namespace libtrace::detail {

class ChunkPool {
 public:
  // Ceiling of bytes in use, for the takes to come.
  void set_max_bytes(std::size_t bytes) noexcept {
    max_bytes_.store(bytes, std::memory_order_relaxed);
  }

  // A chunk that holds at least `slots` records, the smaller size if `small` will do or nothing
  // else fits; nullptr at the ceiling or when the system has no memory.
  Chunk* take(std::size_t slots, bool small) noexcept;
  // One more holder of a chunk that has one.
  static void hold(Chunk* chunk) noexcept {
    chunk->holders.fetch_add(1, std::memory_order_relaxed);
  }
  // A holder less; takes back what nobody holds. A chunk with open scopes is parked until they end.
  void give_back(Chunk* chunk) noexcept;
  // The same, but what it takes (a look at every record) is the keeper's to do.
  void give_back_later(Chunk* chunk) noexcept;
  void wake_keeper() noexcept;
  // Frees parked chunks whose scopes have ended meanwhile.
  void sweep_parked() noexcept;

  // Memory that recording holds elsewhere (a device's events), under the same ceiling; false: it
  // does not fit. Before the first set_max_bytes() there is none.
  bool charge(std::size_t bytes) noexcept;
  void discharge(std::size_t bytes) noexcept {
    in_use_.fetch_sub(bytes, std::memory_order_relaxed);
  }

  // Has `count` large chunks ready and touched, as the ceiling allows.
  void stock(std::size_t count) noexcept;
  // Keeps at most `count` in stock, returns the rest to the system.
  void trim(std::size_t count) noexcept;
  // A thread that keeps the stock up while a session runs. Does without when there is none.
  void start_keeper(std::size_t count) noexcept;
  void stop_keeper() noexcept;

  [[nodiscard]] std::size_t bytes_in_use() const noexcept {
    return in_use_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] std::size_t stocked() const noexcept {
    return stocked_.load(std::memory_order_relaxed);
  }

  // Around fork(): the child gets a consistent pool and no keeper.
  void before_fork() noexcept { acquire(); }
  void after_fork_in_parent() noexcept { release(); }
  void after_fork_in_child() noexcept;

 private:
  bool acquire() noexcept;  // false: this thread holds it already (we are in its signal handler)
  void release() noexcept;
  bool reserve(std::size_t bytes) noexcept;                           // against the ceiling
  std::size_t reserve_size(std::size_t needed, bool small) noexcept;  // 0: refused
  Chunk* from_stock(std::size_t bytes) noexcept;
  void put_in_stock(Chunk* chunk) noexcept;
  void retire(Chunk* chunk) noexcept;
  void retire_doomed() noexcept;
  void keep(std::size_t count) noexcept;

  std::atomic_flag lock_;
  Chunk* stock_ = nullptr;  // large ones
  Chunk* small_ = nullptr;
  Chunk* parked_ = nullptr;
  Chunk* doomed_ = nullptr;  // held by nobody, not looked at yet
  std::atomic<std::size_t> max_bytes_{0}, in_use_{0}, stocked_{0};

  std::atomic<std::uint32_t> keeper_call_{0};  // bumped to wake the keeper
  std::atomic<bool> keeper_stops_{false};
  std::atomic<std::size_t> keeper_low_{0};
  std::thread* keeper_ = nullptr;
};

// The process's own; never destroyed, scopes may end during exit.
ChunkPool& chunk_pool() noexcept;

}  // namespace libtrace::detail
