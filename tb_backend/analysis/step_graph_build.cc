// Makes the graph: host tiles and device work into nodes, then the edges between them.
#include <algorithm>
#include <functional>
#include <queue>
#include <unordered_map>

#include "libtrace/model/device.h"
#include "tb_backend/analysis/step_graph.h"
#include "tb_backend/analysis/step_graph_calls.h"
#include "tb_backend/analysis/step_graph_handover.h"
#include "tb_backend/analysis/thresholds.h"

namespace traceglass {

using libtrace::EventId;
using libtrace::Kind;
using libtrace::kNone;
using libtrace::Trace;

namespace {

Activity activity_of(const Trace& trace, EventId e) {
  if ((trace.flags(e) & libtrace::flag::kCommunication) != 0) return Activity::kCommunication;
  return trace.kind(e) == Kind::kMemcpy   ? Activity::kMemcpy
         : trace.kind(e) == Kind::kMemset ? Activity::kMemset
                                          : Activity::kKernel;
}

std::int64_t quantile(std::vector<std::int64_t>& values, double q, std::int64_t otherwise) {
  constexpr std::size_t kFew = 16;
  if (values.size() < kFew) return otherwise;
  const auto at = static_cast<std::ptrdiff_t>(q * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + at, values.end());
  return values[static_cast<std::size_t>(at)];
}

}  // namespace

class StepGraphBuilder {
 public:
  explicit StepGraphBuilder(StepGraph& graph)
      : g_(graph), trace_(graph.trace_), tiles_(find_host_tiles(trace_)), names_(trace_) {}

  void build() {
    add_host();
    add_device();
    read_sync_rows();
    link_host_waits();
    link_hand_overs();
    link_launches();
    link_stream_waits();
    set_lags();
    put_in_sequence();
  }

 private:
  [[nodiscard]] std::size_t most_nodes() const {
    std::size_t count = 0;
    for (const HostLane& lane : tiles_.lanes) count += lane.tiles.size();
    for (EventId e = 0; e < trace_.size(); ++e) count += libtrace::is_device_work(trace_.kind(e));
    return count;
  }

  void add_host() {
    hand_overs_ = find_hand_overs(trace_, tiles_);
    g_.nodes_.reserve(most_nodes());
    g_.lane_of_.assign(trace_.lanes().size(), kNoNode);
    for (std::size_t i = 0; i < tiles_.lanes.size(); ++i) {
      const HostLane& host = tiles_.lanes[i];
      GraphLane lane;
      lane.lane = host.lane;
      lane.main = hand_overs_.main[i];
      lane.first = static_cast<NodeId>(g_.nodes_.size());
      for (const HostTile& t : host.tiles) {
        Node n;
        n.start = t.start;
        n.end = t.end;
        n.event = t.event;
        n.context = t.context;
        n.lane = static_cast<std::uint32_t>(i);
        n.activity = t.activity;
        n.idle = t.idle;
        n.reads = t.reads;
        const auto id = static_cast<NodeId>(g_.nodes_.size());
        if (id > lane.first) n.order = {id - 1, 0, false, EdgeKind::kHost};
        g_.nodes_.push_back(n);
      }
      lane.last = static_cast<NodeId>(g_.nodes_.size());
      mark_long_python(lane);
      g_.lane_of_[host.lane] = static_cast<std::uint32_t>(g_.lanes_.size());
      g_.lanes_.push_back(lane);
    }
    host_nodes_ = static_cast<NodeId>(g_.nodes_.size());
  }

  void mark_long_python(const GraphLane& lane) {
    const auto pythonic = [&](NodeId n) {
      return g_.nodes_[n].activity == Activity::kPython ||
             g_.nodes_[n].activity == Activity::kAnnotation;
    };
    for (NodeId n = lane.first; n < lane.last;) {
      NodeId behind = n;
      while (behind < lane.last && pythonic(behind)) ++behind;
      if (behind > n && g_.nodes_[behind - 1].end - g_.nodes_[n].start >= kLongPythonNs) {
        for (NodeId i = n; i < behind; ++i) g_.nodes_[i].long_python = true;
      }
      n = behind + 1;
    }
  }

