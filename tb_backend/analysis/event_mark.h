// A fingerprint of a slice, by which it is found again in another profile of the same program: what
// called it, with which shapes, in which step, and the how-manieth of its like there. Times are no
// part of it: they differ from profile to profile.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "libtrace/trace.h"
#include "tb_backend/analysis/steps.h"

namespace traceglass {

struct EventMark {
  std::string name, category;
  std::string path;       // names of up to 64 callers, outermost first, a line each; steps left out
  std::string shape;      // "Input Dims" as written; "" of device work
  std::int64_t step = 0;  // position of the step it starts in, from 1; 0: outside all
  std::int64_t occurrence = 0;  // 1, 2, … among its equals in that step, by start
  std::int64_t among = 0;       // how many equals there are

  bool operator==(const EventMark&) const = default;
};

// O(number of slices).
EventMark mark_of(const libtrace::Trace& trace, const std::vector<Step>& steps,
                  libtrace::EventId e);

struct MarkFound {
  libtrace::EventId event = libtrace::kNone;  // kNone: lost
  std::string reason;                         // why it is lost, as a sentence
};

// Each mark's slice: the one with its path, shape and step, where there are as many equals as
// there were; in doubt it is lost, never another one. One pass over the slices for all marks.
std::vector<MarkFound> find_marks(const libtrace::Trace& trace, const std::vector<Step>& steps,
                                  const std::vector<EventMark>& marks);

// Name of the step at a position from 1; "" for 0 or none.
std::string step_name_at(const std::vector<Step>& steps, std::int64_t position);

// Which of the names are held by host slices, which by device work. One pass for all.
struct NameHeld {
  bool host = false, device = false;
};
std::vector<NameHeld> find_names(const libtrace::Trace& trace,
                                 const std::vector<std::string>& names);

}  // namespace traceglass
