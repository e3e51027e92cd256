// The call trees of some steps laid over each other: what a step calls, where, and what it costs
// on the mean. Calls are laid over each other when their parents are, by name and by which call of
// that name it is.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "libtrace/trace.h"
#include "tb_backend/analysis/alignment.h"
#include "tb_backend/analysis/operators.h"
#include "tb_backend/analysis/steps.h"

namespace traceglass {

// Names as numbers that are equal in both traces. The texts must outlive it.
class NameTable {
 public:
  std::uint32_t number(std::string_view name);

 private:
  std::unordered_map<std::string_view, std::uint32_t> numbers_;
};

struct CallTree {
  Tree tree;  // the root; below it a node a thread; below these what the threads call
  // By node; sums over all steps.
  std::vector<std::string_view> name;  // "" for the root and threads
  std::vector<std::int64_t> host_ns, host_self_ns, device_self_ns;
  std::vector<libtrace::EventId> first;   // kNone for the root and threads
  std::vector<std::uint32_t> occurrence;  // among the siblings of its name, from 0
  std::vector<std::uint32_t> threads;     // nodes below the root; first those that steps are on
  std::size_t step_threads = 0;           // how many those are
  std::size_t steps = 0;
};

// Host calls (ops, annotations, runtime) that start in the chosen steps. `times` is of the trace.
CallTree make_call_tree(const libtrace::Trace& trace, const DeviceTimes& times,
                        const Selection& selection, NameTable& names);

// Gives the threads of both the names by which align() pairs them: threads of the steps with each
// other, others by the calls that they share most time in, since numbers say nothing.
void pair_threads(CallTree& a, CallTree& b);

// Where a node stands: the names of its ancestors, outermost first, threads left out; at most
// `most`, the innermost ones.
std::vector<std::string_view> ancestors(const CallTree& tree, std::uint32_t node, std::size_t most);

}  // namespace traceglass
