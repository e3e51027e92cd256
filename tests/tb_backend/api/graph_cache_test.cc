#include "tb_backend/api/graph_cache.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "tests/tb_backend/analysis/rows.h"

namespace traceglass {
namespace {

libtrace::TracePtr a_trace(std::string_view name) {
  testing::Rows rows;
  rows.op(name, 1, 0, 100);
  return rows.trace();
}

TEST(GraphCache, IsOfTheTraceAskedAboutLast) {
  const auto a = a_trace("a"), b = a_trace("b");
  const auto first = graph_of(a);
  EXPECT_EQ(&first->trace(), a.get());
  EXPECT_EQ(graph_of(a), first);
  EXPECT_EQ(&graph_of(b)->trace(), b.get());
  EXPECT_NE(graph_of(a), first) << "made anew: only one is kept";
}

TEST(GraphCache, KeepsNoTraceAlive) {
  auto a = a_trace("a");
  const std::weak_ptr<const libtrace::Trace> watched = a;
  graph_of(a);
  a.reset();
  EXPECT_TRUE(watched.expired());
}

TEST(GraphCache, WhoAsksMeanwhileGetsTheSame) {
  const auto a = a_trace("a");
  std::vector<std::shared_ptr<const StepGraph>> graphs(8);
  std::vector<std::thread> threads;
  for (auto& graph : graphs) threads.emplace_back([&] { graph = graph_of(a); });
  for (std::thread& t : threads) t.join();
  for (const auto& graph : graphs) EXPECT_EQ(graph, graphs[0]);
}

}  // namespace
}  // namespace traceglass