  void add_device() {
    for (std::size_t l = 0; l < trace_.lanes().size(); ++l) {
      const libtrace::Lane& in = trace_.lanes()[l];
      GraphLane lane;
      lane.lane = static_cast<libtrace::LaneId>(l);
      lane.device = true;
      lane.first = static_cast<NodeId>(g_.nodes_.size());
      for (EventId e = in.first; e < in.last; ++e) {
        if (!libtrace::is_device_work(trace_.kind(e)) || trace_.suspect(e)) continue;
        Node n;
        n.start = trace_.start(e);
        n.end = trace_.end(e);
        n.event = e;
        n.lane = static_cast<std::uint32_t>(g_.lanes_.size());
        n.activity = activity_of(trace_, e);
        const auto id = static_cast<NodeId>(g_.nodes_.size());
        if (id > lane.first) {
          n.order = {id - 1, 0, g_.nodes_[id - 1].end > n.start, EdgeKind::kStream};
        }
        g_.nodes_.push_back(n);
        const EventId launch = trace_.launch(e);
        g_.launched_.push_back({launch == kNone ? n.start : trace_.start(launch), id});
        device_.push_back(libtrace::device_id(trace_, e).value_or(0));
      }
      lane.last = static_cast<NodeId>(g_.nodes_.size());
      if (lane.last == lane.first) continue;
      if (g_.lane_of_[l] == kNoNode) {
        g_.lane_of_[l] = static_cast<std::uint32_t>(g_.lanes_.size());
      }
      g_.lanes_.push_back(lane);
    }
    std::sort(g_.launched_.begin(), g_.launched_.end(), [](const auto& a, const auto& b) {
      return a.at != b.at ? a.at < b.at : a.node < b.node;
    });
    const auto count = static_cast<NodeId>(g_.nodes_.size());
    for (NodeId n = host_nodes_; n < count; ++n) by_end_[device_of(n)].push_back(n);
    for (auto& [id, list] : by_end_) {
      std::sort(list.begin(), list.end(),
                [&](NodeId a, NodeId b) { return g_.nodes_[a].end < g_.nodes_[b].end; });
    }
  }

  [[nodiscard]] std::int64_t device_of(NodeId n) const { return device_[n - host_nodes_]; }

  // A launch that stands in a tile of its thread.
  [[nodiscard]] EventId launch_of(EventId e) const {
    const EventId launch = trace_.launch(e);
    return launch != kNone && tiles_.tile_at[launch] != kNone ? launch : kNone;
  }
  [[nodiscard]] NodeId node_of(EventId host) const {
    return g_.lanes_[g_.lane_of_[trace_.lane_of(host)]].first + tiles_.tile_at[host];
  }

  // ---- the host waits for a device ------------------------------------------------------------
  struct SyncRow {
    std::int64_t stream, wait_on, record;
    EventId row;
  };
  void read_sync_rows() {
    for (const libtrace::Lane& lane : trace_.lanes()) {
      for (EventId e = lane.first; e < lane.last; ++e) {
        if (trace_.kind(e) != Kind::kSync) continue;
        const auto correlation = trace_.int_arg(e, "correlation");
        if (!correlation || *correlation == 0) continue;
        const auto value = [&](const char* key) { return trace_.int_arg(e, key).value_or(-1); };
        sync_rows_.push_back({*correlation,
                              {value("stream"), value("wait_on_stream"),
                               value("wait_on_cuda_event_record_corr_id"), e}});
      }
    }
    if (sync_rows_.empty()) return;
    // The calls behind the rows, and those that recorded the events.
    for (const auto& [correlation, row] : sync_rows_) {
      call_of_.try_emplace(correlation, kNone);
      if (row.record > 0) call_of_.try_emplace(row.record, kNone);
    }
    for (EventId e = 0; e < trace_.size(); ++e) {
      if (trace_.kind(e) != Kind::kRuntime || tiles_.tile_at[e] == kNone) continue;
      const auto it = call_of_.find(trace_.int_arg(e, "correlation").value_or(0));
      if (it != call_of_.end() && it->second == kNone) it->second = e;
    }
    for (const auto& [correlation, row] : sync_rows_) {
      if (const EventId call = call_of_.at(correlation); call != kNone) rows_of_call_[call] = row;
    }
  }

