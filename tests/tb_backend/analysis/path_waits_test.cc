// Two ranks by hand: a collective on the path of one names the other, and what that did longer.
#include "tb_backend/analysis/path_waits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>

#include "tests/tb_backend/analysis/rows.h"

namespace traceglass {
namespace {

using testing::Rows;
using testing::Value;

constexpr std::int64_t kMs = 1'000'000;
constexpr std::int64_t kBase = 1'700'000'000'000'000'000;

// A rank whose host launches each piece of work and waits for nothing.
class Rank : public Rows {
 public:
  explicit Rank(int rank, std::int64_t base = kBase) {
    b.set_rank(rank, false);
    b.set_world_size(2);
    b.set_base_unix_ns(base);
  }
  Rank& gemm(std::int64_t launch, std::int64_t ts, std::int64_t dur) {
    op("aten::mm", 1, launch, 20'000).runtime(1, launch + 5'000, 10'000, ++correlation_);
    kernel("gemm", ts, dur, correlation_);
    return *this;
  }
  Rank& all_reduce(std::int64_t launch, std::int64_t ts, std::int64_t dur, std::int64_t seq) {
    op("c10d::allreduce_", 1, launch, 20'000).runtime(1, launch + 5'000, 10'000, ++correlation_);
    arg("Collective name", Value::string("allreduce"));
    arg("Process Group Name", Value::string("0"));
    arg("Seq", Value::integer(seq));
    kernel("ncclDevKernel_AllReduce", ts, dur, correlation_);
    return *this;
  }

 private:
  std::int64_t correlation_ = 0;
};

struct Pair {
  Pair(Rank& own, Rank& late) : traces{own.trace(), late.trace()} {
    for (const auto& t : traces) summaries.push_back(summarize_rank(*t));
    for (const RankSummary& s : summaries) inputs.push_back({"w", &s});
  }
  // Of the own rank's only step.
  [[nodiscard]] PathWaits waits(std::size_t row = 0, std::int64_t least = 0,
                                std::size_t most = 8) const {
    const StepGraph graph(*traces[row]);
    const StepChain chain(graph, Selection::everything(find_steps(*traces[row])));
    const auto path = critical_path(chain, median_step(chain));
    return find_path_waits(RunMatch(inputs), row, collectives_of_path(*traces[row], path), least,
                           most);
  }
  [[nodiscard]] PathWaitCause cause(const PathWait& w) const {
    const StepGraph own(*traces[0]), late(*traces[1]);
    return cause_of_wait(w, 0, 1, path_parts(own, w.own), path_parts(late, w.late));
  }

  std::vector<libtrace::TracePtr> traces;
  std::deque<RankSummary> summaries;
  std::vector<RankInput> inputs;
};

// Both: a product and a first all-reduce that ends at 10 ms. Rank 0 has launched what follows
// already, and waits in the second; rank 1 loads data for 6 ms first.
Pair loading() {
  Rank own(0), late(1);
  own.step(1, 1, 0, kMs);
  own.gemm(100'000, 200'000, 8 * kMs);
  own.all_reduce(300'000, 8'200'000, 1'800'000, 1);
  own.gemm(500'000, 10'001'000, 2 * kMs).all_reduce(700'000, 12'100'000, 6'900'000, 2);
  late.step(1, 1, 0, 17 * kMs);
  late.gemm(100'000, 200'000, 8 * kMs);
  late.all_reduce(300'000, 8'200'000, 1'800'000, 1);
  late.annotation("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 1, 10'000'000,
                  6 * kMs);
  late.gemm(16'000'000, 16'100'000, 2 * kMs).all_reduce(16'200'000, 18'100'000, 900'000, 2);
  return {own, late};
}

TEST(PathWaits, NamesTheLateRankAndWhatItDidLonger) {
  const Pair run = loading();
  const PathWaits found = run.waits();
  EXPECT_EQ(found.ranks, 2U);
  EXPECT_EQ(found.collectives, 2U);
  EXPECT_EQ(found.sentence,
            "In 1 of 2 collectives on this path the rank waits for another, 6.00 ms altogether.");
  ASSERT_EQ(found.waits.size(), 1U);  // to the first both came at once
  const PathWait& w = found.waits[0];
  EXPECT_EQ(w.ranks, 2U);
  EXPECT_EQ(w.wait_ns, 6 * kMs);
  ASSERT_TRUE(w.late_row);
  EXPECT_EQ(*w.late_row, 1U);
  EXPECT_EQ(w.late_ns, 6 * kMs);
  EXPECT_TRUE(w.since_collective);
  EXPECT_EQ(w.behind_ns, 0);
  EXPECT_EQ(w.own.from, 10 * kMs);

  const PathWaitCause cause = run.cause(w);
  ASSERT_FALSE(cause.longer.empty());
  EXPECT_EQ(cause.longer[0].category, path_category(Activity::kDataLoading));
  EXPECT_EQ(cause.longer[0].late_ns, 6 * kMs);
  EXPECT_EQ(cause.longer[0].own_ns, 0);
  EXPECT_EQ(
      cause.sentence,
      "Rank 1 comes 6.00 ms later: 6.00 ms of its way from the collective before are data "
      "loading (enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__), of rank 0's none.");
}

TEST(PathWaits, DifferencesSumToTheLateness) {
  const Pair run = loading();
  const PathWait w = run.waits().waits.at(0);
  const StepGraph own(*run.traces[0]), late(*run.traces[1]);
  const PathParts a = path_parts(own, w.own), b = path_parts(late, w.late);
  std::int64_t more = w.behind_ns;
  for (std::size_t c = 0; c < a.ns.size(); ++c) more += b.ns[c] - a.ns[c];
  EXPECT_EQ(more, w.late_ns);
}

TEST(PathWaits, TheLastRankWaitsForNobody) {
  const PathWaits found = loading().waits(1);
  EXPECT_TRUE(found.waits.empty());
  EXPECT_EQ(found.sentence, "In 1 collective on this path the rank waits for no other.");
}

TEST(PathWaits, ShortWaitsAreLeftOut) {
  EXPECT_EQ(loading().waits(0, 6 * kMs).waits.size(), 1U);
  EXPECT_TRUE(loading().waits(0, 6 * kMs + 1).waits.empty());
}

// Nothing before it was shared: it is told from where each began its step, on clocks that the
// collective's end ties though one host's is a minute ahead.
TEST(PathWaits, AStepThatBeginsLater) {
  Rank own(0), late(1, kBase + 60'000 * kMs);
  own.step(1, 1, 0, kMs);
  own.gemm(100'000, 200'000, 2 * kMs);
  own.all_reduce(300'000, 2'200'000, 5'800'000, 1);
  late.step(1, 1, 5 * kMs, kMs);
  late.gemm(5'100'000, 5'200'000, 2 * kMs);
  late.all_reduce(5'300'000, 7'200'000, 800'000, 1);
  const Pair run(own, late);
  const auto waits = run.waits().waits;
  ASSERT_EQ(waits.size(), 1U);
  EXPECT_EQ(waits[0].late_ns, 5 * kMs);
  EXPECT_FALSE(waits[0].since_collective);
  EXPECT_EQ(waits[0].behind_ns, 5 * kMs);
  EXPECT_EQ(run.cause(waits[0]).sentence,
            "Rank 1 comes 5.00 ms later: it begins its step 5.00 ms after rank 0.");
}

TEST(PathWaits, OneRankHasNone) {
  Rank own(0);
  own.step(1, 1, 0, kMs);
  own.gemm(100'000, 200'000, 2 * kMs);
  own.all_reduce(300'000, 2'200'000, 5'800'000, 1);
  const auto trace = own.trace();
  const RankSummary summary = summarize_rank(*trace);
  const std::vector<RankInput> inputs = {{"w", &summary}};
  const StepGraph graph(*trace);
  const StepChain chain(graph, Selection::everything(find_steps(*trace)));
  const auto events = collectives_of_path(*trace, critical_path(chain, 0));
  EXPECT_EQ(events.size(), 1U);
  const PathWaits found = find_path_waits(RunMatch(inputs), 0, events, 0, 8);
  EXPECT_EQ(found.collectives, 0U);
  EXPECT_EQ(found.sentence,
            "No other rank of this run is here: for whom a collective waits is not known.");
}

}  // namespace
}  // namespace traceglass
