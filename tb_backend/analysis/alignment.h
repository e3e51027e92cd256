// Which node of one tree is which node of another, where blocks were inserted, removed, moved or
// wrapped. Near-linear, without recursion: trees of any depth and width are fine.
//
// Level by level from the roots: siblings are matched in order, first those whose whole subtree is
// alike, then by name between them; what is left over under the same parents by name out of order;
// what is then left anywhere, by alike subtrees. The last two are called moved.
#pragma once

#include <cstdint>
#include <vector>

namespace traceglass {

// Node 0 is the root, and a parent's index is smaller than its children's, which stand in the
// order of their time: `children` of node n are those in [first_child[n], first_child[n + 1]).
struct Tree {
  std::vector<std::uint32_t> name;  // equal names are equal numbers, in both trees
  std::vector<std::uint32_t> parent;
  std::vector<std::uint32_t> first_child, children;

  [[nodiscard]] std::size_t size() const { return name.size(); }
};

inline constexpr std::uint32_t kUnmatched = 0xFFFF'FFFF;

struct Alignment {
  std::vector<std::uint32_t> b_of_a, a_of_b;  // kUnmatched: vanished, inserted
  std::vector<bool> moved;  // by node of a: matched, but elsewhere or out of order
};

Alignment align(const Tree& a, const Tree& b);

// Pairs of positions, rising in both, of equal tokens: a longest such list where the lists are
// small or much alike, a good one otherwise.
using Pairs = std::vector<std::pair<std::uint32_t, std::uint32_t>>;
Pairs common_subsequence(const std::vector<std::uint64_t>& a, const std::vector<std::uint64_t>& b);

}  // namespace traceglass
