// A trace as one graph of costs and waits, and its walk: what would have begun and ended when, had
// some of the costs been smaller.
//
// A node is a stretch of one host thread (by innermost slice) or one piece of device work. It
// begins when all that it waits for is done, and lasts its cost:
//   - what stands before it in its lane (program order of a thread, order of a stream),
//   - its launch, a device that the host waits for, work of another stream, another thread.
// Each edge has a lag: the one that bound in the recording keeps all of the delay that was seen,
// the others what is usual for their kind. So the walk over the recorded costs gives the recorded
// times to the nanosecond, and smaller costs never make anything later.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "libtrace/trace.h"
#include "tb_backend/analysis/step_graph_host.h"
#include "tb_backend/analysis/steps.h"

namespace traceglass {

using NodeId = std::uint32_t;
inline constexpr NodeId kNoNode = 0xFFFF'FFFF;

// Why a node began when it did.
enum class EdgeKind : std::uint8_t {
  kNone,
  kHost,
  kLaunch,
  kStream,
  kSync,
  kQueue,  // a launch stood until the device's queue had room
  kWait,
  kHandover
};

struct Edge {
  NodeId from = kNoNode;
  std::int64_t lag = 0;      // from its end, or its start
  bool after_start = false;  // counts from the start of `from`
  EdgeKind kind = EdgeKind::kNone;
};

struct Node {
  std::int64_t start = 0, end = 0;  // as recorded; the time before it that it waited is not its own
  libtrace::EventId event = libtrace::kNone, context = libtrace::kNone;
  std::uint32_t lane = 0;  // index in StepGraph::lanes()
  Activity activity = Activity::kPython;
  bool idle = false;         // host: no slice is active
  bool long_python = false;  // host: part of a long stretch without any operator or call
  bool reads = false;        // host: within aten::item and the like
  bool has_waits = false;    // device: see StepGraph::waits
  Edge order;                // in its lane; from == kNoNode: the first
  Edge cause;                // launch, synchronisation or hand-over
  std::int64_t delay = 0;    // waited beyond all of its edges
  [[nodiscard]] std::int64_t cost() const { return end - start; }
};

struct GraphLane {
  libtrace::LaneId lane = 0;
  bool device = false;
  bool main = false;           // host: the thread that drives its process
  NodeId first = 0, last = 0;  // [first, last), by time
};

using Times = std::vector<libtrace::TimeRange>;  // by node

// A change to the recorded costs: entries of `cost` replaced, edges taken away.
struct WhatIf {
  std::vector<std::int64_t> cost;  // by node; starts as recorded
  std::vector<bool> unbound;       // by node, empty: none; its `cause` edge and delays are away
};

class StepGraph {
 public:
  explicit StepGraph(const libtrace::Trace& trace);

  [[nodiscard]] const std::vector<Node>& nodes() const { return nodes_; }
  [[nodiscard]] const std::vector<GraphLane>& lanes() const { return lanes_; }
  // Further waits of a device node: for work of other streams.
  struct Wait {
    NodeId node;
    Edge edge;
  };
  [[nodiscard]] std::pair<const Wait*, const Wait*> waits(NodeId n) const;
  // Device nodes by the start of their launch, unlaunched ones by their own.
  struct Launched {
    std::int64_t at;
    NodeId node;
  };
  [[nodiscard]] const std::vector<Launched>& launched() const { return launched_; }
  // Lane of a trace's lane; lanes().size() when it has no nodes.
  [[nodiscard]] std::size_t lane_index(libtrace::LaneId lane) const;
  // The node of a host lane that runs at `at`, or is waited for then; kNoNode outside the lane.
  [[nodiscard]] NodeId at(std::size_t lane, std::int64_t at) const;
  // When the lane was done with what stands before `n`: between this and n's start it waited.
  [[nodiscard]] std::int64_t free_since(NodeId n) const;
  // Edge that bound in the recording, with the whole lag seen; from == kNoNode: it has none.
  [[nodiscard]] Edge binding(NodeId n) const;

  [[nodiscard]] WhatIf as_recorded() const;
  // `times` may be of an earlier walk: its memory is used again.
  void walk(const WhatIf& what_if, Times& times) const;
  [[nodiscard]] const libtrace::Trace& trace() const { return trace_; }

 private:
  friend class StepGraphBuilder;
  const libtrace::Trace& trace_;
  std::vector<Node> nodes_;
  std::vector<GraphLane> lanes_;
  std::vector<std::uint32_t> lane_of_;  // by trace lane
  std::vector<Launched> launched_;
  std::vector<NodeId> sequence_;  // every node behind all that it depends on
  std::vector<Wait> waits_;       // by node
};

}  // namespace traceglass
