// Comparisons whose every figure is worked out by hand, and the laws that hold for any two traces.
#include "tb_backend/analysis/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "tb_backend/analysis/compare_words.h"
#include "tb_backend/analysis/step_choice.h"
#include "tests/libtrace/model/generate.h"
#include "tests/tb_backend/analysis/rows.h"

namespace traceglass {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::Rows;
using testing::Value;

Comparison of_all(const libtrace::Trace& a, const libtrace::Trace& b) {
  const Selection all_a = Selection::everything(find_steps(a));
  const Selection all_b = Selection::everything(find_steps(b));
  return compare({a, all_a}, {b, all_b});
}
Comparison of_all(Rows& a, Rows& b) { return of_all(*a.trace(), *b.trace()); }

const ComparedPart& part(const Comparison& c, Category category) {
  for (const ComparedPart& p : c.parts) {
    if (p.category == category) return p;
  }
  throw std::logic_error("no such part");
}
const CompareRow* row(const Comparison& c, std::string_view name, Measure measure) {
  for (const CompareRow& r : c.rows.rows) {
    if (r.name == name && r.measure == measure) return &r;
  }
  return nullptr;
}
const CompareBlock* block(const Comparison& c, std::string_view name) {
  for (const CompareBlock& b : c.blocks) {
    if (b.name == name) return &b;
  }
  return nullptr;
}
std::string sentence(const Comparison& c) {
  std::string text;
  for (const Words& w : compare_sentence(c)) text += w.text;
  return text;
}

// A step of 100 us with a loader of 20 us, and `kernels` kernels of `each` ns one after another.
Rows one_step(int kernels, std::int64_t each) {
  Rows r;
  r.step(1, 1, 1000, 100'000).op("enumerate(DataLoader)#_Iter.__next__", 1, 2000, 20'000);
  for (int k = 0; k < kernels; ++k) {
    const std::int64_t at = 30'000 + k * 10'000;
    r.op("aten::mm", 1, at, 2000).runtime(1, at + 500, 1000, k + 1);
    r.kernel("gemm", at + 1500, each, k + 1);
  }
  return r;
}

TEST(Compare, MoreCallsAndLongerCallsAreToldApart) {
  Rows a = one_step(2, 3000), b = one_step(4, 5000);
  const Comparison c = of_all(a, b);
  // 2 x 3 us against 4 x 5 us: two calls more of the mean 4 us; three calls, each 2 us longer.
  const ComparedPart& kernel = part(c, Category::kKernel);
  EXPECT_EQ(kernel.a_ns, 6000);
  EXPECT_EQ(kernel.b_ns, 20'000);
  ASSERT_TRUE(kernel.split);
  EXPECT_EQ(kernel.split->calls_ns, 8000);
  EXPECT_EQ(kernel.split->per_call_ns, 6000);
  EXPECT_EQ(kernel.split->overlap_ns, 0);
  EXPECT_EQ(kernel.split->calls_a, 2);
  EXPECT_EQ(kernel.split->calls_b, 4);
  EXPECT_EQ(c.delta_ns(), 0);  // the step is as long: its host decides
}

TEST(Compare, KernelsSideBySideAreOverlap) {
  Rows a = one_step(2, 3000), b = one_step(2, 3000);
  // A third kernel beside the first, on another stream.
  b.arg("device", Value::integer(0)).arg("correlation", Value::integer(1));
  b.add("kernel", "gemm", "0", "8", 31'500, 3000);
  const ComparedPart kernel = part(of_all(a, b), Category::kKernel);
  EXPECT_EQ(kernel.delta_ns(), 0);
  EXPECT_EQ(kernel.split->calls_ns, 3000);
  EXPECT_EQ(kernel.split->per_call_ns, 0);
  EXPECT_EQ(kernel.split->overlap_ns, -3000);
}

TEST(Compare, RowsAreOfAStepAndZeroHasNoPercent) {
  Rows a, b;
  a.step(1, 1, 0 + 100, 1000).op("old", 1, 200, 100).op("both", 1, 400, 200);
  a.step(2, 1, 1100, 1000).op("both", 1, 1400, 200);
  b.step(1, 1, 100, 1000).op("new", 1, 200, 100).op("both", 1, 400, 300);
  const Comparison c = of_all(a, b);
  const CompareRow* both = row(c, "both", Measure::kHostSelf);
  ASSERT_NE(both, nullptr);
  EXPECT_EQ(both->calls_a, 1);
  EXPECT_EQ(both->a_ns, 200);
  EXPECT_EQ(both->b_ns, 300);
  EXPECT_DOUBLE_EQ(both->delta_pct.value(), 50);
  const CompareRow* fresh = row(c, "new", Measure::kHostSelf);
  ASSERT_NE(fresh, nullptr);
  EXPECT_TRUE(fresh->appeared());
  EXPECT_FALSE(fresh->delta_pct.has_value());
  const CompareRow* gone = row(c, "old", Measure::kHostSelf);
  ASSERT_NE(gone, nullptr);
  EXPECT_TRUE(gone->vanished());
  EXPECT_EQ(gone->calls_a, 0.5);
  EXPECT_EQ(gone->a_ns, 50);
  EXPECT_DOUBLE_EQ(gone->delta_pct.value(), -100);
  EXPECT_EQ(c.rows.appeared, 1U);
  EXPECT_EQ(c.rows.vanished, 1U);
  EXPECT_EQ(row(c, "ProfilerStep#1", Measure::kHostSelf), nullptr);
}

TEST(Compare, BlocksSayWhere) {
  Rows a, b;
  const auto layers = [](Rows& r, std::int64_t conv2, bool dropout) {
    r.step(1, 1, 100, 900'000);
    r.annotation("layer1", 1, 1000, 100'000).op("conv", 1, 2000, 50'000);
    r.annotation("layer2", 1, 200'000, 40'000 + conv2).op("conv", 1, 210'000, conv2);
    if (dropout) r.op("dropout", 1, 500'000, 7000).op("dropout", 1, 510'000, 8000);
    r.annotation("layer3", 1, 600'000, 100'000).op("conv", 1, 610'000, 50'000);
  };
  layers(a, 50'000, false);
  layers(b, 90'000, true);
  const Comparison c = of_all(a, b);
  ASSERT_EQ(c.blocks.size(), 2U);  // layer2 is explained by its conv
  EXPECT_EQ(c.blocks[0].name, "conv");
  EXPECT_THAT(c.blocks[0].path, ElementsAre("layer2"));
  EXPECT_EQ(c.blocks[0].host_b_ns - c.blocks[0].host_a_ns, 40'000);
  EXPECT_EQ(c.blocks[1].name, "dropout");
  EXPECT_EQ(c.blocks[1].state, CompareBlock::State::kInserted);
  EXPECT_EQ(c.blocks[1].count, 2);
  EXPECT_EQ(c.blocks[1].host_b_ns, 15'000);
}

TEST(Compare, OneOfManyCallsIsNamed) {
  Rows a, b;
  for (Rows* r : {&a, &b}) {
    r->step(1, 1, 100, 900'000);
    for (int i = 0; i < 5; ++i) {
      r->op("add", 1, 1000 + i * 50'000, r == &b && i == 3 ? 30'000 : 10'000);
    }
  }
  const Comparison c = of_all(a, b);
  const CompareBlock* add = block(c, "add");
  ASSERT_NE(add, nullptr);
  EXPECT_EQ(add->occurrence, 4);
  EXPECT_EQ(add->count, 1);
  EXPECT_EQ(add->host_b_ns - add->host_a_ns, 20'000);
}

TEST(Compare, AMovedBlockIsNeitherNewNorGone) {
  Rows a, b;
  a.step(1, 1, 100, 900'000).op("p", 1, 1000, 50'000).op("q", 1, 2000, 10'000);
  a.op("r", 1, 20'000, 10'000).op("s", 1, 100'000, 1000);
  b.step(1, 1, 100, 900'000).op("s", 1, 1000, 1000).op("p", 1, 100'000, 50'000);
  b.op("q", 1, 101'000, 10'000).op("r", 1, 120'000, 10'000);
  const Comparison c = of_all(a, b);
  EXPECT_EQ(c.rows.appeared + c.rows.vanished, 0U);
  for (const CompareBlock& x : c.blocks) EXPECT_EQ(x.state, CompareBlock::State::kMoved) << x.name;
}

TEST(Compare, ModulesAreNamedByTheirPath) {
  Rows a, b;
  for (Rows* r : {&a, &b}) {
    r->step(1, 1, 100, 900'000);
    const auto frame = [&](const char* name, std::int64_t ts, std::int64_t dur) {
      r->add("python_function", name, "13721", "1", ts, dur);
    };
    frame("nn.Module: Net_0", 1000, 500'000);
    frame("nn.Module: Linear_0", 2000, 100'000);
    r->op("aten::linear", 1, 3000, r == &a ? 50'000 : 80'000);
  }
  const Comparison c = of_all(a, b);
  EXPECT_NE(row(c, "Net_0", Measure::kModuleHost), nullptr);
  EXPECT_NE(row(c, "Net_0 \xE2\x80\xBA Linear_0", Measure::kModuleHost), nullptr);
  EXPECT_EQ(c.rows.appeared + c.rows.vanished, 0U);
}

TEST(Compare, ThreadsAreKnownByWhatTheyDo) {
  Rows a, b;
  for (Rows* r : {&a, &b}) {
    const int thread = r == &a ? 77 : 4;
    r->step(1, 50, 100, 900'000).op("forward", 50, 1000, 100'000);
    r->op("backward", thread, 200'000, 300'000).op("mm", thread, 210'000, 50'000);
    r->op("loader", r == &a ? 5 : 99, 1000, 100'000);
  }
  EXPECT_TRUE(of_all(a, b).blocks.empty());
}

TEST(Compare, StepsOfAHostThatRunsAheadKeepTheirCalls) {
  // The device is three steps behind the host; each step launches two kernels.
  Rows r;
  for (int s = 0; s < 6; ++s) {
    const std::int64_t at = 1000 + s * 1000;
    r.step(s, 1, at, 1000);
    for (int k = 0; k < 2; ++k) {
      const std::int64_t c = s * 2 + k + 1;
      r.op("mm", 1, at + 100 + k * 300, 200).runtime(1, at + 150 + k * 300, 50, c);
      r.kernel("gemm", 5000 + c * 2500, 2000, c);
    }
  }
  const libtrace::TracePtr t = r.trace();
  const std::vector<Step> steps = find_steps(*t);
  const Selection early = Selection::of(steps, 1, 2), late = Selection::of(steps, 3, 5);
  const Comparison c = compare({*t, early}, {*t, late});
  const CompareRow* gemm = row(c, "gemm", Measure::kDevice);
  ASSERT_NE(gemm, nullptr);
  EXPECT_EQ(gemm->calls_a, 2);
  EXPECT_EQ(gemm->calls_b, 2);
  EXPECT_EQ(row(c, "mm", Measure::kHostSelf)->calls_b, 2);
}

TEST(Compare, NothingAgainstSomething) {
  Rows empty, whole = one_step(2, 3000);
  const Comparison c = of_all(empty, whole);
  EXPECT_EQ(c.verdict, CompareVerdict::kNothing);
  ASSERT_FALSE(c.notes.empty());
  EXPECT_THAT(c.notes[0], HasSubstr("A has no usable slice"));
  EXPECT_TRUE(c.parts.empty());
}

TEST(Compare, WithoutStepsAndWithoutADevice) {
  Rows a, b = one_step(2, 3000);
  a.op("x", 1, 100, 1000);
  const Comparison c = of_all(a, b);
  EXPECT_EQ(c.verdict, CompareVerdict::kUntested);
  EXPECT_THAT(c.notes, ::testing::Contains(HasSubstr("A has no steps")));
  EXPECT_THAT(c.notes, ::testing::Contains(HasSubstr("A has no device work")));
  EXPECT_THAT(sentence(c), HasSubstr("Too few steps"));
}

// A run of steps with noise; the loader takes `loader` of each.
Rows noisy_run(unsigned seed, int steps, double mean, double sigma) {
  std::mt19937 random(seed);
  std::normal_distribution<double> length(mean, sigma);
  Rows r;
  std::int64_t at = 1000;
  for (int s = 0; s < steps; ++s) {
    const std::int64_t ns = std::llround(length(random));
    r.step(s, 1, at, ns).op("train", 1, at + 10, ns - 20);
    at += ns;
  }
  return r;
}

TEST(Compare, APlantedSlowdownIsFoundAndHalvesOfOneRunAreAlike) {
  int false_alarms = 0;
  constexpr unsigned kRuns = 40;
  for (unsigned seed = 1; seed <= kRuns; ++seed) {
    Rows run = noisy_run(seed, 20, 1e8, 1e6), slow = noisy_run(seed + 1000, 10, 1.03e8, 1e6);
    const libtrace::TracePtr t = run.trace(), s = slow.trace();
    const Selection first = Selection::of(find_steps(*t), 0, 9);
    const Selection second = Selection::of(find_steps(*t), 10, 19);
    const Selection all = Selection::everything(find_steps(*s));
    const CompareVerdict halves = compare({*t, first}, {*t, second}).verdict;
    false_alarms += halves == CompareVerdict::kSlower || halves == CompareVerdict::kFaster;
    EXPECT_EQ(compare({*t, first}, {*s, all}).verdict, CompareVerdict::kSlower) << seed;
  }
  EXPECT_LE(false_alarms, 6);  // 2 of 40 on the mean; more than 6 in one of 300 such tests
}

TEST(StepChoice, AFirstStepUnlikeTheOthersIsSetAside) {
  const auto steps = [](std::initializer_list<std::int64_t> lengths) {
    std::vector<Step> out;
    for (const std::int64_t ns : lengths) {
      out.emplace_back();
      out.back().extended = {0, ns};
    }
    return out;
  };
  EXPECT_TRUE(usual_steps(steps({200, 100, 101, 99})).set_aside);
  EXPECT_EQ(usual_steps(steps({200, 100, 101, 99})).first, 1U);
  EXPECT_FALSE(usual_steps(steps({200, 100, 101})).set_aside);
  EXPECT_FALSE(usual_steps(steps({103, 100, 101, 99})).set_aside);  // 3 % more
  EXPECT_FALSE(usual_steps(steps({})).set_aside);
  // Compared, both sides go without; where too few steps are left, all stay.
  const auto [a, b] = usual_steps(steps({100, 100, 101, 99}), steps({200, 100, 101, 99}));
  EXPECT_TRUE(a.set_aside && b.set_aside);
  const auto [c, d] = usual_steps(steps({100, 100}), steps({200, 100, 101, 99}));
  EXPECT_TRUE(!c.set_aside && d.set_aside);
}

TEST(CompareWords, AreWhatAPersonSays) {
  EXPECT_EQ(time_words(23'982'000), "24.0 ms");
  EXPECT_EQ(time_words(-999'499),
            "\xE2\x88\x92"
            "999 µs");
  EXPECT_EQ(time_words(999'600), "1.00 ms");
  EXPECT_EQ(time_words(12, true), "+12 ns");
  EXPECT_EQ(percent_words(-13.66),
            "\xE2\x88\x92"
            "13.7 %");
  EXPECT_EQ(percent_words(0.04), "0.0 %");
}

class CompareLaws : public ::testing::TestWithParam<unsigned> {
 protected:
  libtrace::TracePtr a = libtrace::testing::Generator(GetParam()).trace();
  libtrace::TracePtr b = libtrace::testing::Generator(GetParam() + 1).trace();
};

TEST_P(CompareLaws, PartsSumToTheDifferenceExactly) {
  const Comparison c = of_all(*a, *b);
  if (c.verdict == CompareVerdict::kNothing) return;
  std::int64_t sum_a = 0, sum_b = 0;
  for (const ComparedPart& p : c.parts) {
    sum_a += p.a_ns;
    sum_b += p.b_ns;
    if (!p.split) continue;
    EXPECT_EQ(p.split->calls_ns + p.split->per_call_ns + p.split->overlap_ns, p.delta_ns());
  }
  EXPECT_EQ(sum_a, c.a.mean_ns);
  EXPECT_EQ(sum_b, c.b.mean_ns);
}

TEST_P(CompareLaws, ExchangingTheSidesTurnsEverySign) {
  const Comparison forth = of_all(*a, *b), back = of_all(*b, *a);
  EXPECT_EQ(forth.delta_ns(), -back.delta_ns());
  EXPECT_EQ(forth.significance.p, back.significance.p);
  ASSERT_EQ(forth.parts.size(), back.parts.size());
  for (const ComparedPart& p : forth.parts) {
    const ComparedPart& turned = part(back, p.category);
    EXPECT_EQ(p.delta_ns(), -turned.delta_ns());
    ASSERT_EQ(p.split.has_value(), turned.split.has_value());
    if (!p.split) continue;
    EXPECT_EQ(p.split->calls_ns, -turned.split->calls_ns);
    EXPECT_EQ(p.split->per_call_ns, -turned.split->per_call_ns);
  }
  ASSERT_EQ(forth.rows.rows.size(), back.rows.rows.size());
  for (std::size_t i = 0; i < forth.rows.rows.size(); ++i) {
    EXPECT_EQ(forth.rows.rows[i].name, back.rows.rows[i].name);
    EXPECT_EQ(forth.rows.rows[i].delta_ns(), -back.rows.rows[i].delta_ns());
  }
  EXPECT_EQ(forth.rows.appeared, back.rows.vanished);
}

TEST_P(CompareLaws, ATraceAgainstItselfIsZeroEverywhere) {
  const Comparison c = of_all(*a, *a);
  if (c.verdict == CompareVerdict::kNothing) return;
  EXPECT_EQ(c.verdict, CompareVerdict::kEqual);
  for (const ComparedPart& p : c.parts) {
    EXPECT_EQ(p.delta_ns(), 0);
    if (p.split) {
      EXPECT_EQ(p.split->calls_ns, 0);
    }
  }
  for (const CompareRow& r : c.rows.rows) EXPECT_EQ(r.delta_ns(), 0);
  EXPECT_EQ(c.rows.appeared + c.rows.vanished, 0U);
  EXPECT_TRUE(c.blocks.empty());
}

TEST_P(CompareLaws, RowsOfBothSidesHoldEachNanosecondOnce) {
  const Comparison c = of_all(*a, *b);
  if (c.verdict == CompareVerdict::kNothing) return;
  std::int64_t device = 0, by_operator = 0;
  for (const CompareRow& r : c.rows.rows) {
    if (r.measure == Measure::kDevice) device += r.a_ns;
    if (r.measure == Measure::kDeviceSelf) by_operator += r.a_ns;
    if (r.delta_pct) {
      EXPECT_TRUE(std::isfinite(*r.delta_pct));
    }
    EXPECT_EQ(r.delta_pct.has_value(), r.a_ns > 0);
  }
  // Each row is rounded by itself.
  EXPECT_NEAR(static_cast<double>(device), static_cast<double>(by_operator),
              static_cast<double>(c.rows.rows.size()));
}

INSTANTIATE_TEST_SUITE_P(Seeds, CompareLaws, ::testing::Range(200U, 240U));

}  // namespace
}  // namespace traceglass
