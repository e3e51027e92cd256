#include "libtrace/cupti/collector.h"

#include <pthread.h>

#include <csignal>
#include <new>
#include <utility>

#include "libtrace/cupti/decode.h"
#include "libtrace/record/process.h"

namespace libtrace::cupti {
namespace {
constexpr std::size_t kStocked = 2;  // buffers ready beforehand
}

Collector& Collector::instance() {
  static auto* const collector = new Collector;
  return *collector;
}

bool Collector::start(const CuptiApi& api, const BufferLimits& limits) noexcept {
  if (!started_.exchange(true)) born_in_fork_ = detail::fork_count();
  pool_.configure(limits);
  pool_.stock(kStocked);
  {
    const std::lock_guard lock(mutex_);
    api_ = api;
  }
  if (thread_ != nullptr) return true;
  stops_.store(false);
  // The program's signals are for its own threads.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    thread_ = new std::thread([this] { run(); });
  } catch (...) {
    thread_ = nullptr;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread_ != nullptr;
}

void Collector::stop() noexcept {
  if (thread_ == nullptr) return;
  stops_.store(true);
  pool_.wake();
  thread_->join();
  delete std::exchange(thread_, nullptr);
  pool_.trim();
}

bool Collector::belongs_to_parent() const noexcept {
  return started_.load() && born_in_fork_ != detail::fork_count();
}

void Collector::keep(std::size_t max_bytes) {
  const std::lock_guard lock(mutex_);
  log_.take();
  log_.set_max_bytes(max_bytes);
  keeping_ = true;
}

void Collector::discard() {
  const std::lock_guard lock(mutex_);
  log_.take();
  keeping_ = false;
}

EventLog Collector::take() {
  const std::lock_guard lock(mutex_);
  keeping_ = false;
  return log_.take();
}

void Collector::note_dropped_by_cupti(std::uint64_t records) {
  const std::lock_guard lock(mutex_);
  log_.losses.dropped_by_cupti += records;
}

void Collector::buffer_requested(std::uint8_t** buffer, std::size_t* size,
                                 std::size_t* max_records) {
  Buffer* const given = instance().pool_.request();
  *buffer = given == nullptr ? nullptr : given->bytes();
  *size = given == nullptr ? 0 : given->size;
  *max_records = 0;  // as many as fit
}

void Collector::buffer_completed(Context, std::uint32_t, std::uint8_t* buffer, std::size_t,
                                 std::size_t valid) {
  if (buffer != nullptr) instance().pool_.complete(Buffer::of(buffer), valid);
}

void Collector::run() noexcept {
  pthread_setname_np(pthread_self(), "libtrace-cupti");
  for (;;) {
    const std::uint32_t calls = pool_.calls();
    if (stops_.load()) return;
    for (Buffer* buffer = pool_.take_completed(); buffer != nullptr;) {
      Buffer* const next = buffer->next;
      read(*buffer);
      pool_.give_back(std::exchange(buffer, next));
    }
    pool_.stock(kStocked);
    pool_.wait(calls);
  }
}

void Collector::read(Buffer& buffer) noexcept {
  const std::lock_guard lock(mutex_);
  if (!keeping_) return;
  try {
    if (buffer.scrap) {
      log_.losses.dropped_here += count_records(api_, buffer.bytes(), buffer.valid);
    } else {
      decode(api_, buffer.bytes(), buffer.valid, log_);
    }
  } catch (const std::bad_alloc&) {
    ++log_.losses.dropped_here;  // at least; nothing more can be said without memory
  }
}

}  // namespace libtrace::cupti
