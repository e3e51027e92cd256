#include "tb_backend/analysis/rank_summary.h"

#include <algorithm>
#include <map>
#include <utility>

#include "libtrace/model/intervals.h"
#include "tb_backend/analysis/collective_args.h"
#include "tb_backend/analysis/steps.h"

namespace traceglass {

using libtrace::EventId;
using libtrace::Intervals;
using libtrace::Kind;
using libtrace::Measure;
using libtrace::TimeRange;
using libtrace::Trace;

namespace {

constexpr std::uint16_t kDevice = libtrace::flag::kCommunication;
constexpr std::uint16_t kHost = libtrace::flag::kHostCollective;

// What each event of a trace is to this view, in one pass.
struct Sorted {
  std::vector<EventId> device, host;  // collectives
  std::vector<TimeRange> kernels, ops, loader;
  bool device_work = false;

  explicit Sorted(const Trace& trace) {
    for (EventId e = 0; e < trace.size(); ++e) {
      if (trace.suspect(e)) continue;
      const Kind kind = trace.kind(e);
      const std::uint16_t flags = trace.flags(e);
      const TimeRange range{trace.start(e), trace.end(e)};
      device_work = device_work || libtrace::is_device_work(kind);
      if (kind == Kind::kKernel) {
        if ((flags & kDevice) != 0) {
          device.push_back(e);
        } else {
          kernels.push_back(range);
        }
      } else if (kind == Kind::kOp || kind == Kind::kAnnotation) {
        if ((flags & kHost) != 0) {
          const EventId parent = trace.parent(e);
          const bool inner = parent != libtrace::kNone && (trace.flags(parent) & kHost) != 0;
          if (!inner) host.push_back(e);
        } else if (kind == Kind::kOp) {
          if (ops.empty() || ops.back().start > range.start || range.end > ops.back().end) {
            ops.push_back(range);  // nested ones add nothing
          }
        }
        if ((flags & libtrace::flag::kDataLoader) != 0) loader.push_back(range);
      }
    }
  }
};

class Texts {
 public:
  explicit Texts(std::vector<std::string>& list) : list_(list) {}
  std::uint32_t id(std::string_view text) {
    if (text.empty()) return 0;
    const auto it = ids_.find(text);
    if (it != ids_.end()) return it->second;
    list_.emplace_back(text);
    return ids_.emplace(std::string(text), static_cast<std::uint32_t>(list_.size() - 1))
        .first->second;
  }

