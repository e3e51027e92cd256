#include "tb_backend/analysis/compare_blocks.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <tuple>
#include <unordered_map>

#include "tb_backend/analysis/compare_rows.h"

namespace traceglass {

using libtrace::kNone;

namespace {

constexpr std::size_t kPath = 5;       // names of a path
constexpr std::int64_t kLeast = 1000;  // ns a step; smaller differences are of the clock

using Node = std::uint32_t;
using State = CompareBlock::State;

struct Times {
  std::int64_t host = 0, device = 0;
  friend Times operator+(Times x, Times y) { return {x.host + y.host, x.device + y.device}; }
  friend Times operator-(Times x, Times y) { return {x.host - y.host, x.device - y.device}; }
  [[nodiscard]] std::int64_t size() const { return std::max(std::abs(host), std::abs(device)); }
};

// Of a step, by node, with all below. An unmatched block holds nothing that is matched: that is
// compared where it stands now.
std::vector<Times> totals(const CallTree& t, const std::vector<Node>& other) {
  std::vector<Times> sums(t.tree.size()), elsewhere(t.tree.size());
  for (Node n = 0; n < t.tree.size(); ++n) sums[n] = {t.host_ns[n], t.device_self_ns[n]};
  for (Node n = static_cast<Node>(t.tree.size()); n-- > 1;) {
    const Node p = t.tree.parent[n];
    sums[p].device += sums[n].device;
    if (other[p] != kUnmatched) continue;
    const Times gone = other[n] == kUnmatched ? elsewhere[n] : sums[n];
    elsewhere[p].host += gone.host;
    elsewhere[p].device += gone.device;
  }
  for (Node n = 0; n < t.tree.size(); ++n) {
    if (other[n] == kUnmatched) sums[n] = sums[n] - elsewhere[n];
    sums[n] = {per_step(sums[n].host, t.steps), per_step(sums[n].device, t.steps)};
  }
  return sums;
}

// Calls of one path and state, all occurrences together.
struct Group {
  Times a, b;
  std::int64_t count = 0;
  Node node_a = kUnmatched, node_b = kUnmatched;  // of the occurrence that differs most
  Times largest;                                  // its difference
  [[nodiscard]] Times delta() const { return b - a; }
};

// Most of the whole is in the part, on the side where the whole differs more.
bool explains(Times part, Times whole) {
  const bool by_host = std::abs(whole.host) >= std::abs(whole.device);
  const std::int64_t p = by_host ? part.host : part.device, w = by_host ? whole.host : whole.device;
  return 5 * std::abs(p) >= 4 * std::abs(w);
}

class Blocks {
 public:
  Blocks(const CallTree& a, const CallTree& b)
      : a_(a),
        b_(b),
        pairs_(align(a.tree, b.tree)),
        times_a_(totals(a, pairs_.b_of_a)),
        times_b_(totals(b, pairs_.a_of_b)),
        path_a_(a.tree.size()),
        path_b_(b.tree.size()) {}

  std::vector<CompareBlock> make(std::size_t most) {
    find_paths();
    gather();
    std::vector<CompareBlock> blocks;
    for (const auto& [key, group] : groups_) {
      const auto [path, state] = key;
      const Times delta = group.delta();
      if (state == State::kMatched && delta.size() < kLeast) continue;
      const auto below = below_.find(path);
      const bool explained =
          state == State::kMatched && below != below_.end() && explains(below->second, delta);
      if (!explained) blocks.push_back(describe(state, group));
    }
    std::sort(blocks.begin(), blocks.end(), [](const CompareBlock& x, const CompareBlock& y) {
      const std::int64_t dx = size_of(x), dy = size_of(y);
      return std::tie(dy, x.state, x.name, x.path) < std::tie(dx, y.state, y.name, y.path);
    });
    if (blocks.size() > most) blocks.resize(most);
    return blocks;
  }

 private:
  static std::int64_t size_of(const CompareBlock& b) {
    return Times{b.host_b_ns - b.host_a_ns, b.device_b_ns - b.device_a_ns}.size();
  }

  // A path is the names from the root on, as they stand in b; what vanished hangs where it would.
  std::uint32_t path(std::uint32_t parent, std::uint32_t name) {
    const auto [it, fresh] = paths_.try_emplace(std::uint64_t{parent} << 32U | name,
                                                static_cast<std::uint32_t>(parents_.size()));
    if (fresh) parents_.push_back(parent);
    return it->second;
  }

