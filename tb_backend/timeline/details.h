// What a click on a slice asks: around it, before it, caused by it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tb_backend/timeline/timeline.h"

namespace traceglass {

// Place among the slices of its name and kind, by time.
struct SameName {
  std::int64_t count = 0;
  std::int64_t index = 0;  // from 1
  std::int64_t shortest = 0, longest = 0;
};
SameName same_name(const libtrace::Trace& trace, libtrace::EventId e);

// Device work launched by a runtime call, or within an operator or range.
struct Launched {
  std::vector<libtrace::EventId> first;  // by launch, at most `most`
  std::int64_t total = 0;
};
Launched launched_by(const Timeline& timeline, libtrace::EventId e, std::size_t most);

// Python frames around a host slice, or around the launch of device work; innermost first.
// The `Call stack` argument where the file has one, else frames recorded on the same thread.
std::vector<std::string> python_stack(const Timeline& timeline, libtrace::EventId e);

// Sentences on what is odd about it.
std::vector<std::string> notes(const libtrace::Trace& trace, libtrace::EventId e);

// kNone where there is none.
libtrace::EventId flow_in(const Timeline& timeline, libtrace::EventId e);
libtrace::EventId flow_out(const Timeline& timeline, libtrace::EventId e);

}  // namespace traceglass
