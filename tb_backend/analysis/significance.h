// Whether two samples of step times differ, or chance alone could have made the difference.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace traceglass {

// The share of differences by chance that are called significant.
inline constexpr double kAlpha = 0.05;

struct Significance {
  enum class Method : std::uint8_t {
    kNone,     // too few values: no arrangement of them could be called significant
    kExact,    // all ways to deal the values to two samples of these sizes
    kSampled,  // a fixed number of ways, drawn with a fixed seed
  };
  Method method = Method::kNone;
  double p = 1;              // two-sided, of the difference of means
  bool significant = false;  // p < kAlpha
  // 95 % interval of mean b - mean a (Welch); absent where a sample has fewer than two values.
  std::optional<double> low, high;
};

// Permutation test of the difference of means. It assumes nothing of the distribution; values of
// one sample that depend on each other (a drift) make it too sure. Equal for (a, b) and (b, a)
// but for the sign of the interval.
Significance find_significance(const std::vector<std::int64_t>& a,
                               const std::vector<std::int64_t>& b);

// `probability`-quantile of Student's distribution, 0.5 < probability < 1, freedom > 0.
double student_quantile(double probability, double freedom);

}  // namespace traceglass
