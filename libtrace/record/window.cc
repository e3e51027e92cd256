#include "libtrace/record/window.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "libtrace/record/chunk_pool.h"
#include "libtrace/record/lane.h"
#include "libtrace/record_function.h"

namespace libtrace::detail {
namespace {

constexpr std::size_t kFewestStocked = 8, kMostStocked = 64;

// The collector's state; see the header for who may touch it.
struct Collector {
  Lane* lanes = nullptr;  // by next
  std::uint64_t start_ticks = 0;
  ClockPair start_clock;
  std::uint64_t dropped_without_lane_before = 0;
};
Collector collector;

void adopt_new_lanes() {
  Lane* fresh = take_new_lanes();
  while (fresh != nullptr) {
    Lane* const lane = std::exchange(fresh, fresh->next);
    lane->next = collector.lanes;
    collector.lanes = lane;
  }
}

std::size_t count_lanes() {
  std::size_t n = 0;
  for (const Lane* l = collector.lanes; l != nullptr; l = l->next) ++n;
  return n;
}

std::size_t stock_target() { return std::clamp(2 * count_lanes(), kFewestStocked, kMostStocked); }

}  // namespace

LaneSnapshot::LaneSnapshot(LaneSnapshot&& o) noexcept
    : tid(o.tid),
      thread_name(std::move(o.thread_name)),
      exit_ticks(o.exit_ticks),
      dropped(o.dropped),
      chunks_(std::exchange(o.chunks_, nullptr)),
      last_chunk_(std::exchange(o.last_chunk_, nullptr)),
      first_(o.first_),
      tail_(std::move(o.tail_)) {}

LaneSnapshot::~LaneSnapshot() {
  while (chunks_ != nullptr) {
    Chunk* const chunk = std::exchange(chunks_, chunks_->link);
    chunk_pool().give_back(chunk);
  }
}

void LaneSnapshot::copy_tail(const Record* begin, const Record* end) {
  tail_.resize(static_cast<std::size_t>(end - begin));
  for (const Record* r = begin; r < end; r += slots_of(*r)) {
    auto* const to = new (&tail_[static_cast<std::size_t>(r - begin)]) Record;
    to->t0.store(r->t0.load(std::memory_order_relaxed), std::memory_order_relaxed);
    to->t1.store(r->t1.load(std::memory_order_acquire), std::memory_order_relaxed);
    to->site.store(r->site.load(std::memory_order_relaxed), std::memory_order_relaxed);
    to->aux.store(r->aux.load(std::memory_order_relaxed), std::memory_order_relaxed);
    to->arg.store(r->arg.load(std::memory_order_relaxed), std::memory_order_relaxed);
    const std::string_view bytes = bytes_behind(*r);
    if (!bytes.empty()) std::memcpy(static_cast<void*>(to + 1), bytes.data(), bytes.size());
  }
}

void LaneSnapshot::append(Chunk* chunk) {
  chunk->link = nullptr;
  (last_chunk_ != nullptr ? last_chunk_->link : chunks_) = chunk;
  last_chunk_ = chunk;
}

LaneSnapshot Window::take(Lane& lane) {
  LaneSnapshot out;
  const bool retired = lane.retired.load(std::memory_order_acquire);
  out.tid = lane.tid;
  out.thread_name = retired ? lane.exit_name : lane.name;
  out.exit_ticks = retired ? lane.exit_ticks : 0;
  const std::uint64_t dropped = lane.dropped.load(std::memory_order_relaxed);
  out.dropped = dropped - std::exchange(lane.dropped_before, dropped);

  Chunk* chunk = lane.unread;
  if (chunk == nullptr) chunk = lane.first_chunk.load(std::memory_order_acquire);
  out.first_ = std::exchange(lane.unread_at, nullptr);
  lane.unread = nullptr;
  while (chunk != nullptr) {
    Chunk* const next = chunk->next.load(std::memory_order_acquire);
    if (next == nullptr && !retired) {  // the owner may be writing behind `end` right now
      Record* const end = chunk->end.load(std::memory_order_acquire);
      const bool is_first = out.chunks_ == nullptr && out.first_ != nullptr;
      out.copy_tail(is_first ? out.first_ : chunk->begin(), end);
      lane.unread = chunk;
      lane.unread_at = end;
      break;
    }
    out.append(chunk);
    chunk = next;
  }
  return out;
}

template <class F>
void Window::take_all(F&& f) {
  adopt_new_lanes();
  for (Lane** link = &collector.lanes; *link != nullptr;) {
    Lane* const lane = *link;
    LaneSnapshot taken = take(*lane);
    const bool gone = taken.exit_ticks != 0;  // before take() looked: nothing is left in the lane
    f(std::move(taken));
    if (gone) {
      *link = lane->next;
      free_lane(lane);
    } else {
      link = &lane->next;
    }
  }
}

void Window::prepare() {
  chunk_pool().sweep_parked();
  adopt_new_lanes();
  chunk_pool().stock(stock_target());
  chunk_pool().start_keeper(stock_target());
}

std::uint64_t Window::open(std::uint32_t mask) {
  take_all([](LaneSnapshot&&) {});  // what late scopes left since the last window
  collector.dropped_without_lane_before = dropped_without_lane.load(std::memory_order_relaxed);
  window_number.fetch_add(1, std::memory_order_acq_rel);
  open_window_hooks(mask);
  collector.start_clock = read_clock_pair();
  collector.start_ticks = ordered_ticks();
  recording.store(mask | kStepsBit, std::memory_order_release);
  return collector.start_ticks;
}

void Window::set_mask(std::uint32_t mask) {
  recording.store(mask | kStepsBit, std::memory_order_release);
}

Snapshot Window::close() {
  Snapshot out;
  out.stop_ticks = ordered_ticks();
  recording.store(0, std::memory_order_release);
  out.stop_clock = read_clock_pair();
  close_window_hooks(out.notes);
  out.pid = getpid();
  out.start_ticks = collector.start_ticks;
  out.start_clock = collector.start_clock;
  out.dropped =
      dropped_without_lane.load(std::memory_order_relaxed) - collector.dropped_without_lane_before;
  take_all([&](LaneSnapshot&& lane) {
    out.dropped += lane.dropped;
    if (!lane.empty() || lane.dropped != 0) out.lanes.push_back(std::move(lane));
  });
  return out;
}

void Window::release() {
  chunk_pool().stop_keeper();
  chunk_pool().sweep_parked();
  chunk_pool().trim(kFewestStocked);
}

void Window::forget_after_fork() noexcept {
  recording.store(0, std::memory_order_relaxed);
  collector.lanes = nullptr;
  forget_lanes_after_fork();
}

}  // namespace libtrace::detail
