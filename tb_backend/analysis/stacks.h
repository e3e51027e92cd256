// Call stacks of slices: the Python frames around them, or the `Call stack` argument that 1.8 to
// 2.0 wrote. Equal stacks have equal ids.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "libtrace/trace.h"

namespace traceglass {

class Stacks {
 public:
  // O(number of slices).
  explicit Stacks(const libtrace::Trace& trace);
  // Id of the stack in which `e` began; 0: none is known.
  std::uint32_t id_of(libtrace::EventId e);
  // Its frames, innermost first.
  [[nodiscard]] std::vector<std::string> frames(std::uint32_t id) const;

 private:
  std::uint32_t of_frame(libtrace::EventId frame);
  std::uint32_t child(std::uint32_t parent, std::string_view frame);

  const libtrace::Trace& trace_;
  std::vector<libtrace::EventId> python_before_;  // last Python frame begun on the lane, by slice
  std::vector<std::uint32_t> frame_ids_;          // of Python slices, 0: not made yet
  struct Node {
    std::uint32_t parent;
    std::string_view frame;
  };
  std::vector<Node> nodes_{{0, {}}};
  std::map<std::pair<std::uint32_t, std::string_view>, std::uint32_t> children_;
};

}  // namespace traceglass
