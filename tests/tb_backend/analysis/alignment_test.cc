// Trees written as text: "a(b c(d) e)" is a call of a that calls b, c and e.
#include "tb_backend/analysis/alignment.h"

#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <random>
#include <string>

namespace traceglass {
namespace {

// Children of each node, in order; made into a Tree at the end.
struct Made {
  std::vector<std::uint32_t> name, parent;

  std::uint32_t add(std::uint32_t up, std::uint32_t number) {
    name.push_back(number);
    parent.push_back(up);
    return static_cast<std::uint32_t>(name.size() - 1);
  }
  [[nodiscard]] Tree tree() const {
    Tree t;
    t.name = name;
    t.parent = parent;
    std::vector<std::vector<std::uint32_t>> below(name.size());
    for (std::uint32_t n = 1; n < name.size(); ++n) below[parent[n]].push_back(n);
    for (const auto& children : below) {
      t.first_child.push_back(static_cast<std::uint32_t>(t.children.size()));
      t.children.insert(t.children.end(), children.begin(), children.end());
    }
    t.first_child.push_back(static_cast<std::uint32_t>(t.children.size()));
    return t;
  }
};

// Below a root: the text's calls. Names are single letters.
Tree parse(const std::string& text) {
  Made made;
  std::uint32_t open = made.add(kUnmatched, 0), last = open;
  for (const char c : text) {
    if (c == '(') open = last;
    if (c == ')') open = made.parent[open];
    if (c >= 'a' && c <= 'z') last = made.add(open, static_cast<std::uint32_t>(c - 'a' + 1));
  }
  return made.tree();
}

// What became of each node: "b=b" matched, "b~b" moved, "-b" vanished, "+b" inserted.
std::string outcome(const std::string& before, const std::string& after) {
  const Tree a = parse(before), b = parse(after);
  const Alignment pairs = align(a, b);
  const auto letter = [](const Tree& t, std::uint32_t n) {
    return static_cast<char>('a' + t.name[n] - 1);
  };
  std::string out;
  for (std::uint32_t n = 1; n < a.size(); ++n) {
    if (pairs.b_of_a[n] == kUnmatched) {
      out += std::string("-") + letter(a, n);
    } else {
      out += pairs.moved[n] ? '~' : '=';
      out += letter(b, pairs.b_of_a[n]);
      EXPECT_EQ(pairs.a_of_b[pairs.b_of_a[n]], n);
    }
  }
  for (std::uint32_t n = 1; n < b.size(); ++n) {
    if (pairs.a_of_b[n] == kUnmatched) out += std::string("+") + letter(b, n);
  }
  return out;
}

TEST(Alignment, EqualTreesAreEqual) {
  EXPECT_EQ(outcome("a(b c(d) e)", "a(b c(d) e)"), "=a=b=c=d=e");
}

TEST(Alignment, InsertedAndVanishedCallsShiftNothing) {
  EXPECT_EQ(outcome("a b c", "a x b c"), "=a=b=c+x");
  EXPECT_EQ(outcome("a x b c", "a b c"), "=a-x=b=c");
  EXPECT_EQ(outcome("a(b b b)", "a(b b b b)"), "=a=b=b=b+b");
  // The inserted call of a name is the one that looks different.
  EXPECT_EQ(outcome("l(c) l(d)", "l(c) l(x y) l(d)"), "=l=c=l=d+l+x+y");
}

TEST(Alignment, ChangedInsidesKeepTheirCall) {
  EXPECT_EQ(outcome("a(b c) d", "a(b x c) d"), "=a=b=c=d+x");
}

TEST(Alignment, AReorderedListIsMovedOnce) {
  // The old plugin matched a alone.
  EXPECT_EQ(outcome("a b c d", "b c d a"), "~a=b=c=d");
  EXPECT_EQ(outcome("a(x) b(y) c", "c a(x) b(y)"), "=a=x=b=y~c");
}

TEST(Alignment, ABlockIsFoundUnderAnotherParent) {
  EXPECT_EQ(outcome("a(p(q r)) b", "a b(p(q r))"), "=a~p=q=r=b");
}

TEST(Alignment, AWrapperIsInsertedAndWhatItHoldsStays) {
  EXPECT_EQ(outcome("a b c", "w(a b c)"), "~a~b~c+w");
  EXPECT_EQ(outcome("w(a b c)", "a b c"), "-w~a~b~c");
}

TEST(Alignment, NothingInCommon) { EXPECT_EQ(outcome("a(b)", "c(d)"), "-a-b+c+d"); }

Tree random_tree(unsigned seed, std::size_t size, unsigned names) {
  std::mt19937 random(seed);
  Made made;
  made.add(kUnmatched, 0);
  while (made.name.size() < size) {
    const auto up = static_cast<std::uint32_t>(random() % made.name.size());
    made.add(up, 1 + static_cast<std::uint32_t>(random() % names));
  }
  return made.tree();
}

TEST(Alignment, IsOneToOneByNameAndTurnsWithItsSides) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    const Tree a = random_tree(seed, 5 + seed * 3, 2 + seed % 7);
    const Tree b = random_tree(seed + 1000, 5 + seed * 2, 2 + seed % 7);
    const Alignment forth = align(a, b), back = align(b, a);
    EXPECT_EQ(forth.b_of_a, back.a_of_b);
    EXPECT_EQ(forth.a_of_b, back.b_of_a);
    for (std::uint32_t n = 0; n < a.size(); ++n) {
      if (forth.b_of_a[n] == kUnmatched) continue;
      ASSERT_EQ(forth.a_of_b[forth.b_of_a[n]], n);
      ASSERT_EQ(a.name[n], b.name[forth.b_of_a[n]]);
    }
    const Alignment self = align(a, a);
    for (std::uint32_t n = 0; n < a.size(); ++n) EXPECT_EQ(self.b_of_a[n], n);
  }
}

