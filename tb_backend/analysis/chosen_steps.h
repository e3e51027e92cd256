// To which of the chosen steps an event belongs: the one whose host interval it starts in, device
// work the one that it was launched in (without a launch: whose extended time it starts in). So a
// step's calls are its own even where the host runs ahead of the device.
#pragma once

#include <cstddef>
#include <cstdint>

#include "libtrace/trace.h"
#include "tb_backend/analysis/steps.h"

namespace traceglass {

class ChosenSteps {
 public:
  static constexpr std::size_t kOutside = SIZE_MAX;

  // `selection` must outlive it.
  explicit ChosenSteps(const Selection& selection);
  // Position among all steps; fast for events in rising order.
  std::size_t of(const libtrace::Trace& trace, libtrace::EventId e);
  [[nodiscard]] std::int64_t start(std::size_t step) const { return steps_[step].host.start; }

 private:
  std::size_t find(libtrace::TimeRange Step::* range, std::int64_t at);

  const std::vector<Step>& steps_;
  std::size_t first_, last_, hint_;
  bool whole_ = false;  // one synthetic step: everything is in it
};

}  // namespace traceglass
