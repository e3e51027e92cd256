// All ranks of a run by the API: read a few at a time, kept when their traces are not, any of them
// broken, doubled, renamed or alone.
#include <gmock/gmock.h>

#include <atomic>
#include <filesystem>
#include <string>
#include <thread>

#include "tests/tb_backend/api/app_fixture.h"

namespace traceglass {
namespace {

using testing::AppTest;
using ::testing::Contains;
using ::testing::HasSubstr;

// A rank with one step and one all_reduce that ends at 100 µs; `start` in µs.
std::string rank_trace(int rank, int start, int world = 2) {
  return R"({"distributedInfo":{"rank":)" + std::to_string(rank) + R"(,"world_size":)" +
         std::to_string(world) + R"(},"baseTimeNanoseconds":0,"traceEvents":[
 {"ph":"X","cat":"user_annotation","name":"ProfilerStep#5","pid":1,"tid":1,"ts":0,"dur":120,"args":{}},
 {"ph":"X","cat":"kernel","name":"ncclAllReduce","pid":0,"tid":7,"ts":)" +
         std::to_string(start) + R"(,"dur":)" + std::to_string(100 - start) +
         R"(,"args":{"device":0}}]})";
}

class DistributedRoute : public AppTest {
 protected:
  // The answer once every rank was read.
  Reply settled(const std::string& path) {
    while (true) {
      Reply reply = ask(path);
      if (reply.status != 202) return reply;
      const auto status = json(reply);
      EXPECT_LE(status["ranks_done"], status["ranks_total"]);
      std::this_thread::yield();
    }
  }
  std::vector<std::string> codes(const nlohmann::json& answer) {
    std::vector<std::string> out;
    for (const auto& n : answer["notes"]) out.push_back(n["code"]);
    return out;
  }
};

TEST_F(DistributedRoute, CollectivesOverTheRanksOfARun) {
  logdir_.write("run/a.json", rank_trace(0, 20));
  logdir_.write("run/b.json", rank_trace(1, 60));
  logdir_.write("run/broken.json", "no json");
  const auto answer = json(settled("/api/collectives?run=run"));
  ASSERT_EQ(answer["collectives"].size(), 1U);
  EXPECT_EQ(answer["collectives"][0]["transfer_ns"], 40000);
  EXPECT_EQ(answer["collectives"][0]["last_rank"], 1);
  EXPECT_EQ(ask("/api/collectives?run=none").status, 404);
  EXPECT_EQ(ask("/api/collectives").status, 422);
}

TEST_F(DistributedRoute, AllRanksOfASpan) {
  logdir_.write("run/rank0.100.pt.trace.json", rank_trace(0, 20));
  logdir_.write("run/rank1.100.pt.trace.json", rank_trace(1, 60));
  logdir_.write("run/rank0.200.pt.trace.json", rank_trace(0, 90));
  logdir_.write("run/rank1.200.pt.trace.json", rank_trace(1, 10));
  const Reply reply = settled("/api/distributed?run=run");
  const auto answer = json(reply);
  EXPECT_EQ(answer["span"], 1);
  EXPECT_EQ(answer["ranks"][0]["worker"], "rank0");
  EXPECT_EQ(answer["ranks"][0]["wait_ns"], 40000);
  EXPECT_EQ(answer["collectives"][0]["last_rank"], 1);
  EXPECT_EQ(json(settled("/api/distributed?run=run&span=2"))["collectives"][0]["last_rank"], 0);
  // A trace of the second span says which one is meant.
  const std::string id = id_of("run/rank1.200.pt.trace.json");
  EXPECT_EQ(json(settled("/api/distributed?run=run&id=" + id))["span"], 2);
  EXPECT_EQ(json(settled("/api/distributed?run=run&steps=6"))["matched"], 0);
  EXPECT_EQ(json(settled("/api/distributed?run=run&steps=5"))["matched"], 1);
  EXPECT_EQ(ask("/api/distributed?run=run&span=3").status, 404);
  EXPECT_EQ(ask("/api/distributed?run=run&steps=x").status, 422);
  // Unchanged files: not said again.
  const std::vector<std::pair<std::string, std::string>> again = {
      {"If-None-Match", '"' + reply.etag + '"'}};
  EXPECT_EQ(ask("/api/distributed?run=run", again).status, 304);
  logdir_.write("run/rank1.100.pt.trace.json", rank_trace(1, 61) + " ");
  EXPECT_NE(ask("/api/distributed?run=run", again).status, 202);
}

TEST_F(DistributedRoute, RanksThatAreBrokenDoubledOrAloneCostThemselves) {
  logdir_.write("run/a.json", rank_trace(0, 20, 8));
  logdir_.write("run/b.json", rank_trace(5, 60, 8));
  logdir_.write("run/c.json", rank_trace(5, 70, 8));
  logdir_.write("run/d.json", "no json");
  logdir_.write("run/rank3.json", rank_trace(7, 30, 8));
  auto answer = json(settled("/api/distributed?run=run"));
  EXPECT_EQ(answer["ranks"].size(), 3U);
  EXPECT_EQ(answer["world_size"], 8);
  ASSERT_EQ(answer["failed"].size(), 1U);
  EXPECT_EQ(answer["failed"][0]["worker"], "d");
  for (const char* code : {"missing_ranks", "doubled_rank", "renamed_rank", "by_order"}) {
    EXPECT_THAT(codes(answer), Contains(code));
  }
  logdir_.write("alone/a.json", rank_trace(0, 20, 1));
  answer = json(settled("/api/distributed?run=alone"));
  EXPECT_THAT(codes(answer), Contains("one_rank"));
  EXPECT_EQ(answer["matched"], 0);
  EXPECT_FALSE(answer.contains("waiting_pct"));
  logdir_.write("nothing/a.json", "[]");
  answer = json(settled("/api/distributed?run=nothing"));
  EXPECT_TRUE(answer["ranks"].empty());
}

// Three steps of 200 µs, each with a collective that ends at its end. The late rank's host waits
// for its loader through most of a step; the other launches at once and waits.
std::string loading_rank(int rank, bool late) {
  std::string rows;
  const auto add = [&](const char* cat, const char* name, int tid, int ts, int dur, int link) {
    rows += std::string(rows.empty() ? "" : ",") + R"({"ph":"X","cat":")" + cat + R"(","name":")" +
            name + R"(","pid":1,"tid":)" + std::to_string(tid) + R"(,"ts":)" + std::to_string(ts) +
            R"(,"dur":)" + std::to_string(dur) + R"(,"args":{"device":0)" +
            (link == 0 ? "" : R"(,"correlation":)" + std::to_string(link)) + "}}\n";
  };
  for (int s = 0; s < 3; ++s) {
    const int at = 200 * s, launch = at + (late ? 160 : 10);
    add("user_annotation", ("ProfilerStep#" + std::to_string(s)).c_str(), 1, at, 199, 0);
    if (late) {
      add("user_annotation", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 1,
          at + 2, 150, 0);
    }
    add("cuda_runtime", "cudaLaunchKernel", 1, launch, 4, s + 1);
    add("kernel", "ncclAllReduce", 7, launch + 5, at + 195 - launch - 5, s + 1);
  }
  return R"({"distributedInfo":{"rank":)" + std::to_string(rank) +
         R"(,"world_size":2},"baseTimeNanoseconds":0,"traceEvents":[)" + rows + "]}";
}