  void find_paths() {
    for (Node n = 1; n < b_.tree.size(); ++n) {
      path_b_[n] = path(path_b_[b_.tree.parent[n]], b_.tree.name[n]);
    }
    for (Node n = 1; n < a_.tree.size(); ++n) {
      const Node other = pairs_.b_of_a[n];
      path_a_[n] =
          other == kUnmatched ? path(path_a_[a_.tree.parent[n]], a_.tree.name[n]) : path_b_[other];
    }
  }

  void gather() {
    for (Node n = 1; n < a_.tree.size(); ++n) {
      const Node other = pairs_.b_of_a[n], parent = a_.tree.parent[n];
      if (other != kUnmatched) {
        add(pairs_.moved[n] ? State::kMoved : State::kMatched, path_a_[n], n, other);
        if (b_.tree.parent[other] != pairs_.b_of_a[parent]) {
          // Gone from one place and come to another.
          note_below(path_a_[parent], times_a_[n]);
          note_below(path_b_[b_.tree.parent[other]], times_b_[other]);
        }
      } else if (pairs_.b_of_a[parent] != kUnmatched) {
        add(State::kVanished, path_a_[n], n, kUnmatched);
      }
    }
    for (Node n = 1; n < b_.tree.size(); ++n) {
      if (pairs_.a_of_b[n] == kUnmatched && pairs_.a_of_b[b_.tree.parent[n]] != kUnmatched) {
        add(State::kInserted, path_b_[n], kUnmatched, n);
      }
    }
    for (const auto& [key, group] : groups_) note_below(parents_[key.first], group.delta());
  }

  void note_below(std::uint32_t path, Times delta) {
    Times& best = below_[path];
    best.host = std::max(best.host, std::abs(delta.host));
    best.device = std::max(best.device, std::abs(delta.device));
  }

  void add(State state, std::uint32_t path, Node a, Node b) {
    const std::string_view name = b == kUnmatched ? a_.name[a] : b_.name[b];
    if (name.empty()) return;  // a thread
    Group& group = groups_[{path, state}];
    const Times ta = a == kUnmatched ? Times{} : times_a_[a];
    const Times tb = b == kUnmatched ? Times{} : times_b_[b];
    group.a = group.a + ta;
    group.b = group.b + tb;
    const bool first = group.count++ == 0;
    if (!first && (tb - ta).size() <= group.largest.size()) return;
    group.largest = tb - ta;
    group.node_a = a;
    group.node_b = b;
  }

  CompareBlock describe(State state, const Group& group) const {
    const bool in_b = group.node_b != kUnmatched;
    const CallTree& t = in_b ? b_ : a_;
    const Node at = in_b ? group.node_b : group.node_a;
    CompareBlock block;
    block.state = state;
    block.name = t.name[at];
    for (const std::string_view name : ancestors(t, at, kPath)) block.path.emplace_back(name);
    block.count = group.count;
    Times a = group.a, b = group.b;
    if (state == State::kMatched && group.count > 1 && explains(group.largest, group.delta())) {
      block.count = 1;  // one of many: that one
      block.occurrence = t.occurrence[at] + std::int64_t{1};
      a = times_a_[group.node_a];
      b = times_b_[group.node_b];
    }
    block.host_a_ns = a.host;
    block.host_b_ns = b.host;
    block.device_a_ns = a.device;
    block.device_b_ns = b.device;
    if (group.node_a != kUnmatched) block.event_a = a_.first[group.node_a];
    if (in_b) block.event_b = b_.first[group.node_b];
    return block;
  }

  const CallTree& a_;
  const CallTree& b_;
  const Alignment pairs_;
  const std::vector<Times> times_a_, times_b_;
  std::unordered_map<std::uint64_t, std::uint32_t> paths_;
  std::vector<std::uint32_t> parents_{0};
  std::vector<std::uint32_t> path_a_, path_b_;
  std::map<std::pair<std::uint32_t, State>, Group> groups_;
  std::unordered_map<std::uint32_t, Times> below_;  // the largest differences directly below
};

}  // namespace

const char* state_name(State state) {
  switch (state) {
    case State::kMatched:
      return "matched";
    case State::kInserted:
      return "inserted";
    case State::kVanished:
      return "vanished";
    case State::kMoved:
      return "moved";
  }
  return "";
}

std::vector<CompareBlock> compare_blocks(const CallTree& a, const CallTree& b, std::size_t most) {
  return Blocks(a, b).make(most);
}

}  // namespace traceglass
