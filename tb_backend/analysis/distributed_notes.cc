#include "tb_backend/analysis/distributed_notes.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <map>
#include <optional>
#include <string_view>

#include "tb_backend/analysis/figures.h"

namespace traceglass {

namespace {

constexpr std::size_t kListed = 8;                    // ranges of ranks in a sentence
constexpr std::int64_t kClockMatters_ns = 1'000'000;  // hosts kept by NTP are closer
constexpr int kMostRanks = 1 << 20;                   // a world size above is not believed

// N of "rank3", "rank_3", "rank-3", in any case, where the name has it.
std::optional<int> rank_in(std::string_view worker) {
  constexpr std::string_view kWord = "rank";
  for (std::size_t at = 0; at + kWord.size() < worker.size(); ++at) {
    const bool here =
        std::equal(kWord.begin(), kWord.end(), worker.begin() + static_cast<std::ptrdiff_t>(at),
                   [](char a, char b) { return a == (b | 0x20); });
    if (!here) continue;
    std::size_t digits = at + kWord.size();
    if (worker[digits] == '_' || worker[digits] == '-') ++digits;
    int n = 0;
    const char* end = worker.data() + worker.size();
    if (std::from_chars(worker.data() + digits, end, n).ec == std::errc{}) return n;
  }
  return std::nullopt;
}

std::string ranks_text(const std::vector<int>& ranks) {
  return (ranks.size() == 1 ? "Rank " : "Ranks ") + list_text(ranks);
}

class Notes {
 public:
  Notes(const std::vector<RankInput>& inputs, const RunMatch& match, const Distributed& d)
      : inputs_(inputs), match_(match), d_(d) {}

  std::vector<DistributedNote> run() {
    who();
    names();
    steps();
    clocks();
    matching();
    return std::move(notes_);
  }

 private:
  void add(const char* code, std::string sentence) {
    notes_.push_back({code, std::move(sentence)});
  }

  void who() {
    // As the traces say; a rank beyond that is no sign of all those up to it.
    int world = d_.world_size.value_or(0);
    for (const RankRow& r : d_.ranks) {
      if (!d_.world_size) world = std::max(world, r.rank + 1);
    }
    world = std::min(world, kMostRanks);
    std::vector<bool> here(static_cast<std::size_t>(world), false);
    std::vector<int> beyond, missing;
    for (const RankRow& r : d_.ranks) {
      if (r.rank >= 0 && r.rank < world) {
        here[static_cast<std::size_t>(r.rank)] = true;
      } else {
        beyond.push_back(r.rank);
      }
    }
    for (int rank = 0; rank < world; ++rank) {
      if (!here[static_cast<std::size_t>(rank)]) missing.push_back(rank);
    }
    if (!beyond.empty() && world < kMostRanks) {
      add("rank_beyond_world", ranks_text(beyond) + (beyond.size() == 1 ? " is" : " are") +
                                   " none of the " + std::to_string(world) +
                                   " that the traces say there are: files of two runs in one "
                                   "folder, or a wrong world size.");
    }
    if (d_.ranks.size() == 1) {
      add("one_rank", "Only rank " + std::to_string(d_.ranks[0].rank) +
                          (world > 1 && beyond.empty() ? " of " + std::to_string(world) : "") +
                          " is here: waiting shows only between ranks. Record every rank into one "
                          "log directory.");
    } else if (!missing.empty() && !d_.ranks.empty()) {
      add("missing_ranks", ranks_text(missing) + " of " + std::to_string(world) +
                               (missing.size() == 1 ? " is" : " are") +
                               " not here: what the others waited for them counts as transfer.");
    }
    for (const std::size_t i : match_.doubled()) {
      const int rank = *inputs_[i].summary->rank;
      std::string first;
      for (const RankRow& r : d_.ranks) {
        if (r.rank == rank) first = inputs_[r.input].worker;
      }
      add("doubled_rank", "Rank " + std::to_string(rank) + " is here twice: " + first +
                              " speaks for it, " + inputs_[i].worker + " is left out.");
    }
    for (const std::size_t i : match_.without_rank()) {
      add("no_rank",
          inputs_[i].worker +
              " does not say its rank: it is left out. Name the files rank0…, rank1…, or "
              "record after init_process_group().");
    }
  }

  void names() {
    std::vector<int> guessed;
    for (const RankRow& r : d_.ranks) {
      const RankInput& input = inputs_[r.input];
      const std::optional<int> named = rank_in(input.worker);
      if (input.summary->rank_guessed) {
        guessed.push_back(r.rank);
      } else if (named && *named != r.rank) {
        add("renamed_rank", input.worker + " says that it is rank " + std::to_string(r.rank) +
                                ": that is what counts, not its name.");
      }
    }
    if (!guessed.empty()) {
      add("guessed_rank", ranks_text(guessed) + (guessed.size() == 1 ? " is" : " are") +
                              " known by file name only: the trace does not say its rank.");
    }
  }

