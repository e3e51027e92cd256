// A window: from start_trace to stop_trace. Opening one lets scopes record; closing it hands out,
// as a Snapshot, what every lane recorded in between. Writers are never stopped and nothing is
// copied: a lane's newest chunk stays with its thread and is shown up to what is written by now,
// the older ones change hands.
//
// All calls come from one thread at a time (the running Profiler's).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "libtrace/model/pieces.h"
#include "libtrace/record/chunk.h"
#include "libtrace/record/clock.h"
#include "libtrace/record/lane.h"
#include "libtrace/record/window_hook.h"

namespace libtrace::detail {

// What one thread recorded in one window. Holds its chunks.
class LaneSnapshot {
 public:
  LaneSnapshot() = default;
  LaneSnapshot(LaneSnapshot&&) noexcept = default;  // a moved vector is empty
  LaneSnapshot& operator=(LaneSnapshot&&) = delete;
  ~LaneSnapshot();

  // Calls f(const Record&) in the order of begins.
  template <class F>
  void for_each(F&& f) const {
    run_each_in_pieces(pieces_.size(), 1, [&](std::size_t i) {
      for (const Record* r = pieces_[i].begin; r < pieces_[i].end; r += slots_of(*r)) f(*r);
    });
  }

  [[nodiscard]] bool empty() const noexcept { return pieces_.empty(); }
  // Lets go of it all without taking the time that it takes.
  void give_back_later() noexcept;

  pid_t tid = 0;
  std::string thread_name;       // at its first scope or its end
  std::uint64_t exit_ticks = 0;  // 0: the thread lives
  std::uint64_t dropped = 0;

 private:
  friend class Window;
  struct Piece {
    Chunk* chunk;
    const Record *begin, *end;
  };
  std::vector<Piece> pieces_;
};

struct Snapshot {
  pid_t pid = 0;
  std::uint64_t start_ticks = 0, stop_ticks = 0;
  ClockPair start_clock, stop_clock;
  std::vector<LaneSnapshot> lanes;
  std::uint64_t dropped = 0;  // of all lanes, and of threads that had none
  Notes notes;                // of the window's hooks
};

class Window {
 public:
  // Makes memory ready for the window to come.
  static void prepare();
  // `mask`: bits of Detail that are recorded. Returns when it opened.
  static std::uint64_t open(std::uint32_t mask);
  static void set_mask(std::uint32_t mask);  // while open
  static Snapshot close();
  // Ends a session: the stock of memory shrinks to what is cheap to keep.
  static void release();
  // Fork: the child forgets every lane; their memory stays mapped for scopes still open.
  static void forget_after_fork() noexcept;

 private:
  static LaneSnapshot take(Lane& lane);
  template <class F>
  static void take_all(F&& f);
};

}  // namespace libtrace::detail
