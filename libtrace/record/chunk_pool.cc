#include "libtrace/record/chunk_pool.h"

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>

#include <new>
#include <utility>

namespace libtrace::detail {
namespace {

constinit thread_local bool holds_lock = false;

// Maps and touches: the page faults happen here (1.8 us each), not in a scope.
Chunk* map_chunk(std::size_t bytes) noexcept {
  void* const p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) return nullptr;
  auto* const chunk = new (p) Chunk;
  chunk->bytes = bytes;
  return chunk;
}
void unmap_chunk(Chunk* chunk) noexcept { munmap(chunk, chunk->bytes); }

Chunk* prepared(Chunk* chunk) noexcept {
  chunk->next.store(nullptr, std::memory_order_relaxed);
  chunk->link = nullptr;
  chunk->holders.store(1, std::memory_order_relaxed);
  chunk->end.store(chunk->begin(), std::memory_order_relaxed);
  return chunk;
}

Chunk* pop(Chunk*& list) noexcept {
  Chunk* const chunk = list;
  if (chunk != nullptr) list = chunk->link;
  return chunk;
}
void push(Chunk*& list, Chunk* chunk) noexcept {
  chunk->link = list;
  list = chunk;
}

}  // namespace

bool ChunkPool::acquire() noexcept {
  if (holds_lock) return false;
  holds_lock = true;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  while (lock_.test_and_set(std::memory_order_acquire)) lock_.wait(true);
  return true;
}

void ChunkPool::release() noexcept {
  lock_.clear(std::memory_order_release);
  lock_.notify_one();
  std::atomic_signal_fence(std::memory_order_seq_cst);
  holds_lock = false;
}

bool ChunkPool::reserve(std::size_t bytes) noexcept {
  const std::size_t max = max_bytes_.load(std::memory_order_relaxed);
  std::size_t used = in_use_.load(std::memory_order_relaxed);
  do {
    if (bytes > max || used > max - bytes) return false;
  } while (!in_use_.compare_exchange_weak(used, used + bytes, std::memory_order_relaxed));
  return true;
}

bool ChunkPool::charge(std::size_t bytes) noexcept {
  if (max_bytes_.load(std::memory_order_relaxed) != 0) return reserve(bytes);
  in_use_.fetch_add(bytes, std::memory_order_relaxed);
  return true;
}

std::size_t ChunkPool::reserve_size(std::size_t needed, bool small) noexcept {
  if (needed > kLargeChunk) {
    const std::size_t bytes = (needed + kSmallChunk - 1) / kSmallChunk * kSmallChunk;
    return reserve(bytes) ? bytes : 0;
  }
  const bool fits_small = needed <= kSmallChunk;
  if (!(small && fits_small) && reserve(kLargeChunk)) return kLargeChunk;
  return fits_small && reserve(kSmallChunk) ? kSmallChunk : 0;
}

Chunk* ChunkPool::from_stock(std::size_t bytes) noexcept {
  if (bytes > kLargeChunk || !acquire()) return nullptr;
  Chunk* const chunk = pop(bytes == kLargeChunk ? stock_ : small_);
  if (chunk != nullptr && bytes == kLargeChunk) stocked_.fetch_sub(1, std::memory_order_relaxed);
  release();
  if (bytes == kLargeChunk && stocked() < keeper_low_.load(std::memory_order_relaxed)) {
    wake_keeper();
  }
  return chunk;
}

Chunk* ChunkPool::take(std::size_t slots, bool small) noexcept {
  const std::size_t bytes = reserve_size(sizeof(Chunk) + slots * sizeof(Record), small);
  if (bytes == 0) return nullptr;
  Chunk* chunk = from_stock(bytes);
  if (chunk == nullptr) chunk = map_chunk(bytes);
  if (chunk == nullptr) {
    in_use_.fetch_sub(bytes, std::memory_order_relaxed);
    return nullptr;
  }
  return prepared(chunk);
}

void ChunkPool::put_in_stock(Chunk* chunk) noexcept {
  if (chunk->bytes > kLargeChunk || !acquire()) {
    unmap_chunk(chunk);
    return;
  }
  push(chunk->bytes == kLargeChunk ? stock_ : small_, chunk);
  if (chunk->bytes == kLargeChunk) stocked_.fetch_add(1, std::memory_order_relaxed);
  release();
}

