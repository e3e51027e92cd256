// The steps of a trace, and a choice among them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "libtrace/model/intervals.h"
#include "libtrace/trace.h"

namespace traceglass {

struct Step {
  std::string name;              // "ProfilerStep#N"; "" when synthetic
  std::int64_t index = 0;        // N
  bool synthetic = false;        // the file has no steps: one over its whole range
  bool incomplete = false;       // cut by the end of the recording
  libtrace::TimeRange host;      // its own interval
  libtrace::TimeRange extended;  // … and the device work it launched, behind the previous step's
};

// By start. Empty only for a trace without any usable slice.
std::vector<Step> find_steps(const libtrace::Trace& trace);

// A run of steps, or everything (steps and what lies outside them).
class Selection {
 public:
  static Selection everything(std::vector<Step> steps);
  // Positions [first, last] in `steps`, clamped.
  static Selection of(std::vector<Step> steps, std::size_t first, std::size_t last);

  [[nodiscard]] bool all() const { return all_; }
  [[nodiscard]] bool selected(std::size_t step) const { return step >= first_ && step < last_; }
  // Whether an event that starts at `at` belongs to the choice (to an extended step of it).
  [[nodiscard]] bool contains(std::int64_t at) const;
  [[nodiscard]] const std::vector<Step>& steps() const { return steps_; }
  [[nodiscard]] std::size_t count() const { return last_ - first_; }
  // Position in steps() of the i-th chosen one, and back; SIZE_MAX for one that is not chosen.
  [[nodiscard]] std::size_t position(std::size_t i) const { return first_ + i; }
  [[nodiscard]] std::size_t chosen_index(std::size_t step) const {
    return selected(step) ? step - first_ : SIZE_MAX;
  }
  // First chosen step's start to the last one's end, extended; the trace's range without steps.
  [[nodiscard]] libtrace::TimeRange range(const libtrace::Trace& trace) const;

 private:
  std::vector<Step> steps_;
  std::size_t first_ = 0, last_ = 0;
  bool all_ = true;
};

}  // namespace traceglass
