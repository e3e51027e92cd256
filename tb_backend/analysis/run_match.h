// The ranks of a run with their collectives matched and their clocks tied: what the view over all
// ranks is computed from.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "libtrace/model/sums.h"
#include "tb_backend/analysis/rank_clock.h"
#include "tb_backend/analysis/rank_summary.h"

namespace traceglass {

struct RankInput {
  std::string worker;  // as the log directory names it
  const RankSummary* summary = nullptr;
};

// One rank's part of one collective.
struct SeenCollective {
  std::uint32_t row = 0;     // position among the ranks
  std::uint32_t kernel = 0;  // position among the rank's collectives
};

class RunMatch {
 public:
  explicit RunMatch(const std::vector<RankInput>& inputs);

  [[nodiscard]] std::size_t ranks() const { return rows_.size(); }
  [[nodiscard]] std::size_t input(std::size_t row) const { return rows_[row]; }
  [[nodiscard]] const RankSummary& rank(std::size_t row) const {
    return *inputs_[rows_[row]].summary;
  }
  [[nodiscard]] const RankClocks& clocks() const { return clocks_; }
  // A time of a rank's own trace on the clock of all.
  [[nodiscard]] std::int64_t common(std::size_t row, std::int64_t at) const {
    return libtrace::plus(shift_[row], at);
  }

  [[nodiscard]] std::size_t collectives() const { return first_.size() - 1; }
  // By rank.
  [[nodiscard]] const SeenCollective* begin(std::size_t c) const { return &seen_[first_[c]]; }
  [[nodiscard]] const SeenCollective* end(std::size_t c) const { return begin(c) + size(c); }
  [[nodiscard]] std::size_t size(std::size_t c) const { return first_[c + 1] - first_[c]; }
  [[nodiscard]] const RankCollective& of(const SeenCollective& s) const {
    return rank(s.row).collectives[s.kernel];
  }

  // Its collectives are only the calls of its host while other ranks have their kernels: the two do
  // not compare.
  [[nodiscard]] bool set_aside(std::size_t row) const {
    return of_device_ && rank(row).on_host && !rank(row).collectives.empty();
  }

  // Inputs that are no row: they do not say their rank; their rank is there already.
  [[nodiscard]] const std::vector<std::size_t>& without_rank() const { return without_rank_; }
  [[nodiscard]] const std::vector<std::size_t>& doubled() const { return doubled_; }

 private:
  void match();
  void place_untied();

  const std::vector<RankInput>& inputs_;
  std::vector<std::size_t> rows_;  // inputs, by rank
  std::vector<std::size_t> without_rank_, doubled_;
  std::vector<SeenCollective> seen_;  // by collective, then by rank
  std::vector<std::uint32_t> first_;  // of each collective in seen_
  std::vector<std::int64_t> shift_;   // own time + this = common time
  RankClocks clocks_;
  bool of_device_ = false;  // a rank has kernels of collectives
};

}  // namespace traceglass