  void link_host_waits() {
    if (host_nodes_ == g_.nodes_.size()) return;
    std::unordered_map<EventId, NodeId> copies;  // by call: its copy that ends last
    for (NodeId n = host_nodes_; n < g_.nodes_.size(); ++n) {
      if (g_.nodes_[n].activity != Activity::kMemcpy) continue;
      const EventId launch = launch_of(g_.nodes_[n].event);
      if (launch == kNone) continue;
      NodeId& last = copies.try_emplace(launch, n).first->second;
      if (g_.nodes_[n].end > g_.nodes_[last].end) last = n;
    }
    // The device that a thread launched to last is the one it waits for.
    std::unordered_map<std::uint32_t, std::vector<std::pair<std::int64_t, std::int64_t>>> devices;
    if (by_end_.size() > 1) {
      for (const StepGraph::Launched& l : g_.launched_) {
        const EventId launch = launch_of(g_.nodes_[l.node].event);
        if (launch == kNone) continue;
        devices[g_.lane_of_[trace_.lane_of(launch)]].emplace_back(l.at, device_of(l.node));
      }
    }
    for (NodeId n = 0; n < host_nodes_; ++n) {
      Node& node = g_.nodes_[n];
      if (node.event == kNone || trace_.kind(node.event) != Kind::kRuntime) continue;
      const CallClass c = names_.call(node.event);
      NodeId device = kNoNode;
      if (c == CallClass::kMemcpy) {
        const auto it = copies.find(node.event);
        if (it != copies.end()) device = it->second;
      } else if (c == CallClass::kSync || c == CallClass::kFree) {
        std::int64_t id = by_end_.begin()->first;
        if (by_end_.size() > 1) {
          const auto& list = devices[node.lane];
          const auto it =
              std::upper_bound(list.begin(), list.end(), std::pair(node.end, INT64_MAX));
          if (it != list.begin()) id = std::prev(it)->second;
        }
        device = waited_for(node, id);
      } else if (node.cost() > kUnexplainedNs) {
        link_full_queue(n);
        continue;
      }
      if (device == kNoNode) continue;
      const std::int64_t done = g_.nodes_[device].end;
      if (done <= node.start || done > node.end + kClockSkewNs) continue;
      const std::int64_t start = std::min(done, node.end);
      if (g_.nodes_[device].start >= start) continue;  // cannot be put in sequence
      node.cause = {device, start - done, false, EdgeKind::kSync};
      if (c == CallClass::kMemcpy && start - node.start > kClockSkewNs &&
          node.activity == Activity::kRuntime) {
        node.activity = Activity::kSync;
      }
      node.start = start;
    }
  }

  // How much was given to the device before `l`.
  [[nodiscard]] std::int64_t given_before(std::vector<StepGraph::Launched>::const_iterator l,
                                          std::int64_t device) {
    const auto position = l - g_.launched_.begin();
    if (by_end_.size() == 1) return position;
    if (given_.empty()) {
      for (std::size_t i = 0; i < g_.launched_.size(); ++i) {
        given_[device_of(g_.launched_[i].node)].push_back(static_cast<std::ptrdiff_t>(i));
      }
    }
    const auto& list = given_.at(device);
    return std::lower_bound(list.begin(), list.end(), position) - list.begin();
  }

