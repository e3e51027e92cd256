// The chain of costs and waits that a step's length is made of, walked back from its end through
// what bound each piece; and what a faster operator or kernel would gain.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tb_backend/analysis/what_if.h"

namespace traceglass {

// Activity, and two that are no work: on the way from launch to device, and a wait with no known
// reason.
inline constexpr int kPathCategoryCount = 14;
inline constexpr int kLaunchDelay = 12, kUnknownGap = 13;
constexpr int path_category(Activity a) { return static_cast<int>(a); }
std::string_view path_category_name(int category);

struct PathSegment {
  std::int64_t start = 0, end = 0;
  libtrace::EventId event = libtrace::kNone;
  int category = kUnknownGap;
  std::size_t lane = 0;             // graph lane
  EdgeKind edge = EdgeKind::kNone;  // why it began when it did; kNone: no reason known
  NodeId node = kNoNode;            // whose cost it is; kNoNode: a delay
  std::int64_t pieces = 1;          // how many short ones it stands for
};

// Tiles the extended step exactly, by time.
std::vector<PathSegment> critical_path(const StepChain& chain, std::size_t step);
// The chain that ends with the start of `event`, back to `from`; tiles [from, start) exactly. Empty
// where the graph has no such event.
std::vector<PathSegment> path_before(const StepGraph& graph, libtrace::EventId event,
                                     std::int64_t from);
// Of the chosen ones, the one of median length.
std::size_t median_step(const StepChain& chain);

struct WhatIfRow {
  libtrace::StringId name = 0;
  libtrace::Kind kind = libtrace::Kind::kOther;
  std::int64_t ns_on_path = 0, gain_ns = 0;  // mean a step, on the chain of all chosen steps
  libtrace::EventId longest = libtrace::kNone;
};

struct CriticalPath {
  std::size_t steps = 0;
  std::int64_t mean_step_ns = 0;
  std::vector<std::int64_t> parts;  // by category; sum to mean_step_ns
  // Those that are not 0, largest first.
  [[nodiscard]] std::vector<std::pair<int, std::int64_t>> parts_by_size() const;
  std::size_t step = 0;            // of the chosen ones, whose path is listed
  std::vector<PathSegment> path;   // empty without steps
  std::vector<WhatIfRow> what_if;  // names with most time on the chain at half their cost
};

// `step`: of the chosen ones; SIZE_MAX: the one of median length.
CriticalPath find_critical_path(const StepChain& chain, std::size_t step = SIZE_MAX);

}  // namespace traceglass
