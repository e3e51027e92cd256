// Long work in pieces that another thread may take over. A thread of low priority that somebody
// waits for cannot be raised again without a privilege; what it has left to do can be done by a
// thread of the one who waits.
#pragma once

#include <cstddef>
#include <functional>

namespace libtrace {

// Does one piece, some milliseconds at most; false: that was the last one.
using Piece = std::function<bool()>;

class PieceRunner {
 public:
  PieceRunner() = default;
  PieceRunner(const PieceRunner&) = delete;
  PieceRunner& operator=(const PieceRunner&) = delete;
  virtual ~PieceRunner() = default;
  // Returns after the last piece, one after the other, on whichever thread; throws what one throws.
  virtual void run(const Piece& piece) = 0;
};

// Who runs the pieces of this thread; nullptr: itself.
inline thread_local PieceRunner* piece_runner = nullptr;

inline void run_in_pieces(const Piece& piece) {
  if (piece_runner != nullptr) return piece_runner->run(piece);
  while (piece()) {
  }
}

// `f` as one piece.
template <class F>
void run_as_piece(F&& f) {
  if (piece_runner == nullptr) return f();
  piece_runner->run([&f] {
    f();
    return false;
  });
}

// f(i) for i in [0, count), `batch` of them a piece.
template <class F>
void run_each_in_pieces(std::size_t count, std::size_t batch, F&& f) {
  std::size_t i = 0;
  run_in_pieces([&] {
    for (const std::size_t end = count - i < batch ? count : i + batch; i < end; ++i) f(i);
    return i < count;
  });
}

}  // namespace libtrace
