#include "tb_backend/analysis/path_waits.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "tb_backend/analysis/figures.h"

namespace traceglass {

using libtrace::EventId;
using libtrace::kNone;
using libtrace::minus;
using libtrace::plus;
using libtrace::Trace;

namespace {

constexpr int kMostLevels = 64;           // around a slice
constexpr std::size_t kMostLooks = 1000;  // collectives back to the one that both were in

const char* in_words(int category) {
  constexpr const char* kWords[kPathCategoryCount] = {"data loading",
                                                      "synchronisation",
                                                      "memory calls",
                                                      "runtime calls",
                                                      "operators on the host",
                                                      "annotated host code",
                                                      "Python",
                                                      "collectives of the host",
                                                      "kernels",
                                                      "copies",
                                                      "memory sets",
                                                      "other collectives",
                                                      "launches on their way",
                                                      "waiting without a known cause"};
  return kWords[category];
}

std::string rank_text(int rank) { return "rank " + std::to_string(rank); }

const SeenCollective* part_of(const RunMatch& match, std::size_t collective, std::size_t row) {
  const SeenCollective* end = match.end(collective);
  const SeenCollective* it =
      std::lower_bound(match.begin(collective), end, row,
                       [](const SeenCollective& s, std::size_t r) { return s.row < r; });
  return it != end && it->row == row ? it : nullptr;
}

class Finder {
 public:
  Finder(const RunMatch& match, std::size_t row) : match_(match), row_(row) {
    const std::vector<RankCollective>& mine = match.rank(row).collectives;
    collective_of_.assign(mine.size(), match.collectives());
    for (std::size_t c = 0; c < match.collectives(); ++c) {
      if (const SeenCollective* s = part_of(match, c, row)) collective_of_[s->kernel] = c;
    }
    for (std::size_t k = 0; k < mine.size(); ++k) kernel_of_.try_emplace(mine[k].event, k);
  }

  [[nodiscard]] std::optional<PathWait> find(EventId event) const {
    const auto it = kernel_of_.find(event);
    if (it == kernel_of_.end()) return std::nullopt;
    const std::size_t kernel = it->second, c = collective_of_[kernel];
    if (c == match_.collectives() || match_.size(c) < 2) return std::nullopt;
    const RankCollective& mine = match_.rank(row_).collectives[kernel];
    PathWait w;
    w.event = event;
    w.ranks = match_.size(c);
    std::int64_t transfer = INT64_MAX, latest = INT64_MIN;
    const SeenCollective* last = nullptr;
    for (const SeenCollective* s = match_.begin(c); s != match_.end(c); ++s) {
      const RankCollective& k = match_.of(*s);
      const std::int64_t start = match_.common(s->row, k.start_ns);
      transfer = std::min(transfer, k.dur_ns);
      if (start >= latest) last = start == latest ? nullptr : s;
      latest = std::max(latest, start);
    }
    w.wait_ns = minus(mine.dur_ns, transfer);
    if (last == nullptr || last->row == row_) return w;
    w.late_ns = minus(latest, match_.common(row_, mine.start_ns));
    w.late_row = last->row;
    set_windows(w, kernel, match_.of(*last));
    return w;
  }

  [[nodiscard]] std::size_t kernel(EventId event) const { return kernel_of_.at(event); }

 private:
  void set_windows(PathWait& w, std::size_t kernel, const RankCollective& late) const {
    const std::vector<RankCollective>& mine = match_.rank(row_).collectives;
    w.own.event = w.event;
    w.late.event = late.event;
    const std::size_t looks = std::min(kernel, kMostLooks);
    for (std::size_t back = 1; back <= looks && !w.since_collective; ++back) {
      const RankCollective& before = mine[kernel - back];
      const std::size_t c = collective_of_[kernel - back];
      if (c == match_.collectives()) continue;
      const SeenCollective* s = part_of(match_, c, *w.late_row);
      if (s == nullptr) continue;
      w.own.from = plus(before.start_ns, before.dur_ns);
      w.late.from = plus(match_.of(*s).start_ns, match_.of(*s).dur_ns);
      w.since_collective = w.own.from <= mine[kernel].start_ns && w.late.from <= late.start_ns;
    }
    if (!w.since_collective) {
      w.own.from = step_start(row_, mine[kernel].start_ns);
      w.late.from = step_start(*w.late_row, late.start_ns);
    }
    const std::int64_t zero = match_.rank(*w.late_row).range_start_ns;
    w.show.start = std::max<std::int64_t>(0, minus(w.late.from, zero));
    w.show.end = std::max(w.show.start, minus(plus(late.start_ns, late.dur_ns), zero));
    w.behind_ns = minus(match_.common(*w.late_row, w.late.from), match_.common(row_, w.own.from));
  }

  // Of the step that has begun last; of the recording where none has.
  [[nodiscard]] std::int64_t step_start(std::size_t row, std::int64_t at) const {
    const RankSummary& rank = match_.rank(row);
    std::int64_t from = std::min(rank.range_start_ns, at);
    for (const RankStep& s : rank.steps) {
      if (s.host_start_ns <= at) from = std::max(from, s.host_start_ns);
    }
    return from;
  }

