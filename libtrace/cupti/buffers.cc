#include "libtrace/cupti/buffers.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

namespace libtrace::cupti {

void BufferPool::configure(const BufferLimits& limits) noexcept {
  if (limits.bytes != limits_.bytes) trim();  // set by this thread only
  const std::lock_guard lock(mutex_);
  limits_ = limits;
}

Buffer* BufferPool::allocate(std::size_t size, bool scrap) noexcept {
  void* const memory =
      ::operator new(sizeof(Buffer) + size, std::align_val_t{alignof(Buffer)}, std::nothrow);
  if (memory == nullptr) return nullptr;
  auto* const buffer = new (memory) Buffer;
  buffer->size = size;
  buffer->scrap = scrap;
  std::memset(buffer->bytes(), 0, size);
  return buffer;
}

void BufferPool::release(Buffer* buffer) noexcept {
  ::operator delete(buffer, std::align_val_t{alignof(Buffer)});
}

Buffer* BufferPool::request() noexcept {
  std::size_t size = 0;
  bool scrap = false;
  {
    const std::lock_guard lock(mutex_);
    ++outstanding_;
    ++held_;
    if (stock_ != nullptr) {
      Buffer* const buffer = std::exchange(stock_, stock_->next);
      buffer->next = nullptr;
      if (--stocked_ == 0) wake();  // the collector has time to make the next one
      return buffer;
    }
    size = limits_.bytes;
    if (bytes_ + size <= limits_.ceiling) {
      bytes_ += size;
    } else {
      scrap = true;
      size = limits_.may_refuse ? 0 : kScrapBytes;
    }
  }
  if (scrap) refused_.fetch_add(1, std::memory_order_relaxed);
  Buffer* const buffer = size == 0 ? nullptr : allocate(size, scrap);
  if (buffer == nullptr) {
    const std::lock_guard lock(mutex_);
    --outstanding_;
    --held_;
    if (!scrap) bytes_ -= size;
  }
  return buffer;
}

void BufferPool::complete(Buffer* buffer, std::size_t valid) noexcept {
  buffer->valid = std::min(valid, buffer->size);
  --held_;
  buffer->next = completed_.load(std::memory_order_relaxed);
  while (!completed_.compare_exchange_weak(buffer->next, buffer, std::memory_order_release,
                                           std::memory_order_relaxed)) {
  }
  wake();
}

Buffer* BufferPool::take_completed() noexcept {
  Buffer* newest = completed_.exchange(nullptr, std::memory_order_acquire);
  Buffer* oldest = nullptr;
  while (newest != nullptr) {
    Buffer* const next = std::exchange(newest->next, oldest);
    oldest = std::exchange(newest, next);
  }
  return oldest;
}

void BufferPool::give_back(Buffer* buffer) noexcept {
  // All of it: CUPTI may have written behind what it calls valid.
  std::memset(buffer->bytes(), 0, buffer->size);
  buffer->valid = 0;
  bool keep = false;
  {
    const std::lock_guard lock(mutex_);
    --outstanding_;
    keep = !buffer->scrap && buffer->size == limits_.bytes && bytes_ <= limits_.ceiling;
    if (keep) {
      buffer->next = std::exchange(stock_, buffer);
      ++stocked_;
    } else if (!buffer->scrap) {
      bytes_ -= buffer->size;
    }
  }
  back_.notify_all();
  if (!keep) release(buffer);
}

void BufferPool::stock(std::size_t count) noexcept {
  for (;;) {
    std::size_t size = 0;
    {
      const std::lock_guard lock(mutex_);
      if (stocked_ >= count || bytes_ + limits_.bytes > limits_.ceiling) return;
      size = limits_.bytes;
      bytes_ += size;
    }
    Buffer* const buffer = allocate(size, false);
    const std::lock_guard lock(mutex_);
    if (buffer == nullptr) {
      bytes_ -= size;
      return;
    }
    buffer->next = std::exchange(stock_, buffer);
    ++stocked_;
  }
}

void BufferPool::wake() noexcept {
  call_.fetch_add(1);
  call_.notify_one();
}

std::size_t BufferPool::wait_all_back(std::chrono::milliseconds limit,
                                      std::chrono::milliseconds silence,
                                      std::size_t expected) noexcept {
  using Clock = std::chrono::steady_clock;
  const auto deadline = Clock::now() + limit;
  std::unique_lock lock(mutex_);
  while (outstanding_ > 0 && Clock::now() < deadline) {
    const bool read_all = outstanding_ == held_.load();
    if (read_all && outstanding_ <= expected) break;
    const std::size_t before = outstanding_;
    const auto until = read_all ? std::min(deadline, Clock::now() + silence) : deadline;
    const bool came = back_.wait_until(lock, until, [&] { return outstanding_ < before; });
    if (!came && read_all && outstanding_ == held_.load()) break;
  }
  return held_.load();
}

std::size_t BufferPool::outstanding() const noexcept {
  const std::lock_guard lock(mutex_);
  return outstanding_;
}

std::size_t BufferPool::bytes() const noexcept {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

void BufferPool::trim() noexcept {
  Buffer* stock = nullptr;
  {
    const std::lock_guard lock(mutex_);
    stock = std::exchange(stock_, nullptr);
    stocked_ = 0;
    for (const Buffer* b = stock; b != nullptr; b = b->next) bytes_ -= b->size;
  }
  while (stock != nullptr) release(std::exchange(stock, stock->next));
}

}  // namespace libtrace::cupti