  void steps() {
    std::map<std::size_t, std::vector<int>> counts;
    bool synthetic = false;
    for (std::size_t row = 0; row < d_.ranks.size(); ++row) {
      const auto& steps = match_.rank(row).steps;
      counts[steps.size()].push_back(d_.ranks[row].rank);
      synthetic = synthetic || (!steps.empty() && steps.front().synthetic);
    }
    if (synthetic) {
      add("no_steps",
          "No steps: everything counts as one. Call profiler.step() after each on every rank.");
    }
    if (counts.size() < 2) return;
    std::string text = "The ranks have different numbers of steps: ";
    bool first = true;
    for (const auto& [count, ranks] : counts) {
      if (!first) text += "; ";
      first = false;
      text +=
          (ranks.size() == 1 ? "rank " : "ranks ") + list_text(ranks) + " " + std::to_string(count);
    }
    add("step_counts", text + ". Each is averaged over its own.");
  }

  void clocks() {
    std::int64_t most = 0;
    const RankRow* far = nullptr;
    std::vector<int> untied;
    for (const RankRow& r : d_.ranks) {
      if (!r.tied && d_.ranks.size() > 1) untied.push_back(r.rank);
      if (r.tied && std::llabs(r.ahead_ns) > most) {
        most = std::llabs(r.ahead_ns);
        far = &r;
      }
    }
    if (far != nullptr && most >= kClockMatters_ns) {
      add("clocks", "The clock of rank " + std::to_string(far->rank) + " is " + time_text(most) +
                        (far->ahead_ns > 0 ? " ahead of" : " behind") + " rank " +
                        std::to_string(reference()) +
                        "'s: corrected by the collectives, which all ranks leave together.");
    }
    if (!untied.empty()) {
      add("untied",
          ranks_text(untied) +
              (untied.size() == 1 ? " shares no collective with" : " share no collective with") +
              " the others: placed by their own clocks.");
    }
  }

  int reference() const {
    for (const RankRow& r : d_.ranks) {
      if (r.tied) return r.rank;
    }
    return d_.ranks.front().rank;
  }

  void matching() {
    bool any = false;
    for (const RankRow& r : d_.ranks) {
      any = any || !match_.rank(static_cast<std::size_t>(&r - d_.ranks.data())).collectives.empty();
    }
    if (!any && !d_.ranks.empty()) {
      add("no_collectives", "No collectives were recorded on these ranks.");
    }
    std::vector<int> aside;
    for (std::size_t row = 0; row < d_.ranks.size(); ++row) {
      if (match_.set_aside(row)) aside.push_back(d_.ranks[row].rank);
    }
    if (!aside.empty()) {
      add("no_device_collectives",
          ranks_text(aside) + (aside.size() == 1 ? " has" : " have") +
              " no kernels of collectives, as the others have: only calls of the host, which are "
              "not compared.");
    }
    if (d_.on_host) {
      add("on_host",
          "The collectives are intervals of the host (Gloo, MPI): no device kernels of them "
          "exist.");
    }
    if (d_.by_order) {
      add("by_order",
          std::string(d_.by_sequence ? "Some collectives carry" : "The collectives carry") +
              " no sequence number: they are matched by name and order in their group, "
              "which goes wrong where a rank misses one.");
    }
    if (d_.unmatched > 0 && d_.ranks.size() > 1) {
      add("unmatched", count_text(d_.unmatched, "collective") +
                           (d_.unmatched == 1 ? " was" : " were") +
                           " seen on one rank only and not compared.");
    }
  }

  const std::vector<RankInput>& inputs_;
  const RunMatch& match_;
  const Distributed& d_;
  std::vector<DistributedNote> notes_;
};

}  // namespace

std::string list_text(const std::vector<int>& numbers) {
  std::string out;
  std::size_t ranges = 0;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    if (ranges++ == kListed) {
      return out + " and " + std::to_string(numbers.size() - i) + " more";
    }
    if (!out.empty()) out += ", ";
    out += std::to_string(numbers[i]);
    if (last > i) out += (last == i + 1 ? ", " : "–") + std::to_string(numbers[last]);
    i = last + 1;
  }
  return out;
}

std::vector<DistributedNote> find_notes(const std::vector<RankInput>& inputs, const RunMatch& match,
                                        const Distributed& d) {
  return Notes(inputs, match, d).run();
}

}  // namespace traceglass