 private:
  std::vector<std::string>& list_;
  std::map<std::string, std::uint32_t, std::less<>> ids_;
};

RankCollective collective_of(const Trace& trace, EventId e, Texts& texts) {
  const CollectiveArgs args = read_collective_args(trace, e);
  RankCollective c;
  c.group = texts.id(args.group);
  c.name = texts.id(args.name);
  c.dtype = texts.id(args.dtype);
  c.op = collective_op(args.said);
  if (c.op == CollectiveOp::kOther) c.op = collective_op(trace.name(e));
  c.group_size = args.group_size;
  c.from = args.from;
  c.to = args.to;
  c.event = e;
  if (args.has_seq) c.seq = args.seq;
  c.start_ns = trace.start(e);
  c.dur_ns = trace.dur(e);
  c.elements = args.elements;
  c.bytes = args.bytes;
  return c;
}

std::vector<RankStep> steps_of(const Trace& trace, const RankSummary& rank, Sorted& sorted) {
  std::vector<TimeRange> collectives, others, exchanges;
  for (const RankCollective& c : rank.collectives) {
    const TimeRange range{c.start_ns, c.start_ns + c.dur_ns};
    collectives.push_back(range);
    (is_point_to_point(c.op) ? exchanges : others).push_back(range);
  }
  const Intervals work =
      libtrace::united(std::move(sorted.device_work ? sorted.kernels : sorted.ops));
  const Intervals communication = libtrace::united(std::move(collectives));
  const Measure computing(work), communicating(communication);
  const Measure both(libtrace::common(work, communication));
  const Measure loading(libtrace::united(std::move(sorted.loader)));
  const Measure not_bubble(libtrace::united(work, libtrace::united(std::move(others))));
  const Intervals pairs = libtrace::united(std::move(exchanges));
  std::vector<RankStep> out;
  for (const Step& step : find_steps(trace)) {
    RankStep s;
    s.index = step.index;
    s.synthetic = step.synthetic;
    s.incomplete = step.incomplete;
    s.host_start_ns = step.host.start;
    s.start_ns = step.extended.start;
    s.length_ns = step.extended.length();
    s.overlap_ns = both.within(step.extended);
    s.computation_ns = computing.within(step.extended) - s.overlap_ns;
    s.exposed_ns = communicating.within(step.extended) - s.overlap_ns;
    s.other_ns = s.length_ns - s.computation_ns - s.overlap_ns - s.exposed_ns;
    s.dataloader_ns = loading.within(step.extended);
    const auto first =
        std::lower_bound(pairs.begin(), pairs.end(), step.extended.start,
                         [](const TimeRange& r, std::int64_t at) { return r.start < at; });
    const auto last =
        std::lower_bound(first, pairs.end(), step.extended.end,
                         [](const TimeRange& r, std::int64_t at) { return r.start < at; });
    if (first != last) {
      const TimeRange range{
          first->start, std::max(first->start, std::min(std::prev(last)->end, step.extended.end))};
      s.bubble_ns = range.length() - not_bubble.within(range);
    }
    out.push_back(s);
  }
  return out;
}

}  // namespace

std::size_t RankSummary::resident_bytes() const {
  std::size_t bytes = sizeof(*this) + steps.capacity() * sizeof(RankStep) +
                      collectives.capacity() * sizeof(RankCollective);
  for (const std::string& t : texts) bytes += sizeof(t) + t.capacity();
  return bytes;
}

RankSummary summarize_rank(const Trace& trace) {
  RankSummary rank;
  rank.rank = trace.rank();
  rank.world_size = trace.world_size();
  rank.rank_guessed = trace.rank_guessed();
  rank.base_unix_ns = trace.base_unix_ns();
  rank.range_start_ns = trace.range().start;
  rank.events = trace.size();
  rank.trust = judge(trace.report());
  Sorted sorted(trace);
  rank.has_device_work = sorted.device_work;
  rank.on_host = sorted.device.empty();
  std::vector<EventId>& events = rank.on_host ? sorted.host : sorted.device;
  if (rank.on_host && sorted.device_work) {
    // The call of a device's library only starts what its kernel does.
    std::erase_if(events, [&](EventId e) { return trace.name(e).starts_with("nccl:"); });
  }
  Texts texts(rank.texts);
  rank.collectives.reserve(events.size());
  for (const EventId e : events) rank.collectives.push_back(collective_of(trace, e, texts));
  std::stable_sort(
      rank.collectives.begin(), rank.collectives.end(),
      [](const RankCollective& a, const RankCollective& b) { return a.start_ns < b.start_ns; });
  rank.steps = steps_of(trace, rank, sorted);
  rank.steps.shrink_to_fit();
  return rank;
}

std::vector<CollectiveKernel> collective_kernels(const RankSummary& rank) {
  std::vector<CollectiveKernel> out;
  if (rank.on_host) return out;
  const std::int64_t base = rank.base_unix_ns.value_or(0);
  for (const RankCollective& c : rank.collectives) {
    CollectiveKernel k;
    k.group = rank.texts[c.group];
    k.name = rank.texts[c.name];
    if (c.seq != RankCollective::kNoSeq) k.seq = c.seq;
    k.from = c.from;
    k.to = c.to;
    k.start_ns = base + c.start_ns;
    k.dur_ns = c.dur_ns;
    out.push_back(std::move(k));
  }
  return out;
}

}  // namespace traceglass