  const RunMatch& match_;
  const std::size_t row_;
  std::vector<std::size_t> collective_of_;  // by kernel of the own rank
  std::unordered_map<EventId, std::size_t> kernel_of_;
};

}  // namespace

PathParts path_parts(const StepGraph& graph, const PathWindow& window) {
  PathParts parts;
  if (window.event >= graph.trace().size()) return parts;
  std::array<std::map<std::string_view, std::int64_t>, kPathCategoryCount> names;
  for (const PathSegment& s : path_before(graph, window.event, window.from)) {
    const auto c = static_cast<std::size_t>(s.category);
    parts.ns[c] += s.end - s.start;
    if (s.event != kNone) names[c][graph.trace().name(s.event)] += s.end - s.start;
  }
  for (std::size_t c = 0; c < names.size(); ++c) {
    std::int64_t most = 0;
    for (const auto& [name, ns] : names[c]) {
      if (ns > most) parts.longest[c] = name;
      most = std::max(most, ns);
    }
  }
  return parts;
}

std::vector<EventId> collectives_of_path(const Trace& trace, const std::vector<PathSegment>& path) {
  std::vector<EventId> out;
  std::unordered_set<EventId> seen;
  for (const PathSegment& s : path) {
    if (s.category != path_category(Activity::kCommunication) &&
        s.category != path_category(Activity::kHostCommunication)) {
      continue;
    }
    EventId e = s.event;
    for (int i = 0; i < kMostLevels && e != kNone && seen.insert(e).second; ++i) {
      out.push_back(e);
      e = libtrace::is_device_work(trace.kind(e)) ? kNone : trace.parent(e);
    }
  }
  return out;
}

PathWaits find_path_waits(const RunMatch& match, std::size_t row, const std::vector<EventId>& path,
                          std::int64_t least_ns, std::size_t most) {
  PathWaits out;
  out.ranks = match.ranks();
  const Finder finder(match, row);
  std::int64_t waited = 0;
  for (const EventId e : path) {
    std::optional<PathWait> wait = finder.find(e);
    if (!wait) continue;
    ++out.collectives;
    if (!wait->late_row || wait->wait_ns < least_ns) continue;
    libtrace::add(waited, wait->wait_ns);
    out.waits.push_back(std::move(*wait));
  }
  const std::string those = count_text(out.collectives, "collective");
  if (out.ranks < 2) {
    out.sentence = "No other rank of this run is here: for whom a collective waits is not known.";
  } else if (out.collectives == 0) {
    out.sentence = "No collective that another rank took part in is on this path.";
  } else if (out.waits.empty()) {
    out.sentence = "In " + those + " on this path the rank waits for no other.";
  } else {
    out.sentence = "In " + std::to_string(out.waits.size()) + " of " + those +
                   " on this path the rank waits for another, " + time_text(waited) +
                   " altogether.";
  }
  const auto longer = [](const PathWait& a, const PathWait& b) { return a.wait_ns > b.wait_ns; };
  if (out.waits.size() > most) {
    std::stable_sort(out.waits.begin(), out.waits.end(), longer);
    out.waits.resize(most);
  }
  const auto start = [&](const PathWait& w) {
    const auto& all = match.rank(row).collectives;
    return all[finder.kernel(w.event)].start_ns;
  };
  std::stable_sort(out.waits.begin(), out.waits.end(),
                   [&](const PathWait& a, const PathWait& b) { return start(a) < start(b); });
  return out;
}

PathWaitCause cause_of_wait(const PathWait& wait, int own_rank, int late_rank,
                            const std::optional<PathParts>& own,
                            const std::optional<PathParts>& late) {
  PathWaitCause out;
  const std::string who = "Rank " + std::to_string(late_rank);
  out.sentence = who + " comes " + time_text(wait.late_ns) + " later";
  if (own && late) {
    for (int c = 0; c < kPathCategoryCount; ++c) {
      const auto i = static_cast<std::size_t>(c);
      if (late->ns[i] > own->ns[i]) out.longer.push_back({c, own->ns[i], late->ns[i]});
    }
    std::stable_sort(out.longer.begin(), out.longer.end(), [](const auto& a, const auto& b) {
      return a.late_ns - a.own_ns > b.late_ns - b.own_ns;
    });
  }
  // A difference explains lateness when it is at least half of it.
  const auto explains = [&](std::int64_t ns) { return ns > 0 && ns >= wait.late_ns / 2; };
  if (wait.late_ns <= 0) {
    out.sentence = who + " comes last, but no later than the clocks can tell.";
    return out;
  }
  if (!out.longer.empty() && explains(out.longer[0].late_ns - out.longer[0].own_ns)) {
    const PathWaitCause::Part& top = out.longer[0];
    const std::string& name = late->longest[static_cast<std::size_t>(top.category)];
    out.sentence +=
        ": " + time_text(top.late_ns) + " of its way " +
        (wait.since_collective ? "from the collective before" : "since its step began") + " are " +
        in_words(top.category) + (name.empty() ? "" : " (" + short_name(name) + ")") + ", of " +
        rank_text(own_rank) + "'s " + (top.own_ns == 0 ? "none" : time_text(top.own_ns)) + ".";
  } else if (explains(wait.behind_ns)) {
    out.sentence +=
        ": it begins its step " + time_text(wait.behind_ns) + " after " + rank_text(own_rank) + ".";
  } else if (!own || !late) {
    out.sentence += "; why could not be read from its trace.";
  } else if (out.longer.empty()) {
    out.sentence += ", and does nothing for longer: the ranks' clocks or the network.";
  } else {
    out.sentence += ": a little of everything, most of it " +
                    std::string(in_words(out.longer[0].category)) + ".";
  }
  return out;
}

}  // namespace traceglass