TEST_F(DistributedRoute, TheLateRanksOwnVerdictSaysWhyItIsSlow) {
  logdir_.write("run/a.json", loading_rank(0, false));
  logdir_.write("run/b.json", loading_rank(1, true));
  const auto answer = json(settled("/api/distributed?run=run"));
  ASSERT_EQ(answer["stragglers"].size(), 1U);
  const auto& late = answer["stragglers"][0];
  EXPECT_EQ(late["rank"], 1);
  EXPECT_EQ(late["why"], "data_loading");
  ASSERT_TRUE(late.contains("limit"));
  EXPECT_EQ(late["limit"]["id"], "data_loading");
  // The same words as on the rank's own page.
  const auto verdicts = json(ask(loaded("run/b.json") + "overview"));
  EXPECT_EQ(late["limit"]["sentence"], verdicts["verdicts"][0]["sentence"]);
}

TEST_F(DistributedRoute, ACpuOnlyRunIsComparedOnItsHosts) {
  const auto rank = [](int r, int start) {
    return R"({"distributedInfo":{"rank":)" + std::to_string(r) +
           R"(,"world_size":2},"baseTimeNanoseconds":0,"traceEvents":[
 {"ph":"X","cat":"user_annotation","name":"gloo:all_reduce","pid":1,"tid":2,"ts":)" +
           std::to_string(start) + R"(,"dur":)" + std::to_string(100 - start) +
           R"(,"args":{"Input Dims":[[256]],"Input type":["float"]}}]})";
  };
  logdir_.write("a.json", rank(0, 20));
  logdir_.write("b.json", rank(1, 60));
  const auto answer = json(settled("/api/distributed?run=."));
  EXPECT_EQ(answer["on_host"], true);
  EXPECT_EQ(answer["collectives"][0]["bytes"], 1024);
  EXPECT_EQ(answer["ranks"][0]["wait_ns"], 40000);
  EXPECT_THAT(codes(answer), ::testing::IsSupersetOf({"on_host", "no_steps"}));
  // The summary document matches device kernels only.
  EXPECT_TRUE(json(settled("/api/collectives?run=."))["collectives"].empty());
}

