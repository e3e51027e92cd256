// Between CUPTI's callbacks, which carry no user data and come on any thread, and the log of the
// window: one a process, never destroyed, since CUPTI may call until the very end of it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

#include "libtrace/cupti/api.h"
#include "libtrace/cupti/buffers.h"
#include "libtrace/cupti/event_log.h"

namespace libtrace::cupti {

class Collector {
 public:
  static Collector& instance();

  // Who to ask to step through records. A thread starts at the first call.
  bool start(const CuptiApi& api, const BufferLimits& limits) noexcept;
  // Ends the thread, frees the stock. What CUPTI still holds stays valid.
  void stop() noexcept;

  // Forgets what came so far; from here on keep it (at most `max_bytes`), or throw it away.
  void keep(std::size_t max_bytes);
  void discard();
  // What was kept since, and an empty log that throws away in its place.
  EventLog take();
  void note_dropped_by_cupti(std::uint64_t records);

  // Until every buffer is back and read; see BufferPool::wait_all_back.
  std::size_t wait_all_back(std::chrono::milliseconds limit, std::chrono::milliseconds silence,
                            std::size_t expected) noexcept {
    return pool_.wait_all_back(limit, silence, expected);
  }
  [[nodiscard]] std::size_t outstanding() const noexcept { return pool_.outstanding(); }

  // The recorder began in another process: nothing here may be touched.
  [[nodiscard]] bool belongs_to_parent() const noexcept;

  // What CUPTI calls.
  static void buffer_requested(std::uint8_t** buffer, std::size_t* size, std::size_t* max_records);
  static void buffer_completed(Context context, std::uint32_t stream, std::uint8_t* buffer,
                               std::size_t size, std::size_t valid);

 private:
  void run() noexcept;
  void read(Buffer& buffer) noexcept;

  BufferPool pool_;
  std::thread* thread_ = nullptr;  // a child of fork has none, whatever this says
  std::atomic<bool> stops_{false};
  std::uint64_t born_in_fork_ = 0;
  std::atomic<bool> started_{false};

  // The members below. Never taken in a callback: CUPTI may hold locks of its own there, and is
  // asked to step through records under this one.
  std::mutex mutex_;
  CuptiApi api_;
  EventLog log_;
  bool keeping_ = false;
};

}  // namespace libtrace::cupti
