#include "tb_backend/analysis/alignment.h"

#include <algorithm>
#include <span>
#include <unordered_map>
#include <utility>

namespace traceglass {
namespace {

using Node = std::uint32_t;

// A smaller block is found again anywhere, and says nothing.
constexpr std::uint32_t kLeastMoved = 3;
// More left-over siblings than this are not looked into one by one.
constexpr std::size_t kMostWrappers = 16;

std::uint64_t mixed(std::uint64_t h, std::uint64_t v) {
  h ^= v + 0x9E3779B97F4A7C15ULL + (h << 6U) + (h >> 2U);
  h ^= h >> 33U;
  h *= 0xFF51AFD7ED558CCDULL;
  return h ^ (h >> 29U);
}

// Of a subtree: what it looks like, and how many nodes it has.
struct Forms {
  std::vector<std::uint64_t> hash;
  std::vector<std::uint32_t> size;

  explicit Forms(const Tree& t) : hash(t.size()), size(t.size(), 1) {
    for (Node n = static_cast<Node>(t.size()); n-- > 0;) {
      std::uint64_t h = mixed(0, t.name[n]);
      for (std::uint32_t c = t.first_child[n]; c < t.first_child[n + 1]; ++c) {
        h = mixed(h, hash[t.children[c]]);
        size[n] += size[t.children[c]];
      }
      hash[n] = h;
    }
  }
};

class Aligner {
 public:
  Aligner(const Tree& a, const Tree& b) : a_(a), b_(b), forms_a_(a), forms_b_(b) {
    out_.b_of_a.assign(a.size(), kUnmatched);
    out_.a_of_b.assign(b.size(), kUnmatched);
    out_.moved.assign(a.size(), false);
  }

  [[nodiscard]] bool in_order() const {
    if (a_.size() != b_.size()) return a_.size() < b_.size();
    return a_.size() == 0 || forms_a_.hash[0] <= forms_b_.hash[0];
  }

  Alignment run() {
    if (a_.size() == 0 || b_.size() == 0) return std::move(out_);
    match(0, 0);
    level_by_level();
    find_elsewhere();
    level_by_level();
    return std::move(out_);
  }

 private:
  void match(Node a, Node b) {
    out_.b_of_a[a] = b;
    out_.a_of_b[b] = a;
    open_.emplace_back(a, b);
  }
  void move(Node a, Node b) {
    out_.moved[a] = true;
    match(a, b);
  }

  void level_by_level() {
    while (!open_.empty()) {
      const auto [a, b] = open_.back();
      open_.pop_back();
      match_children(left_over(a_, out_.b_of_a, a), left_over(b_, out_.a_of_b, b));
    }
  }

  static std::vector<Node> left_over(const Tree& t, const std::vector<Node>& other, Node parent) {
    std::vector<Node> nodes;
    for (std::uint32_t c = t.first_child[parent]; c < t.first_child[parent + 1]; ++c) {
      if (other[t.children[c]] == kUnmatched) nodes.push_back(t.children[c]);
    }
    return nodes;
  }

  void match_children(const std::vector<Node>& a, const std::vector<Node>& b) {
    if (a.empty() || b.empty()) return;
    std::vector<std::uint64_t> x, y;
    for (const Node n : a) x.push_back(forms_a_.hash[n]);
    for (const Node n : b) y.push_back(forms_b_.hash[n]);
    Pairs alike = common_subsequence(x, y);
    for (const auto& [i, j] : alike) match(a[i], b[j]);
    if (alike.size() == a.size() || alike.size() == b.size()) return;
    // Between them, what has the same name.
    alike.emplace_back(static_cast<std::uint32_t>(a.size()), static_cast<std::uint32_t>(b.size()));
    std::size_t from_i = 0, from_j = 0;
    for (const auto& [i, j] : alike) {
      match_by_name(std::span(a).subspan(from_i, i - from_i),
                    std::span(b).subspan(from_j, j - from_j));
      from_i = i + std::size_t{1};
      from_j = j + std::size_t{1};
    }
    out_of_order(a, b, forms_a_.hash, forms_b_.hash);
    out_of_order(a, b, a_.name, b_.name);
    find_wrapped(a, b);
  }

  // What now stands within a call of its own, or does so no more: its calls beside the others.
  void find_wrapped(const std::vector<Node>& a, const std::vector<Node>& b) {
    std::vector<Node> rest_a, rest_b;
    for (const Node n : a) {
      if (out_.b_of_a[n] == kUnmatched) rest_a.push_back(n);
    }
    for (const Node n : b) {
      if (out_.a_of_b[n] == kUnmatched) rest_b.push_back(n);
    }
    if (rest_a.size() <= kMostWrappers) {
      for (const Node n : rest_a) match_inside(left_over(a_, out_.b_of_a, n), rest_b);
    }
    if (rest_b.size() <= kMostWrappers) {
      for (const Node n : rest_b) match_inside(rest_a, left_over(b_, out_.a_of_b, n));
    }
  }

