// Host threads that wait for each other. Files do not say so; what is seen is that one thread
// stands in a single range while another of its process works and stops just before the first
// goes on: the caller of backward() and the autograd thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tb_backend/analysis/step_graph_host.h"

namespace traceglass {

struct HandOvers {
  // The tile waits until the end of another thread's tile.
  struct Wait {
    std::size_t lane, tile, from_lane, from_tile;
  };
  // An idle tile ends when its process's main thread gets where it was at that time.
  struct Release {
    std::size_t lane, tile, from_lane;
  };
  std::vector<Wait> waits;
  std::vector<Release> releases;
  std::vector<bool> main;              // by lane: drives its process
  std::vector<std::size_t> main_lane;  // by lane: the main one of its process
};

HandOvers find_hand_overs(const libtrace::Trace& trace, const HostTiles& tiles);

}  // namespace traceglass