void ChunkPool::give_back(Chunk* chunk) noexcept {
  if (chunk->holders.fetch_sub(1, std::memory_order_acq_rel) == 1) retire(chunk);
}

void ChunkPool::give_back_later(Chunk* chunk) noexcept {
  if (chunk->holders.fetch_sub(1, std::memory_order_acq_rel) != 1 || !acquire()) return;
  push(doomed_, chunk);
  release();
}

void ChunkPool::wake_keeper() noexcept {
  keeper_call_.fetch_add(1, std::memory_order_release);
  keeper_call_.notify_one();
}

void ChunkPool::retire_doomed() noexcept {
  if (!acquire()) return;
  Chunk* list = std::exchange(doomed_, nullptr);
  release();
  while (Chunk* const chunk = pop(list)) retire(chunk);
}

void ChunkPool::retire(Chunk* chunk) noexcept {
  if (has_open_record(*chunk)) {
    if (!acquire()) return;
    push(parked_, chunk);
    release();
    return;
  }
  in_use_.fetch_sub(chunk->bytes, std::memory_order_relaxed);
  put_in_stock(chunk);
}

void ChunkPool::sweep_parked() noexcept {
  if (keeper_ == nullptr) retire_doomed();
  if (!acquire()) return;
  Chunk* list = std::exchange(parked_, nullptr);
  release();
  while (Chunk* const chunk = pop(list)) retire(chunk);
}

void ChunkPool::stock(std::size_t count) noexcept {
  for (std::size_t have = stocked(); have < count; ++have) {
    if (bytes_in_use() + (have + 1) * kLargeChunk > max_bytes_.load(std::memory_order_relaxed)) {
      return;
    }
    Chunk* const chunk = map_chunk(kLargeChunk);
    if (chunk == nullptr) return;
    put_in_stock(chunk);
  }
}

void ChunkPool::trim(std::size_t count) noexcept {
  if (!acquire()) return;
  Chunk* spare = std::exchange(small_, nullptr);
  while (stocked() > count) {
    push(spare, pop(stock_));
    stocked_.fetch_sub(1, std::memory_order_relaxed);
  }
  release();
  while (Chunk* const chunk = pop(spare)) unmap_chunk(chunk);
}

void ChunkPool::keep(std::size_t count) noexcept {
  for (;;) {
    const std::uint32_t seen = keeper_call_.load(std::memory_order_acquire);
    if (keeper_stops_.load(std::memory_order_acquire)) return;
    retire_doomed();
    stock(count);
    keeper_call_.wait(seen, std::memory_order_acquire);
  }
}

void ChunkPool::start_keeper(std::size_t count) noexcept {
  if (keeper_ != nullptr) return;
  keeper_stops_.store(false, std::memory_order_relaxed);
  keeper_low_.store(count, std::memory_order_relaxed);
  // The host's signals are none of the keeper's business.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    keeper_ = new std::thread([this, count] {
      pthread_setname_np(pthread_self(), "libtrace");
      keep(count);
    });
  } catch (...) {
    keeper_ = nullptr;
    keeper_low_.store(0, std::memory_order_relaxed);
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void ChunkPool::stop_keeper() noexcept {
  if (keeper_ == nullptr) return;
  keeper_low_.store(0, std::memory_order_relaxed);
  keeper_stops_.store(true, std::memory_order_release);
  keeper_call_.fetch_add(1, std::memory_order_release);
  keeper_call_.notify_one();
  keeper_->join();
  delete std::exchange(keeper_, nullptr);
  retire_doomed();
}

void ChunkPool::after_fork_in_child() noexcept {
  release();
  parked_ = doomed_ = nullptr;
  in_use_.store(0, std::memory_order_relaxed);  // the lanes are forgotten too
  keeper_ = nullptr;  // that thread is the parent's; its handle is leaked rather than joined
  keeper_low_.store(0, std::memory_order_relaxed);
}

ChunkPool& chunk_pool() noexcept {
  alignas(ChunkPool) static std::byte memory[sizeof(ChunkPool)];
  static ChunkPool& pool = *new (memory) ChunkPool;
  return pool;
}

}  // namespace libtrace::detail
