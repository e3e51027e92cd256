// Memory that CUPTI writes its records into: handed out and taken back on CUPTI's threads and the
// program's, read and cleaned by the collector's.
//
// At the ceiling CUPTI gets nothing and drops records, which it counts. CUPTI before 12.9 crashes
// on that: it gets a small scrap buffer instead, which comes back marked.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace libtrace::cupti {

struct BufferLimits {
  std::size_t bytes = std::size_t{4} << 20;      // of one buffer; NVIDIA advises 1 to 10 MB
  std::size_t ceiling = std::size_t{128} << 20;  // of all together
  bool may_refuse = false;                       // CUPTI bears a null buffer
};

// Stands before the bytes that CUPTI sees.
struct alignas(64) Buffer {
  Buffer* next = nullptr;
  std::size_t size = 0;   // of what follows
  std::size_t valid = 0;  // written by CUPTI
  bool scrap = false;

  [[nodiscard]] std::uint8_t* bytes() noexcept { return reinterpret_cast<std::uint8_t*>(this + 1); }
  static Buffer* of(std::uint8_t* bytes) noexcept { return reinterpret_cast<Buffer*>(bytes) - 1; }
};

class BufferPool {
 public:
  static constexpr std::size_t kScrapBytes = 16 << 10;

  BufferPool() = default;
  // Frees the stock; what is handed out stays its holder's.
  ~BufferPool() { trim(); }
  BufferPool(const BufferPool&) = delete;
  BufferPool& operator=(const BufferPool&) = delete;

  // For the buffers to come; those of another size are freed as they come back.
  void configure(const BufferLimits& limits) noexcept;

  // A buffer of zeros; nullptr at the ceiling or without memory.
  Buffer* request() noexcept;
  // CUPTI is done with it: for the collector, in order. Allocates nothing, never waits long.
  void complete(Buffer* buffer, std::size_t valid) noexcept;

  // The collector's side. All completed ones since the last call, oldest first, linked by next.
  Buffer* take_completed() noexcept;
  // Cleans and stocks, or frees.
  void give_back(Buffer* buffer) noexcept;
  // Has `count` ready, as the ceiling allows, so that no launch waits for fresh memory.
  void stock(std::size_t count) noexcept;
  // Sleeps until something is completed or wake() is called, from the time of calls() on.
  [[nodiscard]] std::uint32_t calls() const noexcept { return call_.load(); }
  void wait(std::uint32_t calls) noexcept { call_.wait(calls); }
  void wake() noexcept;

  // Until all are back and read: those that came back, for at most `limit`; those that CUPTI holds,
  // for `silence` without one coming back, or not at all when they are no more than `expected` (it
  // may keep an empty one for later). How many CUPTI still holds.
  std::size_t wait_all_back(std::chrono::milliseconds limit, std::chrono::milliseconds silence,
                            std::size_t expected) noexcept;

  [[nodiscard]] std::size_t outstanding() const noexcept;
  [[nodiscard]] std::size_t bytes() const noexcept;
  // Requests at the ceiling so far.
  [[nodiscard]] std::uint64_t refused() const noexcept { return refused_.load(); }
  // Frees the stock.
  void trim() noexcept;

 private:
  Buffer* allocate(std::size_t size, bool scrap) noexcept;
  static void release(Buffer* buffer) noexcept;

  mutable std::mutex mutex_;  // no call of CUPTI, no system call but for memory under it
  std::condition_variable back_;
  BufferLimits limits_;
  Buffer* stock_ = nullptr;
  std::size_t stocked_ = 0;
  std::size_t bytes_ = 0;                    // of all that are not scrap
  std::size_t outstanding_ = 0;              // handed out and not given back
  std::atomic<std::size_t> held_{0};         // of those, not completed yet
  std::atomic<Buffer*> completed_{nullptr};  // newest first
  std::atomic<std::uint32_t> call_{0};       // bumped to wake the collector
  std::atomic<std::uint64_t> refused_{0};
};

}  // namespace libtrace::cupti
