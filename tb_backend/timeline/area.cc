#include "tb_backend/timeline/area.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace traceglass {
namespace {

using libtrace::EventId;
using libtrace::Trace;

struct Sum {
  std::int64_t count = 0, total = 0, longest = -1;
  EventId event = libtrace::kNone;
  std::uint32_t group = 0;
  libtrace::Kind kind = libtrace::Kind::kOther;
  bool several_groups = false, several_kinds = false;
};

class Adder {
 public:
  Adder(const Trace& trace, std::int64_t t0, std::int64_t t1, AreaBy by)
      : trace_(trace), t0_(t0), t1_(t1), by_(by) {}

  void add(EventId e, std::uint32_t group) {
    const std::int64_t start = trace_.start(e);
    const std::int64_t end = std::max(start, trace_.end(e));
    if (start >= t1_ || (end <= t0_ && start < t0_) || trace_.suspect(e)) return;
    const std::int64_t within = std::min(end, t1_) - std::max(start, t0_);
    const auto [it, fresh] = sums_.try_emplace(key(e, group));
    Sum& sum = it->second;
    if (fresh) {
      sum.group = group;
      sum.kind = trace_.kind(e);
    }
    sum.several_groups = sum.several_groups || sum.group != group;
    sum.several_kinds = sum.several_kinds || sum.kind != trace_.kind(e);
    ++sum.count;
    sum.total += within;
    if (within > sum.longest) {
      sum.longest = within;
      sum.event = e;
    }
    ++slices_;
  }

  Area finish(const Timeline& timeline) {
    Area area;
    area.slices = slices_;
    for (const auto& [key, sum] : sums_) {
      AreaRow row;
      row.kind = sum.several_kinds ? "" : libtrace::kind_name(sum.kind);
      row.track = sum.several_groups ? "" : timeline.groups()[sum.group].label;
      row.key = by_ == AreaBy::kName   ? std::string(trace_.name(sum.event))
                : by_ == AreaBy::kKind ? std::string(libtrace::kind_name(sum.kind))
                                       : timeline.groups()[sum.group].label;
      row.count = sum.count;
      row.total = sum.total;
      row.longest = sum.longest;
      row.event = sum.event;
      area.rows.push_back(std::move(row));
    }
    std::sort(area.rows.begin(), area.rows.end(), [](const AreaRow& a, const AreaRow& b) {
      return std::tie(b.total, b.count, a.key, a.event) <
             std::tie(a.total, a.count, b.key, b.event);
    });
    return area;
  }

 private:
  // A name is one row a kind: an operator and a range of the same name are two things.
  [[nodiscard]] std::uint64_t key(EventId e, std::uint32_t group) const {
    const auto kind = static_cast<std::uint64_t>(trace_.kind(e));
    if (by_ == AreaBy::kName) return std::uint64_t{trace_.name_id(e)} << 8U | kind;
    return by_ == AreaBy::kKind ? kind : group;
  }

  const Trace& trace_;
  const std::int64_t t0_, t1_;
  const AreaBy by_;
  std::unordered_map<std::uint64_t, Sum> sums_;
  std::int64_t slices_ = 0;
};

}  // namespace

Area aggregate(const Timeline& timeline, std::int64_t t0, std::int64_t t1,
               std::span<const std::uint32_t> groups, AreaBy by) {
  if (t1 < t0) return {};
  Adder adder(timeline.trace(), t0, t1, by);
  for (const std::uint32_t g : groups) {
    for (const Row& row : timeline.groups()[g].rows) {
      const RowSlices slices = row.slices();
      std::size_t first = 0;
      std::size_t last = slices.size();
      if (!row.shared()) {  // else what is shown is not where the slices are
        first = row.index().first_from(slices, t0);
        if (first > 0) --first;
        last = row.index().first_from(slices, t1);
      }
      for (std::size_t i = first; i < last; ++i) adder.add(slices.id(i), g);
    }
  }
  return adder.finish(timeline);
}

}  // namespace traceglass