TEST(Alignment, DeepAndWideTreesCostTheirSize) {
  const auto seconds = [](const Tree& a, const Tree& b) {
    const auto begin = std::chrono::steady_clock::now();
    const Alignment pairs = align(a, b);
    EXPECT_EQ(pairs.b_of_a[0], 0U);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  constexpr std::uint32_t kMany = 100'000;
  Made deep_a, deep_b, wide_a, wide_b, other;
  for (Made* m : {&deep_a, &deep_b, &wide_a, &wide_b, &other}) m->add(kUnmatched, 0);
  std::mt19937 random(1);
  for (std::uint32_t i = 0; i < kMany; ++i) {
    deep_a.add(i, i % 7);
    deep_b.add(i, i == kMany / 2 ? 9 : i % 7);
    wide_a.add(0, static_cast<std::uint32_t>(random() % 10));
    wide_b.add(0, static_cast<std::uint32_t>(random() % 10));
    other.add(0, 1'000 + i);
  }
  // Bounds against squares: those would take minutes.
  EXPECT_LT(seconds(deep_a.tree(), deep_b.tree()), 5);
  EXPECT_LT(seconds(wide_a.tree(), wide_b.tree()), 5);
  EXPECT_LT(seconds(wide_a.tree(), other.tree()), 5);
}

TEST(CommonSubsequence, IsALongestOne) {
  const auto length = [](const std::string& x, const std::string& y) {
    const Pairs pairs = common_subsequence({x.begin(), x.end()}, {y.begin(), y.end()});
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      EXPECT_EQ(x[pairs[i].first], y[pairs[i].second]);
      if (i > 0) {
        EXPECT_LT(pairs[i - 1].first, pairs[i].first);
        EXPECT_LT(pairs[i - 1].second, pairs[i].second);
      }
    }
    return pairs.size();
  };
  EXPECT_EQ(length("", "abc"), 0U);
  EXPECT_EQ(length("abcbdab", "bdcaba"), 4U);
  EXPECT_EQ(length("xaxbxcx", "abc"), 3U);
  EXPECT_EQ(length("aaaa", "aa"), 2U);
}

}  // namespace
}  // namespace traceglass
