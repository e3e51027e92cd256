// Ranks by hand: their steps, their collectives, and what the view over all of them must say.
#include "tb_backend/analysis/distributed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <random>

#include "tests/tb_backend/analysis/rows.h"

namespace traceglass {
namespace {

using testing::Rows;
using testing::Value;

constexpr std::int64_t kBase = 1'700'000'000'000'000'000;

// A rank of a run, row by row; times in ns.
class Rank : public Rows {
 public:
  explicit Rank(int rank, int world = 2, std::int64_t base = kBase) {
    b.set_rank(rank, false);
    b.set_world_size(world);
    b.set_base_unix_ns(base);
  }
  Rank& collective(std::int64_t ts, std::int64_t dur, std::optional<std::int64_t> seq = {},
                   std::int64_t elements = 0, std::string_view name = "allreduce") {
    arg("Collective name", Value::string(name));
    arg("Process Group Name", Value::string("0"));
    if (seq) arg("Seq", Value::integer(*seq));
    if (elements > 0) {
      arg("In msg nelems", Value::integer(elements));
      arg("Out msg nelems", Value::integer(elements));
      arg("dtype", Value::string("Float"));
      arg("Group size", Value::integer(2));
    }
    kernel("ncclDevKernel_AllReduce", ts, dur);
    return *this;
  }
};

class World {
 public:
  World& add(Rows& rank, std::string worker = "w") {
    summaries_.push_back(summarize_rank(*rank.trace()));
    inputs_.push_back({std::move(worker), &summaries_.back()});
    return *this;
  }
  Distributed find(const DistributedOptions& options = {}) const {
    return find_distributed(inputs_, options);
  }

