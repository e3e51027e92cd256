// What changed in the notes after a change, as those who look need it: of each thread its newest
// change, with the thread's first and newest notes. Bounded in number and in bytes; whoever is
// behind asks on from `upto`.
#pragma once

#include <cstdint>
#include <vector>

#include "tb_backend/review/note_store.h"

namespace traceglass {

struct NoteNews {
  struct One {
    NoteChange change;
    NoteThread thread;
  };
  std::vector<One> news;  // by number of the change
  std::int64_t upto = 0;  // all changes up to here have been looked at
};

// Looks at `limit` changes at most. An answer ends early once its texts hold some megabytes.
NoteResult<NoteNews> note_news(NoteStore& store, std::int64_t after, std::size_t limit);

}  // namespace traceglass
