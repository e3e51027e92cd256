#include "tb_backend/timeline/timeline.h"

#include <algorithm>
#include <future>
#include <utility>

namespace traceglass {

using libtrace::EventId;

Timeline::Timeline(libtrace::TracePtr trace) : trace_(std::move(trace)) {
  // Rows and arrows take about as long as each other, and neither needs the other.
  constexpr std::size_t kWorthAThread = 100'000;  // slices
  const auto how = trace_->size() < kWorthAThread ? std::launch::deferred
                                                  : std::launch::async | std::launch::deferred;
  auto links = std::async(how, [this] { return Links(*trace_); });
  Layout layout = lay_out(*trace_);
  row_of_ = std::move(layout.row_of);
  group_of_.resize(trace_->lanes().size() * kPartCount, libtrace::kNone);
  groups_.reserve(layout.groups.size());
  for (GroupPlan& plan : layout.groups) {
    Group group;
    group.id = static_cast<std::uint32_t>(groups_.size());
    group.lane = plan.lane;
    group.type = plan.type;
    group.section = std::move(plan.section);
    group.section_label = std::move(plan.section_label);
    group.label = std::move(plan.label);
    group.sublabel = std::move(plan.sublabel);
    group.rows.reserve(plan.rows.size());
    for (std::vector<EventId>& ids : plan.rows) {
      const bool shared = plan.shared_last && &ids == &plan.rows.back();
      group.events += ids.size();
      group.rows.emplace_back(*trace_, std::move(ids), shared);
    }
    if (group.type == GroupType::kHost && group.rows.size() > 1) {
      const std::vector<EventId>& top = group.rows.front().ids();
      const bool steps = std::all_of(top.begin(), top.end(), [&](EventId e) {
        return (trace_->flags(e) & libtrace::flag::kStep) != 0;
      });
      if (steps) group.step_rows = 1;
    }
    group_of_[std::size_t{plan.lane} * kPartCount + static_cast<std::size_t>(plan.part)] = group.id;
    groups_.push_back(std::move(group));
  }
  links_ = links.get();
}

const std::vector<CounterTrack>& Timeline::counters() const {
  std::call_once(counters_made_, [this] { counters_ = counter_tracks(*trace_); });
  return counters_;
}

Place Timeline::place(EventId e) const {
  const auto part = static_cast<std::size_t>(part_of(trace_->kind(e)));
  return {group_of_[std::size_t{trace_->lane_of(e)} * kPartCount + part], row_of_[e]};
}

std::vector<TileSlice> Timeline::tile(std::uint32_t group, int k, std::int64_t i) const {
  std::vector<TileSlice> out;
  const auto window = TileWindow::of(trace_->range().start, k, i);
  if (!window) return out;
  const std::vector<Row>& rows = groups_[group].rows;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    fold_row(*trace_, rows[r], static_cast<std::uint16_t>(r), *window, links_.linked(), out);
  }
  return out;
}

EventId Timeline::beside(EventId e, bool next) const {
  const Place at = place(e);
  const std::vector<EventId>& ids = groups_[at.group].rows[at.row].ids();
  const auto it = std::lower_bound(ids.begin(), ids.end(), e);
  if (next) return it + 1 == ids.end() ? libtrace::kNone : *(it + 1);
  return it == ids.begin() ? libtrace::kNone : *(it - 1);
}

std::size_t Timeline::resident_bytes() const {
  std::size_t bytes = row_of_.capacity() * sizeof(std::uint16_t) + links_.resident_bytes();
  for (const Group& group : groups_) {
    for (const Row& row : group.rows) bytes += row.resident_bytes();
  }
  // Counters too, as large as they can be: a corner a row, two a launch.
  const std::size_t corners =
      2 * links_.launch_count() + trace_->memory().size() + trace_->instants().size();
  return bytes + corners * (sizeof(std::int64_t) + sizeof(double));
}

}  // namespace traceglass