// At most so many traces are alive at a time, whatever the number of ranks.
class ManyRanks : public DistributedRoute {
 protected:
  AppOptions options() const override {
    AppOptions o = DistributedRoute::options();
    o.registry.load = [](const std::filesystem::path& path, IngestProgress* progress) {
      const int now = ++alive_;
      most_ = std::max<int>(most_, now);
      ++loads_;
      IngestResult result = ingest_file(path, progress);
      const libtrace::Trace* plain = result.trace.get();
      // The count goes down when the last holder lets go.
      result.trace =
          libtrace::TracePtr(plain, [held = result.trace](const libtrace::Trace*) mutable {
            held.reset();
            --alive_;
          });
      return result;
    };
    return o;
  }
  static inline std::atomic<int> alive_ = 0, most_ = 0, loads_ = 0;
};

TEST_F(ManyRanks, TwoTracesAtATimeAreEnough) {
  constexpr int kRanks = 96;
  for (int r = 0; r < kRanks; ++r) {
    logdir_.write("rank" + std::to_string(r) + ".json", rank_trace(r, r == 41 ? 90 : 20, kRanks));
  }
  const auto answer = json(settled("/api/distributed?run=."));
  EXPECT_EQ(answer["ranks"].size(), static_cast<std::size_t>(kRanks));
  EXPECT_EQ(answer["collectives"][0]["last_rank"], 41);
  EXPECT_EQ(answer["collectives"][0]["wait_ns"], (kRanks - 1) * 70000);
  EXPECT_EQ(answer["heat"]["rows"].size(), 48U);  // bands of two
  EXPECT_EQ(loads_, kRanks + 1);                  // the late one once more, for what limits it
  EXPECT_EQ(alive_, 0);
  EXPECT_LE(most_, 2);
  // Another question reads nothing again.
  EXPECT_EQ(settled("/api/distributed?run=.&columns=step").status, 200);
  EXPECT_EQ(loads_, kRanks + 1);
  // The late rank grows: the last answer stands until the new one is there.
  logdir_.write("rank41.json", rank_trace(41, 91, kRanks) + " ");
  while (true) {
    const Reply reply = ask("/api/distributed?run=.");
    ASSERT_EQ(reply.status, 200);
    if (loads_ == kRanks + 3) break;
    std::this_thread::yield();
  }
}

}  // namespace
}  // namespace traceglass