  // A launch that stood until the device was done with one more: the device is the limit, and what
  // makes it faster lets the host go on sooner.
  void link_full_queue(NodeId n) {
    Node& node = g_.nodes_[n];
    const std::int64_t at = trace_.start(node.event);
    const auto first = std::lower_bound(g_.launched_.begin(), g_.launched_.end(), at,
                                        [](const auto& l, std::int64_t t) { return l.at < t; });
    auto own = first;
    while (own != g_.launched_.end() && own->at == at &&
           trace_.launch(g_.nodes_[own->node].event) != node.event) {
      ++own;
    }
    if (own == g_.launched_.end() || own->at != at) return;
    const std::int64_t device = device_of(own->node);
    const std::vector<NodeId>& ends = by_end_.at(device);
    const auto done =
        std::upper_bound(ends.begin(), ends.end(), node.start,
                         [&](std::int64_t t, NodeId x) { return t < g_.nodes_[x].end; }) -
        ends.begin();
    if (given_before(first, device) - done < kFullQueue) return;
    const NodeId freed = waited_for(node, device);
    if (freed == kNoNode) return;
    const std::int64_t end = std::min(g_.nodes_[freed].end, node.end);
    if (end < node.end - kUnexplainedNs || g_.nodes_[freed].start >= end) return;
    node.cause = {freed, end - g_.nodes_[freed].end, false, EdgeKind::kQueue};
    node.start = end;
  }

  // The last work of the device that ended while `node` waited, launched before: of the stream
  // that the recorder names, else of any.
  [[nodiscard]] NodeId waited_for(const Node& node, std::int64_t device) const {
    const std::vector<NodeId>& list = by_end_.at(device);
    auto it = std::upper_bound(list.begin(), list.end(), node.end + kClockSkewNs,
                               [&](std::int64_t t, NodeId n) { return t < g_.nodes_[n].end; });
    const auto row = rows_of_call_.find(node.event);
    std::int64_t stream = -1;
    if (row != rows_of_call_.end()) {
      stream = row->second.stream >= 0 ? row->second.stream : row->second.wait_on;
    }
    constexpr int kMostLooks = 64;  // work of other streams, or launched later by other threads
    for (int i = 0; i < kMostLooks && it != list.begin(); ++i) {
      const Node& work = g_.nodes_[*--it];
      if (work.end <= node.start) return kNoNode;
      if (stream >= 0 && stream_of(work) != stream) continue;
      const EventId launch = launch_of(work.event);
      if (launch != kNone && trace_.start(launch) >= node.end) continue;
      return *it;
    }
    return kNoNode;
  }
  [[nodiscard]] std::int64_t stream_of(const Node& work) const {
    return trace_.int_arg(work.event, "stream").value_or(-1);
  }

  // ---- threads --------------------------------------------------------------------------------
  void link_hand_overs() {
    const auto id = [&](std::size_t lane, std::size_t tile) {
      return g_.lanes_[lane].first + static_cast<NodeId>(tile);
    };
    for (const HandOvers::Wait& w : hand_overs_.waits) {
      const NodeId n = id(w.lane, w.tile), from = id(w.from_lane, w.from_tile);
      Node& node = g_.nodes_[n];
      const std::int64_t done = g_.nodes_[from].end;
      if (done <= node.start || done > node.end || g_.nodes_[from].start >= done) continue;
      node.start = done;
      node.cause = {from, 0, false, EdgeKind::kHandover};
    }
    for (const HandOvers::Release& r : hand_overs_.releases) {
      release(id(r.lane, r.tile), r.from_lane, g_.nodes_[id(r.lane, r.tile)].end, true);
    }
    for (std::size_t i = 0; i < tiles_.lanes.size(); ++i) {
      const std::size_t m = hand_overs_.main_lane[i];
      if (m != i && g_.nodes_[id(i, 0)].cause.from == kNoNode)
        release(id(i, 0), m, g_.nodes_[id(i, 0)].start, false);
    }
  }
  // `n` goes on at `at`, when its main thread got where it was then; `elastic`: all of the node
  // was waiting for that.
  void release(NodeId n, std::size_t main_lane, std::int64_t at, bool elastic) {
    const NodeId m = g_.at(main_lane, at);
    if (m == kNoNode) return;
    const Node& main = g_.nodes_[m];
    Edge edge{m, at - main.start, true, EdgeKind::kHandover};
    if (edge.lag <= 0) {
      if (main.order.from == kNoNode) return;
      edge.from = main.order.from;
      edge.lag = at - g_.nodes_[edge.from].end;
      edge.after_start = false;
      if (edge.lag < 0) return;
    }
    if (g_.nodes_[edge.from].start >= at) return;
    Node& node = g_.nodes_[n];
    if (elastic) node.start = at;
    node.cause = edge;
  }