  void match_inside(const std::vector<Node>& a, const std::vector<Node>& b) {
    if (std::min(a.size(), b.size()) < 2) return;
    std::vector<Node> x, y;
    for (const Node n : a) {
      if (out_.b_of_a[n] == kUnmatched) x.push_back(n);
    }
    for (const Node n : b) {
      if (out_.a_of_b[n] == kUnmatched) y.push_back(n);
    }
    std::vector<std::uint64_t> names_x, names_y;
    for (const Node n : x) names_x.push_back(a_.name[n]);
    for (const Node n : y) names_y.push_back(b_.name[n]);
    const Pairs pairs = common_subsequence(names_x, names_y);
    // A few equal names are chance; a wrapper holds most of what was there.
    if (pairs.size() < 2 || 2 * pairs.size() < std::min(x.size(), y.size())) return;
    for (const auto& [i, j] : pairs) move(x[i], y[j]);
  }

  void match_by_name(std::span<const Node> a, std::span<const Node> b) {
    if (a.empty() || b.empty()) return;
    std::vector<std::uint64_t> x, y;
    for (const Node n : a) x.push_back(a_.name[n]);
    for (const Node n : b) y.push_back(b_.name[n]);
    for (const auto& [i, j] : common_subsequence(x, y)) match(a[i], b[j]);
  }

  template <typename Token>
  void out_of_order(const std::vector<Node>& a, const std::vector<Node>& b,
                    const std::vector<Token>& token_a, const std::vector<Token>& token_b) {
    std::unordered_map<Token, std::vector<Node>> waiting;  // last one first
    for (auto n = b.rbegin(); n != b.rend(); ++n) {
      if (out_.a_of_b[*n] == kUnmatched) waiting[token_b[*n]].push_back(*n);
    }
    if (waiting.empty()) return;
    for (const Node n : a) {
      if (out_.b_of_a[n] != kUnmatched) continue;
      const auto it = waiting.find(token_a[n]);
      if (it == waiting.end() || it->second.empty()) continue;
      move(n, it->second.back());
      it->second.pop_back();
    }
  }

  // Alike subtrees under different parents, the largest first: then what lies below an unmatched
  // node of the same size is unmatched too.
  void find_elsewhere() {
    std::unordered_map<std::uint64_t, std::vector<Node>> waiting;
    for (Node n = static_cast<Node>(a_.size()); n-- > 0;) {
      if (out_.b_of_a[n] == kUnmatched && forms_a_.size[n] >= kLeastMoved) {
        waiting[forms_a_.hash[n]].push_back(n);
      }
    }
    if (waiting.empty()) return;
    std::vector<Node> candidates;
    for (Node n = 0; n < b_.size(); ++n) {
      if (out_.a_of_b[n] == kUnmatched && forms_b_.size[n] >= kLeastMoved) candidates.push_back(n);
    }
    std::stable_sort(candidates.begin(), candidates.end(),
                     [&](Node x, Node y) { return forms_b_.size[x] > forms_b_.size[y]; });
    for (const Node n : candidates) {
      if (out_.a_of_b[n] != kUnmatched) continue;
      const auto it = waiting.find(forms_b_.hash[n]);
      if (it == waiting.end()) continue;
      std::vector<Node>& nodes = it->second;
      while (!nodes.empty() && out_.b_of_a[nodes.back()] != kUnmatched) nodes.pop_back();
      if (nodes.empty()) continue;
      move(nodes.back(), n);
      level_by_level();  // the whole of it, before a smaller one takes a part
    }
  }

  const Tree& a_;
  const Tree& b_;
  const Forms forms_a_, forms_b_;
  Alignment out_;
  std::vector<std::pair<Node, Node>> open_;
};

}  // namespace

Alignment align(const Tree& a, const Tree& b) {
  Aligner aligner(a, b);
  if (aligner.in_order()) return aligner.run();
  // Always in the same order, so that exchanging a and b exchanges the answer and no more.
  Alignment turned = Aligner(b, a).run();
  Alignment out;
  out.b_of_a = std::move(turned.a_of_b);
  out.a_of_b = std::move(turned.b_of_a);
  out.moved.assign(a.size(), false);
  for (Node n = 0; n < a.size(); ++n) {
    if (out.b_of_a[n] != kUnmatched) out.moved[n] = turned.moved[out.b_of_a[n]];
  }
  return out;
}

}  // namespace traceglass
