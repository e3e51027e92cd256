// The arrows of a trace: launch → device work, and flows such as forward → backward, bound to the
// slices at their ends. Lone ends are no error and no arrow.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "libtrace/trace.h"

namespace traceglass {

struct Link {
  libtrace::EventId from = 0, to = 0;
  libtrace::StringId type = 0;  // category of a flow; 0 for a launch
};

class Links {
 public:
  Links() = default;
  explicit Links(const libtrace::Trace& trace);

  // Flows that leave or reach `e`; launches are Trace::launch and `launches`.
  [[nodiscard]] std::span<const Link> flows_from(libtrace::EventId e) const;
  [[nodiscard]] std::span<const Link> flows_to(libtrace::EventId e) const;
  // Launches whose `from` lies in [first, last): device work of an operator's subtree.
  [[nodiscard]] std::span<const Link> launches(libtrace::EventId first,
                                               libtrace::EventId last) const;
  // A bit a slice: touches an arrow.
  [[nodiscard]] const std::vector<bool>& linked() const { return linked_; }
  [[nodiscard]] std::size_t launch_count() const { return launches_.size(); }
  [[nodiscard]] std::size_t resident_bytes() const;

 private:
  std::vector<Link> launches_;     // by (from, to)
  std::vector<Link> flows_;        // by (from, to)
  std::vector<Link> flows_by_to_;  // by (to, from)
  std::vector<bool> linked_;
};

// The slice a flow end belongs to: of its lane's call tree, the deepest that starts exactly there,
// else the deepest that contains the time; kNone if none.
libtrace::EventId slice_at(const libtrace::Trace& trace, libtrace::LaneId lane, std::int64_t at);

}  // namespace traceglass
