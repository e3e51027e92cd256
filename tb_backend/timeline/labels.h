// What sections and tracks are called and in which order they stand, as PyTorch users know them.
#pragma once

#include <string>
#include <vector>

#include "libtrace/trace.h"
#include "tb_backend/timeline/layout.h"

namespace traceglass {

// Lanes with slices: by section (process_sort, host before device, pid), then thread_sort, tid.
std::vector<libtrace::LaneId> lanes_in_order(const libtrace::Trace& trace);

// The device a device lane belongs to: `device` of its slices, else its pid, else its tid.
std::string device_id(const libtrace::Trace& trace, const libtrace::Lane& lane);

std::string section_id(const libtrace::Trace& trace, const libtrace::Lane& lane);
std::string section_label(const libtrace::Trace& trace, const libtrace::Lane& lane);
std::string track_label(const libtrace::Trace& trace, const libtrace::Lane& lane, GroupType type);
std::string track_sublabel(const libtrace::Lane& lane, GroupType type);

}  // namespace traceglass
