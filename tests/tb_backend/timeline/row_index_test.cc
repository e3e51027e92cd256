#include "tb_backend/timeline/row_index.h"

#include <gtest/gtest.h>

#include <random>

namespace traceglass {
namespace {

struct Plain {
  std::vector<std::int64_t> starts, ends;
  [[nodiscard]] std::size_t size() const { return starts.size(); }
  [[nodiscard]] std::int64_t start(std::size_t i) const { return starts[i]; }
  [[nodiscard]] std::int64_t end(std::size_t i) const { return ends[i]; }
};

Plain random_row(std::size_t n, unsigned seed) {
  std::mt19937 random(seed);
  Plain row;
  std::int64_t t = -500;
  for (std::size_t i = 0; i < n; ++i) {
    t += random() % 5;
    row.starts.push_back(t);
    t += random() % 7;
    row.ends.push_back(t);
  }
  return row;
}

class RowIndexSizes : public ::testing::TestWithParam<std::size_t> {};

TEST_P(RowIndexSizes, AgreesWithAPlainScan) {
  const Plain row = random_row(GetParam(), 1);
  const RowIndex<Plain> index(row);
  std::mt19937 random(2);
  for (int trial = 0; trial < 300; ++trial) {
    const std::int64_t t = static_cast<std::int64_t>(random() % (6 * GetParam() + 1000)) - 600;
    const auto scan = static_cast<std::size_t>(
        std::lower_bound(row.starts.begin(), row.starts.end(), t) - row.starts.begin());
    ASSERT_EQ(index.first_from(row, t), scan) << "t=" << t;

    std::size_t lo = random() % (GetParam() + 1);
    std::size_t hi = random() % (GetParam() + 1);
    if (lo > hi) std::swap(lo, hi);
    RangeSum expected;
    for (std::size_t i = lo; i < hi; ++i) {
      const std::int64_t length = row.ends[i] - row.starts[i];
      expected.covered += length;
      if (length > expected.longest) {
        expected.longest = length;
        expected.at = static_cast<std::uint32_t>(i);
      }
    }
    const RangeSum got = index.over(row, lo, hi);
    ASSERT_EQ(got.covered, expected.covered);
    ASSERT_EQ(got.longest, expected.longest);
    ASSERT_EQ(got.at, expected.at) << lo << ".." << hi;
  }
}

INSTANTIATE_TEST_SUITE_P(AroundEveryFanOut, RowIndexSizes,
                         ::testing::Values(0, 1, 2, 15, 16, 17, 31, 32, 255, 256, 257, 272, 4095,
                                           4096, 4097, 70000));

}  // namespace
}  // namespace traceglass
