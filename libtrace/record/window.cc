#include "libtrace/record/window.h"

#include <unistd.h>

#include <algorithm>
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

LaneSnapshot::~LaneSnapshot() {
  for (const Piece& piece : pieces_) chunk_pool().give_back(piece.chunk);
}

void LaneSnapshot::give_back_later() noexcept {
  for (const Piece& piece : pieces_) chunk_pool().give_back_later(piece.chunk);
  pieces_.clear();
  chunk_pool().wake_keeper();
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
  const Record* begin = std::exchange(lane.unread_at, nullptr);
  lane.unread = nullptr;
  while (chunk != nullptr) {
    Chunk* const next = chunk->next.load(std::memory_order_acquire);
    Record* const end = chunk->end.load(std::memory_order_acquire);
    if (begin == nullptr) begin = chunk->begin();
    const bool stays = next == nullptr && !retired;  // the owner may write behind `end` right now
    if (stays) {
      lane.unread = chunk;
      lane.unread_at = end;
    }
    if (begin < end) {
      if (stays) ChunkPool::hold(chunk);
      out.pieces_.push_back({chunk, begin, end});
    } else if (!stays) {
      chunk_pool().give_back(chunk);
    }
    begin = nullptr;
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
