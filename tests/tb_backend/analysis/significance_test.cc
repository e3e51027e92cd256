// The permutation test: small cases by hand, then that it is wrong as often as it says and finds
// what is there.
#include "tb_backend/analysis/significance.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace traceglass {
namespace {

using Method = Significance::Method;
using Values = std::vector<std::int64_t>;

TEST(Significance, FiveAgainstFiveApartIsTwoOf252Arrangements) {
  const Significance s = find_significance({1, 2, 3, 4, 5}, {6, 7, 8, 9, 10});
  EXPECT_EQ(s.method, Method::kExact);
  EXPECT_DOUBLE_EQ(s.p, 2.0 / 252);
  EXPECT_TRUE(s.significant);
}

TEST(Significance, CountsArrangementsAsFarApart) {
  // 1 2 9 | 3 7 8 4: means 4 and 5.5. Sums of three of {1 2 3 4 7 8 9} (expected 34 * 3 / 7)
  // at least as far off as 12 is: <= 12 or >= 17.14; counted below one by one.
  const Values a = {1, 2, 9}, b = {3, 7, 8, 4};
  const Values all = {1, 2, 9, 3, 7, 8, 4};
  int as_far = 0, count = 0;
  for (std::size_t i = 0; i < 7; ++i) {
    for (std::size_t j = i + 1; j < 7; ++j) {
      for (std::size_t k = j + 1; k < 7; ++k) {
        ++count;
        const double off = std::abs(static_cast<double>(all[i] + all[j] + all[k]) - 34 * 3 / 7.0);
        if (off >= std::abs(12 - 34 * 3 / 7.0) - 1e-9) ++as_far;
      }
    }
  }
  EXPECT_EQ(count, 35);
  EXPECT_DOUBLE_EQ(find_significance(a, b).p, as_far / 35.0);
}

TEST(Significance, OfTooFewValuesItCannotTell) {
  // 3 of 6: 2 of 20 arrangements are the least possible; 3 of 7: 1 of 35.
  EXPECT_EQ(find_significance({1}, {100}).method, Method::kNone);
  EXPECT_EQ(find_significance({}, {}).method, Method::kNone);
  EXPECT_EQ(find_significance({}, {1, 2, 3, 4, 5, 6}).method, Method::kNone);
  const Significance s = find_significance({1, 2, 3}, {101, 102, 103});
  EXPECT_EQ(s.method, Method::kNone);
  EXPECT_FALSE(s.significant);
  EXPECT_EQ(find_significance({1, 2, 3}, {101, 102, 103, 104}).method, Method::kExact);
  EXPECT_FALSE(find_significance({1}, {2}).low.has_value());
}

TEST(Significance, EqualSamplesAreEqual) {
  const Values v = {5, 5, 5, 5, 5};
  const Significance s = find_significance(v, v);
  EXPECT_DOUBLE_EQ(s.p, 1);
  EXPECT_FALSE(s.significant);
  EXPECT_EQ(s.low, 0);
  EXPECT_EQ(s.high, 0);
}

TEST(Significance, IntervalIsWelchs) {
  // Means 3 and 6, variances 2.5 and 10, 5 each: standard error sqrt(2.5), 5.88 degrees of freedom.
  const Significance s = find_significance({1, 2, 3, 4, 5}, {2, 4, 6, 8, 10});
  const double half = student_quantile(0.975, 2.5 * 2.5 / (0.25 / 4 + 4.0 / 4)) * std::sqrt(2.5);
  EXPECT_NEAR(*s.low, 3 - half, 1e-9);
  EXPECT_NEAR(*s.high, 3 + half, 1e-9);
}

TEST(Significance, QuantilesAreThoseOfTheTables) {
  EXPECT_NEAR(student_quantile(0.975, 1), 12.7062, 1e-3);
  EXPECT_NEAR(student_quantile(0.975, 4), 2.7764, 1e-4);
  EXPECT_NEAR(student_quantile(0.95, 10), 1.8125, 1e-4);
  EXPECT_NEAR(student_quantile(0.975, 1e6), 1.95996, 1e-4);
}

Values noisy(std::mt19937& random, int n, double mean, double sigma) {
  std::normal_distribution<double> d(mean, sigma);
  Values out;
  for (int i = 0; i < n; ++i) out.push_back(std::llround(d(random)));
  return out;
}

TEST(Significance, IsWrongAsOftenAsItSays) {
  std::mt19937 random(5);
  for (const int n : {5, 8}) {
    int found = 0;
    constexpr int kRuns = 600;
    for (int i = 0; i < kRuns; ++i) {
      found +=
          find_significance(noisy(random, n, 1e8, 1e6), noisy(random, n, 1e8, 1e6)).significant;
    }
    // 5 % of 600 is 30, with a deviation of 5.3.
    EXPECT_GT(found, 10) << n;
    EXPECT_LT(found, 52) << n;
  }
}

TEST(Significance, FindsThreePercentInOnePercentOfNoise) {
  std::mt19937 random(6);
  int found = 0;
  for (int i = 0; i < 40; ++i) {
    found +=
        find_significance(noisy(random, 10, 1e8, 1e6), noisy(random, 10, 1.03e8, 1e6)).significant;
  }
  EXPECT_EQ(found, 40);
}

TEST(Significance, ManyValuesAreSampledWithOneSeed) {
  std::mt19937 random(7);
  const Values a = noisy(random, 300, 1e8, 1e6), b = noisy(random, 200, 1.001e8, 1e6);
  const Significance s = find_significance(a, b);
  EXPECT_EQ(s.method, Method::kSampled);
  EXPECT_EQ(s.p, find_significance(a, b).p);
  EXPECT_EQ(s.p, find_significance(b, a).p);
  EXPECT_TRUE(find_significance(a, noisy(random, 300, 1.03e8, 1e6)).significant);
}

TEST(Significance, ExchangingTheSamplesTurnsTheInterval) {
  std::mt19937 random(8);
  const Values a = noisy(random, 6, 1e8, 1e6), b = noisy(random, 6, 1.01e8, 2e6);
  const Significance forth = find_significance(a, b), back = find_significance(b, a);
  EXPECT_EQ(forth.p, back.p);
  EXPECT_EQ(*forth.low, -*back.high);
  EXPECT_EQ(*forth.high, -*back.low);
}

}  // namespace
}  // namespace traceglass
