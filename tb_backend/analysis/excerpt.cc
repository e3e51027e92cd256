#include "tb_backend/analysis/excerpt.h"

#include <algorithm>
#include <vector>

#include "libtrace/trace_builder.h"

namespace traceglass {

using libtrace::EventId;
using libtrace::Kind;
using libtrace::kNone;
using libtrace::LaneId;
using libtrace::TimeRange;
using libtrace::Trace;
using libtrace::TraceBuilder;

namespace {

class Excerpt {
 public:
  Excerpt(const Trace& trace, TimeRange range)
      : trace_(trace), range_(range), kept_(trace.size()) {}

  libtrace::TracePtr make() {
    choose();
    head();
    slices();
    marks();
    return builder_.finish();
  }

 private:
  [[nodiscard]] bool within(std::int64_t at) const { return range_.start <= at && at < range_.end; }

  void choose() {
    for (EventId e = 0; e < trace_.size(); ++e) {
      kept_[e] = within(trace_.start(e)) ||
                 (trace_.start(e) < range_.start && trace_.end(e) > range_.start);
    }
    // A launch and its device work go together.
    std::vector<bool> launched(trace_.size());
    for (EventId e = 0; e < trace_.size(); ++e) {
      const EventId launch = trace_.launch(e);
      if (launch != kNone && kept_[e]) launched[launch] = true;
    }
    for (EventId e = 0; e < trace_.size(); ++e) {
      const EventId launch = trace_.launch(e);
      if (launch != kNone && kept_[launch]) kept_[e] = true;
    }
    for (EventId e = 0; e < trace_.size(); ++e) kept_[e] = kept_[e] || launched[e];
  }

  void head() {
    if (trace_.base_unix_ns()) builder_.set_base_unix_ns(*trace_.base_unix_ns());
    if (trace_.rank()) builder_.set_rank(*trace_.rank(), trace_.rank_guessed());
    if (trace_.world_size()) builder_.set_world_size(*trace_.world_size());
    for (const libtrace::DeviceProperties& d : trace_.devices()) builder_.add_device(d);
    for (const auto& [key, json] : trace_.metadata()) builder_.add_metadata(key, json);
    for (const libtrace::Lane& lane : trace_.lanes()) {
      const auto pid = builder_.intern(lane.pid), tid = builder_.intern(lane.tid);
      if (!lane.process.empty()) builder_.set_process_name(pid, lane.process);
      if (!lane.labels.empty()) builder_.set_process_labels(pid, lane.labels);
      if (!lane.thread.empty()) builder_.set_thread_name(pid, tid, lane.thread);
      builder_.set_process_sort(pid, lane.process_sort);
      builder_.set_thread_sort(pid, tid, lane.thread_sort);
    }
  }

  void arguments(std::vector<Trace::Arg>& args) {
    for (const auto& [key, value] : args) builder_.arg(key, value);
  }

  void slices() {
    std::vector<EventId> events;
    for (EventId e = 0; e < trace_.size(); ++e) {
      if (!kept_[e]) continue;
      events.push_back(e);
      // Only a bare array of rows has no categories.
      const bool bare = trace_.category(e).empty() && trace_.kind(e) != Kind::kOther;
      if (bare) builder_.set_legacy_array();
    }
    std::sort(events.begin(), events.end(),
              [&](EventId a, EventId b) { return trace_.order(a) < trace_.order(b); });
    std::vector<Trace::Arg> args;
    for (const EventId e : events) {
      trace_.args(e, args);
      arguments(args);
      TraceBuilder::Row row = row_of(trace_.lane_of(e));
      row.start = trace_.start(e);
      row.dur = trace_.dur(e);
      row.name = builder_.intern(trace_.name(e));
      row.category = builder_.intern(trace_.category(e));
      builder_.add_slice(row);
    }
  }

  void marks() {
    std::vector<Trace::Arg> args;
    for (const libtrace::Instant& i : trace_.instants()) {
      if (!within(i.at) || i.lane == kNone) continue;
      trace_.args_at(i.args, args);
      arguments(args);
      TraceBuilder::Row row = row_of(i.lane);
      row.start = i.at;
      row.name = builder_.intern(trace_.text(i.name));
      row.category = builder_.intern(trace_.text(i.category));
      builder_.add_instant(row, i.phase);
    }
    for (const libtrace::MemoryEvent& m : trace_.memory()) {
      if (!within(m.at) || m.lane == kNone) continue;
      const TraceBuilder::Row row = row_of(m.lane);
      builder_.add_memory(m, row.pid, row.tid);
    }
    for (const libtrace::Flow& f : trace_.flows()) {
      if (!within(f.at) || f.lane == kNone) continue;
      libtrace::Flow flow = f;
      flow.category = builder_.intern(trace_.text(f.category));
      flow.name = builder_.intern(trace_.text(f.name));
      const TraceBuilder::Row row = row_of(f.lane);
      builder_.add_flow(flow, row.pid, row.tid);
    }
  }

  TraceBuilder::Row row_of(LaneId lane) {
    TraceBuilder::Row row;
    row.pid = builder_.intern(trace_.lanes()[lane].pid);
    row.tid = builder_.intern(trace_.lanes()[lane].tid);
    return row;
  }

  const Trace& trace_;
  const TimeRange range_;
  std::vector<bool> kept_;
  TraceBuilder builder_;
};

}  // namespace

libtrace::TracePtr excerpt(const Trace& trace, TimeRange range) {
  return Excerpt(trace, range).make();
}

}  // namespace traceglass