  std::deque<RankSummary> summaries_;
  std::vector<RankInput> inputs_;
};

std::vector<std::string> codes(const Distributed& d) {
  std::vector<std::string> out;
  for (const DistributedNote& n : d.notes) out.push_back(n.code);
  return out;
}

std::string sentence(const Distributed& d, std::string_view code) {
  for (const DistributedNote& n : d.notes) {
    if (n.code == code) return n.sentence;
  }
  return "";
}

TEST(Distributed, SumsOfAbsurdTimesStopAtTheBound) {
  constexpr std::int64_t kLong = 1'500'000'000'000'000'000;
  std::deque<Rank> ranks;
  World world;
  for (int r = 0; r < 8; ++r) {
    Rank& rank = ranks.emplace_back(r, 8);
    rank.step(1, 1, 0, kLong);
    rank.collective(r == 0 ? 0 : kLong - 10, r == 0 ? kLong : 10, 1, 1000);
    rank.collective(0, r == 7 ? 1 : kLong, 2, 1000);
    world.add(rank);
  }
  const Distributed d = world.find();
  EXPECT_EQ(d.ranks.size(), 8U);
  EXPECT_GT(d.mean_step_ns, 0);
  EXPECT_GE(d.mean_exposed_ns, 0);
  EXPECT_GT(d.wait_ns, 0);
  EXPECT_GT(d.collective_ns, 0);
  for (const RunStepRow& s : d.steps) {
    for (const std::int64_t ns :
         {s.step_ns, s.computation_ns, s.exposed_ns, s.other_ns, s.wait_ns}) {
      EXPECT_GE(ns, 0);
    }
  }
  for (const RankRow& r : d.ranks) {
    EXPECT_GE(r.wait_ns, 0);
    EXPECT_GE(r.caused_ns, 0);
  }
}

TEST(Distributed, TwoRanksByHand) {
  // Rank 0: step [0, 1000): kernel 100–300, all_reduce 250–700 → computes 150 alone, 50 with it.
  Rank r0(0), r1(1);
  r0.step(3, 1, 0, 1000).kernel("gemm", 100, 200);
  r0.collective(250, 450, 7, 1000);
  // Rank 1 starts 300 later and enters at 600: the transfer is 100, rank 0 waits 350.
  r1.step(3, 1, 300, 700).kernel("gemm", 400, 200);
  r1.collective(600, 100, 7, 1000);
  const Distributed d = World().add(r0).add(r1).find();

  ASSERT_EQ(d.ranks.size(), 2U);
  const RankRow& a = d.ranks[0];
  EXPECT_EQ(a.starts_ns, 0);
  EXPECT_EQ(a.step_ns, 1000);
  EXPECT_EQ(a.computation_ns, 150);
  EXPECT_EQ(a.overlap_ns, 50);
  EXPECT_EQ(a.exposed_ns, 400);
  EXPECT_EQ(a.other_ns, 400);
  EXPECT_EQ(a.wait_ns, 350);
  EXPECT_EQ(a.last, 0U);
  const RankRow& b = d.ranks[1];
  EXPECT_EQ(b.starts_ns, 300);
  EXPECT_EQ(b.exposed_ns, 100);
  EXPECT_EQ(b.other_ns, 400);
  EXPECT_EQ(b.wait_ns, 0);
  EXPECT_EQ(b.last, 1U);
  EXPECT_EQ(b.caused_ns, 350);

  ASSERT_EQ(d.collectives.size(), 1U);
  const CollectiveRow& c = d.collectives[0];
  EXPECT_EQ(c.number, 1U);
  EXPECT_EQ(c.step, 3);
  EXPECT_EQ(c.seq, 7);
  EXPECT_EQ(c.transfer_ns, 100);
  EXPECT_EQ(c.longest_wait_ns, 350);
  EXPECT_EQ(c.last_rank, 1);
  EXPECT_EQ(c.bytes, 4000);
  EXPECT_EQ(c.dtype, "float32");
  EXPECT_DOUBLE_EQ(*c.algorithm_bandwidth, 40e9);  // 4000 B in 100 ns
  EXPECT_DOUBLE_EQ(*c.bus_bandwidth, 40e9);        // 2 (n − 1) ÷ n = 1
  EXPECT_EQ(c.start_ns, 250);
  EXPECT_EQ(c.end_ns, 700);

  EXPECT_EQ(d.origin_unix_ns, kBase);
  EXPECT_EQ(d.mean_step_ns, 850);
  EXPECT_EQ(d.mean_exposed_ns, 250);
  EXPECT_DOUBLE_EQ(*d.waiting_pct, 100.0 * 350 / 550);
  EXPECT_TRUE(d.by_sequence);
  EXPECT_FALSE(d.by_order);
  EXPECT_EQ(d.heat.wait_ns, (std::vector<std::vector<std::int64_t>>{{350}, {0}}));
  EXPECT_EQ(d.heat.last, (std::vector<std::vector<std::uint32_t>>{{0}, {1}}));
  ASSERT_EQ(d.stragglers.size(), 1U);
  EXPECT_EQ(d.stragglers[0].why, Straggler::Why::kStart);
  EXPECT_EQ(d.stragglers[0].sentence,
            "Rank 1 comes last in 1 of 1 collective: it starts its step 300 ns after rank 0.");
  EXPECT_THAT(codes(d), ::testing::IsEmpty());
}

// DeepEP's kernels say no group and no number: the n-th of a name meets the n-th of the other rank.
TEST(Distributed, DispatchOfDeepEpIsACollectiveByItsName) {
  constexpr const char* kDispatch = "void deep_ep::intranode::dispatch<8, 768, 8192>(int4*)";
  Rank r0(0), r1(1);
  r0.step(1, 1, 0, 2'000).kernel(kDispatch, 100, 700).kernel(kDispatch, 1'000, 300);
  r1.step(1, 1, 0, 2'000).kernel(kDispatch, 600, 200).kernel(kDispatch, 900, 400);
  const Distributed d = World().add(r0).add(r1).find();
  ASSERT_EQ(d.collectives.size(), 2U);
  EXPECT_EQ(d.collectives[0].transfer_ns, 200);
  EXPECT_EQ(d.collectives[0].last_rank, 1);
  EXPECT_EQ(d.collectives[0].longest_wait_ns, 500);
  EXPECT_EQ(d.collectives[1].transfer_ns, 300);
  EXPECT_EQ(d.collectives[1].last_rank, 0);
  EXPECT_TRUE(d.by_order);
  EXPECT_FALSE(d.by_sequence);
}

// Rank 1 is late by `late`; what else it does says why.
Distributed late_rank(const std::function<void(Rank&, Rank&)>& shape) {
  Rank r0(0), r1(1);
  r0.step(1, 1, 0, 10'000);
  r1.step(1, 1, 0, 10'000);
  shape(r0, r1);
  r0.collective(2'000, 5'000, 1, 100);
  r1.collective(6'000, 1'000, 1, 100);
  return World().add(r0).add(r1).find();
}

TEST(Distributed, LatenessHasAReason) {
  Distributed d = late_rank([](Rank& r0, Rank& r1) {
    r0.kernel("gemm", 100, 1'000);
    r1.kernel("gemm", 100, 5'000);
  });
  ASSERT_EQ(d.stragglers.size(), 1U);
  EXPECT_EQ(d.stragglers[0].why, Straggler::Why::kComputation);
  EXPECT_EQ(d.stragglers[0].late_ns, 4'000);
  EXPECT_EQ(d.stragglers[0].sentence,
            "Rank 1 comes last in 1 of 1 collective: its kernels take 5.00 µs of step 1, those "
            "of rank 0 1.00 µs.");
  d = late_rank([](Rank& r0, Rank& r1) {
    r0.annotation("enumerate(DataLoader)#x.__next__", 1, 10, 100);
    r1.annotation("enumerate(DataLoader)#x.__next__", 1, 10, 4'100);
  });
  EXPECT_EQ(d.stragglers[0].why, Straggler::Why::kLoading);
  d = late_rank([](Rank& r0, Rank& r1) {
    r0.kernel("gemm", 100, 1'000);
    r1.kernel("gemm", 4'100, 1'000);
  });
  EXPECT_EQ(d.stragglers[0].why, Straggler::Why::kHost);
}

TEST(Distributed, NoRankStandsOutWhereLatenessGoesAround) {
  std::deque<Rank> ranks;
  World run;
  for (int r = 0; r < 8; ++r) {
    Rank& rank = ranks.emplace_back(r, 8);
    rank.step(1, 1, 0, 100'000);
    for (int c = 0; c < 8; ++c) {
      const std::int64_t late = c == r ? 500 : 0;
      rank.collective(c * 10'000 + late, 1'000 - late, c);
    }
    run.add(rank);
  }
  const Distributed d = run.find();
  EXPECT_EQ(d.matched, 8U);
  EXPECT_EQ(d.wait_ns, 8 * 7 * 500);
  EXPECT_THAT(d.stragglers, ::testing::IsEmpty());
}

TEST(Distributed, ClocksMinutesApartSurvive) {
  constexpr std::int64_t kApart = 187'000'000'000;
  Rank r0(0), r1(1, 2, kBase + kApart);
  for (int s = 1; s <= 3; ++s) {
    r0.step(s, 1, s * 1000, 900);
    r0.collective(s * 1000 + 300, 500, s);
    r1.step(s, 1, s * 1000 + 50, 900);
    r1.collective(s * 1000 + 600, 200, s);
  }
  const Distributed d = World().add(r0).add(r1).find();
  EXPECT_EQ(d.ranks[1].ahead_ns, kApart);
  EXPECT_EQ(d.ranks[1].starts_ns, 50);
  EXPECT_EQ(d.clocks.residual_ns, 0);
  EXPECT_EQ(d.collectives[0].last_rank, 1);
  EXPECT_EQ(sentence(d, "clocks"),
            "The clock of rank 1 is 3 min 7 s ahead of rank 0's: corrected by the collectives, "
            "which all ranks leave together.");
}

TEST(Distributed, OneRankAndMissingRanks) {
  Rank alone(34, 300);
  alone.step(1, 1, 0, 100);
  alone.collective(10, 20, 1);
  Distributed d = World().add(alone).find();
  EXPECT_EQ(d.matched, 0U);
  EXPECT_EQ(d.waiting_pct, std::nullopt);
  EXPECT_THAT(codes(d), ::testing::ElementsAre("one_rank"));
  // Its own collectives are listed; how much of them is waiting is not known.
  ASSERT_EQ(d.collectives.size(), 1U);
  EXPECT_EQ(d.collectives[0].ranks, 1U);
  EXPECT_EQ(d.collectives[0].transfer_ns, 20);
  EXPECT_EQ(d.ranks[0].collectives, 0U);
  EXPECT_TRUE(d.heat.rows.empty());
  EXPECT_THAT(sentence(d, "one_rank"), ::testing::StartsWith("Only rank 34 of 300 is here"));

  std::deque<Rank> ranks;
  World run;
  for (const int r : {7, 0, 1, 4}) {
    ranks.emplace_back(r, 8).collective(10, 20 + r, 1);
    run.add(ranks.back());
  }
  d = run.find();
  ASSERT_EQ(d.ranks.size(), 4U);
  EXPECT_EQ(d.ranks[3].rank, 7);
  EXPECT_EQ(d.ranks[3].input, 0U);
  EXPECT_THAT(sentence(d, "missing_ranks"),
              ::testing::StartsWith("Ranks 2, 3, 5, 6 of 8 are not here"));
}

TEST(Distributed, DoubledAndRenamedRanks) {
  Rank a(0), b(1), again(1), lost(5);
  for (Rank* r : {&a, &b, &again, &lost}) r->collective(10, 20, 1);
  Rows nameless;
  nameless.kernel("gemm", 0, 5);
  const Distributed d = World()
                            .add(a, "rank0")
                            .add(b, "rank1")
                            .add(again, "host_77")
                            .add(lost, "rank_3")
                            .add(nameless, "host_78")
                            .find();
  EXPECT_EQ(d.ranks.size(), 3U);
  EXPECT_EQ(sentence(d, "doubled_rank"),
            "Rank 1 is here twice: rank1 speaks for it, host_77 is left out.");
  EXPECT_EQ(sentence(d, "renamed_rank"),
            "rank_3 says that it is rank 5: that is what counts, not its name.");
  EXPECT_THAT(sentence(d, "no_rank"), ::testing::StartsWith("host_78 does not say its rank"));
}

TEST(Distributed, DifferentStepCountsAndASelection) {
  Rank r0(0), r1(1);
  for (int s = 1; s <= 5; ++s) {
    r0.step(s, 1, s * 1000, 800);
    r0.collective(s * 1000 + 100, 200, s);
    if (s > 3) continue;
    r1.step(s, 1, s * 1000, 900);
    r1.collective(s * 1000 + 200, 100, s);
  }
  World run;
  run.add(r0).add(r1);
  Distributed d = run.find();
  EXPECT_EQ(sentence(d, "step_counts"),
            "The ranks have different numbers of steps: rank 1 3; rank 0 5. Each is averaged over "
            "its own.");
  EXPECT_EQ(d.matched, 3U);
  EXPECT_EQ(d.unmatched, 2U);
  EXPECT_EQ(d.selected_steps, 5U);
  DistributedOptions options;
  options.steps = {{2, 3}};
  d = run.find(options);
  EXPECT_EQ(d.selected_steps, 2U);
  EXPECT_EQ(d.matched, 2U);
  EXPECT_EQ(d.unmatched, 0U);
  EXPECT_EQ(d.ranks[1].steps, 2U);
  EXPECT_EQ(d.ranks[0].step_ns, 800);
  EXPECT_EQ(d.collectives[0].number, 1U);
  EXPECT_EQ(d.collectives[0].step, 2);
  options.steps = {{40, 50}};
  d = run.find(options);
  EXPECT_EQ(d.matched, 0U);
  EXPECT_EQ(d.mean_step_ns, 0);
  EXPECT_TRUE(d.heat.rows.empty());
}

TEST(Distributed, NoStepsAndNoCollectives) {
  Rank r0(0), r1(1);
  r0.kernel("gemm", 0, 100);
  r1.kernel("gemm", 0, 50);
  Distributed d = World().add(r0).add(r1).find();
  EXPECT_THAT(codes(d), ::testing::IsSupersetOf({"no_steps", "no_collectives"}));
  EXPECT_EQ(d.ranks[0].computation_ns, 100);
  d = find_distributed({}, {});
  EXPECT_TRUE(d.ranks.empty());
}

TEST(Distributed, CollectivesOfTheHostWhereThereIsNoDevice) {
  Rank r0(0), r1(1);
  for (Rank* r : {&r0, &r1}) {
    r->step(1, 1, 0, 1000).op("aten::mm", 1, 100, 300);
    r->arg("Input Dims", Value::json("[[10,10],[]]"));
    r->arg("Input type", Value::json(R"(["float","Scalar"])"));
  }
  r0.annotation("gloo:all_reduce", 2, 350, 450);
  r1.annotation("gloo:all_reduce", 2, 500, 300);
  const Distributed d = World().add(r0).add(r1).find();
  EXPECT_THAT(codes(d), ::testing::IsSupersetOf({"on_host", "by_order"}));
  ASSERT_EQ(d.collectives.size(), 1U);
  EXPECT_EQ(d.collectives[0].elements, 100);
  EXPECT_EQ(d.collectives[0].longest_wait_ns, 150);
  EXPECT_EQ(d.ranks[0].computation_ns, 250);
  EXPECT_EQ(d.ranks[0].overlap_ns, 50);
  EXPECT_EQ(d.ranks[0].exposed_ns, 400);
}

TEST(Distributed, ARankWithoutItsDeviceIsSetAside) {
  Rank r0(0), r1(1), r2(2);
  r0.collective(10, 20, 1);
  r1.collective(15, 15, 1);
  r2.annotation("nccl:all_reduce", 1, 5, 1);
  const Distributed d = World().add(r0).add(r1).add(r2).find();
  EXPECT_FALSE(d.on_host);
  EXPECT_EQ(d.matched, 1U);
  EXPECT_EQ(d.unmatched, 0U);
  EXPECT_THAT(sentence(d, "no_device_collectives"),
              ::testing::StartsWith("Rank 2 has no kernels of collectives, as the others have"));
}

TEST(Distributed, ASendMeetsItsReceive) {
  // A pipeline of three stages: each counts its own sequence numbers.
  const auto exchange = [](Rank& r, std::string_view what, int from, int to, std::int64_t seq,
                           std::int64_t ts, std::int64_t dur) {
    r.arg("Src Rank", Value::integer(from)).arg("Dst Rank", Value::integer(to));
    r.collective(ts, dur, seq, 50, what);
  };
  Rank r0(0, 3), r1(1, 3), r2(2, 3);
  r0.step(1, 1, 0, 1000);
  r1.step(1, 1, 0, 1000);
  r2.step(1, 1, 0, 1000);
  exchange(r0, "send", 0, 1, 1, 100, 100);
  exchange(r1, "recv", 0, 1, 1, 50, 150);
  r1.kernel("gemm", 200, 150);
  exchange(r1, "send", 1, 2, 2, 400, 50);
  exchange(r2, "recv", 1, 2, 1, 60, 390);
  const Distributed d = World().add(r0).add(r1).add(r2).find();
  ASSERT_EQ(d.matched, 2U);
  EXPECT_EQ(d.collectives[0].last_rank, 0);
  EXPECT_EQ(d.collectives[0].longest_wait_ns, 50);
  EXPECT_EQ(d.collectives[1].longest_wait_ns, 340);
  // Stage 1, from 50 to 450, computes 150.
  EXPECT_EQ(d.ranks[1].bubble_ns, 250);
}

TEST(Distributed, ATieNamesNobody) {
  // Both enter at once; then rank 1 is last, and nobody waited for it.
  Rank r0(0), r1(1);
  r0.step(1, 1, 0, 1000).kernel("gemm", 0, 100);
  r1.step(1, 1, 0, 1000).kernel("gemm", 0, 100);
  r0.collective(100, 100, 1).collective(300, 100, 2).collective(500, 100, 3);
  r1.collective(100, 100, 1).collective(310, 100, 2).collective(500, 100, 3);
  const Distributed d = World().add(r0).add(r1).find();
  ASSERT_EQ(d.matched, 3U);
  EXPECT_FALSE(d.collectives[0].last_rank);
  EXPECT_EQ(d.collectives[1].last_rank, 1);
  for (const RankRow& r : d.ranks) {
    EXPECT_EQ(r.last, 0U);
    EXPECT_EQ(r.caused_ns, 0);
  }
  EXPECT_EQ(d.heat.last, (std::vector<std::vector<std::uint32_t>>{{0, 0, 0}, {0, 0, 0}}));
  EXPECT_TRUE(d.stragglers.empty());
}

TEST(Distributed, ARankBeyondTheWorldIsSaid) {
  std::deque<Rank> ranks;
  World run;
  for (const int r : {0, 1, 900}) {
    ranks.emplace_back(r, 2).collective(10, 20 + r, 1);
    run.add(ranks.back());
  }
  const Distributed d = run.find();
  EXPECT_EQ(d.ranks.size(), 3U);
  EXPECT_EQ(sentence(d, "rank_beyond_world"),
            "Rank 900 is none of the 2 that the traces say there are: files of two runs in one "
            "folder, or a wrong world size.");
  EXPECT_EQ(sentence(d, "missing_ranks"), "");  // not those from 2 to 899
}

TEST(Distributed, UnequalSizesAreSaid) {
  Rank r0(0), r1(1);
  r0.step(1, 1, 0, 1000);
  r1.step(1, 1, 0, 1000);
  r0.collective(100, 500, 1, 100, "all_to_all");
  r1.collective(500, 100, 1, 400, "all_to_all");
  const Distributed d = World().add(r0).add(r1).find();
  EXPECT_EQ(d.collectives[0].bytes, 1600);
  EXPECT_EQ(d.collectives[0].least_bytes, 400);
  ASSERT_EQ(d.stragglers.size(), 1U);
  EXPECT_EQ(d.stragglers[0].why, Straggler::Why::kSize);
}

// Laws over runs of any kind: parts sum to the step, nothing is negative, the transfer is the
// shortest, waits add up the same way by rank, by collective and in the heat map.
TEST(Distributed, Laws) {
  std::mt19937 random(11);
  const auto below = [&](unsigned n) { return static_cast<std::int64_t>(random() % n); };
  for (int round = 0; round < 40; ++round) {
    const int world = 1 + static_cast<int>(below(9));
    std::deque<Rank> ranks;
    World run;
    for (int r = 0; r < world; ++r) {
      if (below(8) == 0) continue;
      Rank& rank = ranks.emplace_back(r, world, kBase + below(1'000'000'000));
      const auto steps = below(5);
      for (int s = 0; s < steps; ++s) {
        rank.step(s, 1, s * 10'000 + below(500), 9'000 + below(400));
      }
      for (int i = 0; i < 30; ++i) rank.kernel("gemm", below(50'000), below(2'000));
      for (int c = 0; c < 12; ++c) {
        const bool seq = below(2) == 0;
        rank.collective(c * 4'000 + below(2'000), below(3'000),
                        seq ? std::optional<std::int64_t>(c) : std::nullopt, below(100));
      }
      run.add(rank);
    }
    DistributedOptions options;
    options.heat_columns = 1 + static_cast<std::size_t>(below(12));
    options.heat_rows = 1 + static_cast<std::size_t>(below(9));
    if (below(3) == 0) options.columns = DistributedOptions::Columns::kStep;
    const Distributed d = run.find(options);
    std::int64_t by_rank = 0, by_collective = 0;
    std::size_t last = 0, last_in_map = 0;
    for (const RankRow& r : d.ranks) {
      EXPECT_EQ(r.computation_ns + r.overlap_ns + r.exposed_ns + r.other_ns, r.step_ns);
      for (const std::int64_t part : {r.computation_ns, r.overlap_ns, r.exposed_ns, r.starts_ns}) {
        EXPECT_GE(part, 0);
      }
      EXPECT_GE(r.other_ns, 0);
      EXPECT_GE(r.wait_ns, 0);
      by_rank += r.wait_ns;
      last += r.last;
    }
    for (const CollectiveRow& c : d.collectives) {
      EXPECT_GE(c.ranks, d.ranks.size() == 1 ? 1U : 2U);
      EXPECT_LE(c.longest_wait_ns, c.wait_ns);
      EXPECT_GE(c.end_ns, c.start_ns);
      by_collective += c.wait_ns;
      for (const CollectiveRow::Entry& e : c.entries) EXPECT_GE(e.wait_ns, 0);
    }
    EXPECT_EQ(by_rank, d.wait_ns);
    EXPECT_EQ(by_collective, d.wait_ns);
    EXPECT_LE(last, d.matched);  // a tie has none
    EXPECT_LE(d.heat.columns.size(), options.heat_columns);
    EXPECT_LE(d.heat.rows.size(), options.heat_rows);
    for (const auto& row : d.heat.last) {
      for (const std::uint32_t n : row) last_in_map += n;
    }
    if (!d.heat.by_step) {
      EXPECT_EQ(last_in_map, last);
    }
    if (d.waiting_pct) {
      EXPECT_LE(*d.waiting_pct, 100);
    }
  }
}

}  // namespace
}  // namespace traceglass
