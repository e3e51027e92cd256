#include "tb_backend/analysis/significance.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

namespace traceglass {
namespace {

constexpr double kMostArrangements = 200'000;  // enumerated: 10 of 20 are 184 756
constexpr std::size_t kMostDraws = 20'000'000, kMostRounds = 20'000, kFewestRounds = 1'000;

double choose(std::size_t n, std::size_t k) {
  double ways = 1;
  for (std::size_t i = 1; i <= k && ways < 1e15; ++i) {
    ways = ways * static_cast<double>(n - k + i) / static_cast<double>(i);
  }
  return std::round(ways);
}

// How far the sum of `k` of the values lies from what chance expects. Values count from the
// smallest, so that sums are exact in a double.
class Distance {
 public:
  Distance(const std::vector<double>& pooled, std::size_t k)
      : expected_(std::accumulate(pooled.begin(), pooled.end(), 0.0) * static_cast<double>(k) /
                  static_cast<double>(pooled.size())) {}
  [[nodiscard]] double of(double sum) const { return std::abs(sum - expected_); }
  // Differences of rounding, far below a nanosecond's share of a sum, are none.
  [[nodiscard]] bool reaches(double sum, double observed) const {
    return of(sum) >= observed - 1e-9 * (1 + expected_ * 1e-3);
  }

 private:
  double expected_;
};

// Share of all choices of k values whose sum is at least as far off as the observed one.
double exact_p(const std::vector<double>& pooled, std::size_t k, double observed_sum) {
  const Distance distance(pooled, k);
  const double observed = distance.of(observed_sum);
  std::vector<std::size_t> at(k);
  std::iota(at.begin(), at.end(), std::size_t{0});
  std::size_t all = 0, as_far = 0;
  while (true) {
    double sum = 0;
    for (const std::size_t i : at) sum += pooled[i];
    ++all;
    if (distance.reaches(sum, observed)) ++as_far;
    std::size_t move = k;  // the last place that can go on
    while (move > 0 && at[move - 1] == pooled.size() - k + move - 1) --move;
    if (move == 0) break;
    ++at[move - 1];
    for (std::size_t i = move; i < k; ++i) at[i] = at[i - 1] + 1;
  }
  return static_cast<double>(as_far) / static_cast<double>(all);
}

class Random {  // splitmix64
 public:
  std::uint64_t below(std::uint64_t n) {
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15ULL);
    z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27U)) * 0x94D049BB133111EBULL;
    return (z ^ (z >> 31U)) % n;
  }

 private:
  std::uint64_t state_ = 20261130;
};

double sampled_p(std::vector<double> pooled, std::size_t k, double observed_sum) {
  const Distance distance(pooled, k);
  const double observed = distance.of(observed_sum);
  const std::size_t rounds = std::clamp(kMostDraws / k, kFewestRounds, kMostRounds);
  Random random;
  std::size_t as_far = 0;
  for (std::size_t round = 0; round < rounds; ++round) {
    double sum = 0;
    for (std::size_t i = 0; i < k; ++i) {
      std::swap(pooled[i], pooled[i + random.below(pooled.size() - i)]);
      sum += pooled[i];
    }
    if (distance.reaches(sum, observed)) ++as_far;
  }
  // The observed arrangement is one of them.
  return static_cast<double>(as_far + 1) / static_cast<double>(rounds + 1);
}

struct Moments {
  double n = 0, mean = 0, variance = 0;  // of a sample: over n - 1
};

Moments moments(const std::vector<std::int64_t>& values) {
  Moments m;
  m.n = static_cast<double>(values.size());
  for (const std::int64_t v : values) m.mean += static_cast<double>(v) / m.n;
  for (const std::int64_t v : values) {
    const double off = static_cast<double>(v) - m.mean;
    m.variance += off * off / (m.n - 1);
  }
  return m;
}

void add_interval(const std::vector<std::int64_t>& a, const std::vector<std::int64_t>& b,
                  Significance& s) {
  if (a.size() < 2 || b.size() < 2) return;
  const Moments x = moments(a), y = moments(b);
  const double u = x.variance / x.n, v = y.variance / y.n;
  const double delta = y.mean - x.mean;
  double half = 0;
  if (u + v > 0) {
    const double freedom = (u + v) * (u + v) / (u * u / (x.n - 1) + v * v / (y.n - 1));
    half = student_quantile(1 - kAlpha / 2, freedom) * std::sqrt(u + v);
  }
  s.low = delta - half;
  s.high = delta + half;
}

// Regularized incomplete beta function by its continued fraction (Lentz).
double incomplete_beta(double a, double b, double x) {
  if (x <= 0 || x >= 1) return x <= 0 ? 0 : 1;
  if (x > (a + 1) / (a + b + 2)) return 1 - incomplete_beta(b, a, 1 - x);
  constexpr double kTiny = 1e-300;
  double c = 1, d = 1 / std::max(kTiny, std::abs(1 - (a + b) * x / (a + 1)));
  double fraction = d;
  const auto step = [&](double term) {
    d = 1 + term * d;
    c = 1 + term / c;
    if (std::abs(d) < kTiny) d = kTiny;
    if (std::abs(c) < kTiny) c = kTiny;
    d = 1 / d;
    fraction *= c * d;
  };
  for (int i = 1; i <= 500; ++i) {
    const double m = i, before = fraction;
    step(m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)));
    step(-(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)));
    if (std::abs(fraction - before) < 1e-14 * std::abs(fraction)) break;
  }
  const double front = std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) +
                                a * std::log(x) + b * std::log1p(-x));
  return front * fraction / a;
}

}  // namespace

double student_quantile(double probability, double freedom) {
  const auto below = [&](double t) {
    return 1 - incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t * t)) / 2;
  };
  double low = 0, high = 1;
  while (below(high) < probability && high < 1e12) high *= 2;
  for (int i = 0; i < 200 && high - low > 1e-12 * high; ++i) {
    const double middle = (low + high) / 2;
    (below(middle) < probability ? low : high) = middle;
  }
  return (low + high) / 2;
}

Significance find_significance(const std::vector<std::int64_t>& a,
                               const std::vector<std::int64_t>& b) {
  Significance s;
  if (a.empty() || b.empty()) return s;
  add_interval(a, b, s);
  // The smaller sample, so that (a, b) and (b, a) ask the same question.
  const std::vector<std::int64_t>& few = b.size() < a.size() ? b : a;
  const std::size_t k = few.size();
  const double arrangements = choose(a.size() + b.size(), k);
  // Of samples of one size each arrangement has a mirror image that is as far off.
  if ((a.size() == b.size() ? 2 : 1) / arrangements >= kAlpha) return s;
  const std::int64_t least =
      std::min(*std::min_element(a.begin(), a.end()), *std::min_element(b.begin(), b.end()));
  std::vector<double> pooled;
  double observed = 0;
  for (const auto* sample : {&a, &b}) {
    for (const std::int64_t v : *sample) pooled.push_back(static_cast<double>(v - least));
  }
  for (const std::int64_t v : few) observed += static_cast<double>(v - least);
  std::sort(pooled.begin(), pooled.end());
  s.method = arrangements <= kMostArrangements ? Significance::Method::kExact
                                               : Significance::Method::kSampled;
  s.p = s.method == Significance::Method::kExact ? exact_p(pooled, k, observed)
                                                 : sampled_p(std::move(pooled), k, observed);
  s.significant = s.p < kAlpha;
  return s;
}

}  // namespace traceglass