  // ---- the device waits -----------------------------------------------------------------------
  void link_launches() {
    for (NodeId n = host_nodes_; n < g_.nodes_.size(); ++n) {
      Node& node = g_.nodes_[n];
      const EventId launch = launch_of(node.event);
      if (launch == kNone) continue;
      NodeId call = node_of(launch);
      bool after_start = true;
      const bool queued = g_.nodes_[call].cause.kind == EdgeKind::kQueue;
      if (!queued &&
          g_.nodes_[call].start > trace_.start(launch)) {  // it waits for what it launches
        call = g_.nodes_[call].order.from;
        after_start = false;
        if (call == kNoNode) continue;
      } else if (g_.nodes_[call].end <= node.start) {
        after_start = false;
      }
      const Node& from = g_.nodes_[call];
      const std::int64_t lag = node.start - (after_start ? from.start : from.end);
      if (lag < 0 || from.start > node.start) continue;  // clocks disagree
      node.cause = {call, lag, after_start, EdgeKind::kLaunch};
    }
  }

  // cudaStreamWaitEvent: what its stream is given next waits for what the other stream had been
  // given when the event was recorded.
  void link_stream_waits() {
    struct Given {
      std::int64_t at;
      NodeId node;
    };
    std::unordered_map<std::int64_t, std::vector<Given>> given;  // by stream
    for (const auto& [correlation, row] : sync_rows_) {
      if (row.wait_on < 0 || row.stream < 0 || row.wait_on == row.stream) continue;
      const auto call = call_of_.find(correlation), record = call_of_.find(row.record);
      if (call == call_of_.end() || record == call_of_.end()) continue;
      if (call->second == kNone || record->second == kNone) continue;
      if (given.empty()) {
        for (const StepGraph::Launched& l : g_.launched_) {
          given[stream_of(g_.nodes_[l.node])].push_back({l.at, l.node});
        }
      }
      const auto earlier = [](const Given& x, std::int64_t t) { return x.at < t; };
      const auto& theirs = given[row.wait_on];
      const auto& ours = given[row.stream];
      const auto next =
          std::lower_bound(ours.begin(), ours.end(), trace_.start(call->second), earlier);
      const auto last =
          std::lower_bound(theirs.begin(), theirs.end(), trace_.start(record->second), earlier);
      if (next == ours.end() || last == theirs.begin()) continue;
      add_wait(next->node, std::prev(last)->node);
    }
  }
  void add_wait(NodeId n, NodeId from) {
    const std::int64_t lag = g_.nodes_[n].start - g_.nodes_[from].end;
    if (lag < 0 || g_.nodes_[from].start >= g_.nodes_[n].start) return;
    g_.waits_.push_back({n, {from, lag, false, EdgeKind::kWait}});
    g_.nodes_[n].has_waits = true;
  }

  // ---- lags -----------------------------------------------------------------------------------
  [[nodiscard]] std::int64_t seen(const Node& n, const Edge& e) const {
    return n.start - (e.after_start ? g_.nodes_[e.from].start : g_.nodes_[e.from].end);
  }

  void measure_usual_lags() {
    std::vector<std::int64_t> launches, gaps;
    for (NodeId n = host_nodes_; n < g_.nodes_.size(); ++n) {
      const Node& node = g_.nodes_[n];
      if (node.cause.from == kNoNode || node.order.from == kNoNode || node.order.after_start) {
        continue;
      }
      const std::int64_t gap = seen(node, node.order), launch = seen(node, node.cause);
      if (launch < gap) launches.push_back(launch);
      if (launch > 2 * kUnexplainedNs && gap < kUnexplainedNs) gaps.push_back(gap);
    }
    usual_launch_ = quantile(launches, 0.1, kUsualLaunchNs);
    usual_gap_ = quantile(gaps, 0.5, kUsualGapNs);
  }

