// What a trace has data for, what was recorded, and how far it can be trusted.
#pragma once

#include <string>
#include <vector>

#include "libtrace/trace.h"

namespace traceglass {

struct MissingView {
  std::string view, reason;  // a sentence, with what to record
};

struct Contents {
  std::vector<std::string>
      views;  // overview, operators, kernels, memory, modules, roofline, distributed, trace
  std::vector<MissingView> missing;
  std::vector<std::string> recorded, not_recorded;  // shapes, stacks, memory, flops, modules
};
Contents find_contents(const libtrace::Trace& trace);

struct Trust {
  char grade = 'A';  // A nothing lost · B odd rows · C repaired or skipped · D parts missing
  std::string sentence;
};
Trust judge(const libtrace::Report& report);

}  // namespace traceglass
