// Where each slice stands: Trace → groups (a thread's calls, a stream's kernels, …) → rows.
//
// A group is what the page shows as one track. A host lane gives one for its call tree and one for
// its Python frames; a device lane one for work, one for annotations, one for synchronisation.
// Nested slices stand below their parent in the lowest free row; slices that overlap get rows of
// their own. Nothing is dropped: beyond kMaxRows the last row is shared.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "libtrace/trace.h"

namespace traceglass {

enum class GroupType : std::uint8_t { kHost, kPython, kDevice, kDeviceAnnotation, kSync, kOther };
std::string_view group_type_name(GroupType type);

// What of a lane a kind belongs to; one group for each that has slices.
enum class Part : std::uint8_t { kCalls, kPython, kDevice, kDeviceAnnotation, kSync, kSpan };
inline constexpr int kPartCount = 6;
Part part_of(libtrace::Kind kind);

inline constexpr std::size_t kMaxRows = 512;

struct GroupPlan {
  libtrace::LaneId lane = 0;
  Part part = Part::kCalls;
  GroupType type = GroupType::kOther;
  std::string section, section_label, label, sublabel;
  std::vector<std::vector<libtrace::EventId>> rows;  // ids ascend within a row
  bool shared_last = false;
};

struct Layout {
  std::vector<GroupPlan> groups;      // in the order of the page
  std::vector<std::uint16_t> row_of;  // by event
};

Layout lay_out(const libtrace::Trace& trace);

}  // namespace traceglass