  void set_lags() {
    measure_usual_lags();
    std::sort(g_.waits_.begin(), g_.waits_.end(), [](const auto& a, const auto& b) {
      return a.node != b.node ? a.node < b.node : a.edge.from < b.edge.from;
    });
    const std::size_t recorded_waits = g_.waits_.size();
    std::size_t w = 0;
    for (NodeId n = host_nodes_; n < g_.nodes_.size(); ++n) {
      Node& node = g_.nodes_[n];
      Edge* binding = nullptr;
      std::int64_t earliest = INT64_MIN;
      const auto look = [&](Edge& e, std::int64_t usual) {
        if (e.from == kNoNode) return;
        const std::int64_t whole = seen(node, e);
        e.lag = std::min(whole, usual);
        const std::int64_t at = node.start - whole + e.lag;
        if (at < earliest) return;
        earliest = at;
        binding = &e;
      };
      look(node.order, node.order.after_start ? 0 : usual_gap_);
      look(node.cause, usual_launch_);
      for (; w < recorded_waits && g_.waits_[w].node <= n; ++w) {
        if (g_.waits_[w].node == n) look(g_.waits_[w].edge, usual_gap_);
      }
      if (binding == nullptr) continue;
      const std::int64_t extra = node.start - earliest;
      if (extra <= kUnexplainedNs) {
        binding->lag = seen(node, *binding);
      } else if (const NodeId other = just_ended(n, earliest); other != kNoNode) {
        add_wait(n, other);  // with the whole of its small lag
      } else {
        node.delay = extra;
      }
    }
    std::stable_sort(g_.waits_.begin(), g_.waits_.end(),
                     [](const auto& a, const auto& b) { return a.node < b.node; });
  }

  // Work of another stream that ended right before `n` began, and after all `n` is known to wait
  // for: it must have waited for that, though the file does not say so.
  [[nodiscard]] NodeId just_ended(NodeId n, std::int64_t earliest) const {
    const std::vector<NodeId>& list = by_end_.at(device_of(n));
    const std::int64_t start = g_.nodes_[n].start;
    auto it = std::upper_bound(list.begin(), list.end(), start,
                               [&](std::int64_t t, NodeId x) { return t < g_.nodes_[x].end; });
    constexpr int kMostLooks = 8;
    for (int i = 0; i < kMostLooks && it != list.begin(); ++i) {
      const Node& work = g_.nodes_[*--it];
      if (work.end < start - kCrossStreamNs || work.end <= earliest) break;
      if (work.lane != g_.nodes_[n].lane && work.start < start) return *it;
    }
    return kNoNode;
  }

  // Every edge leads from an earlier start, or between equal ones from a smaller id.
  void put_in_sequence() {
    using Head = std::pair<std::int64_t, NodeId>;
    std::priority_queue<Head, std::vector<Head>, std::greater<>> heads;
    for (const GraphLane& l : g_.lanes_) heads.emplace(g_.nodes_[l.first].start, l.first);
    g_.sequence_.reserve(g_.nodes_.size());
    while (!heads.empty()) {
      NodeId n = heads.top().second;
      heads.pop();
      const NodeId last = g_.lanes_[g_.nodes_[n].lane].last;
      // The lane goes on while it is ahead of all others.
      do {
        g_.sequence_.push_back(n);
        ++n;
      } while (n < last && (heads.empty() || Head(g_.nodes_[n].start, n) < heads.top()));
      if (n < last) heads.emplace(g_.nodes_[n].start, n);
    }
  }

  StepGraph& g_;
  const Trace& trace_;
  HostTiles tiles_;
  CallNames names_;
  HandOvers hand_overs_;
  NodeId host_nodes_ = 0;
  std::vector<std::int64_t> device_;                                     // by device node
  std::unordered_map<std::int64_t, std::vector<NodeId>> by_end_;         // by device
  std::unordered_map<std::int64_t, std::vector<std::ptrdiff_t>> given_;  // by device: in launched_
  std::vector<std::pair<std::int64_t, SyncRow>> sync_rows_;  // by correlation, as in the file
  std::unordered_map<std::int64_t, EventId> call_of_;        // by correlation
  std::unordered_map<EventId, SyncRow> rows_of_call_;
  std::int64_t usual_launch_ = 0, usual_gap_ = 0;
};

StepGraph::StepGraph(const Trace& trace) : trace_(trace) { StepGraphBuilder(*this).build(); }

}  // namespace traceglass
