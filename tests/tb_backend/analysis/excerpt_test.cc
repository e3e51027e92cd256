// Parts of a trace: what is in them, and that the whole is one of them.
#include "tb_backend/analysis/excerpt.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/tb_backend/analysis/rows.h"

namespace traceglass {
namespace {

using libtrace::EventId;
using libtrace::Trace;
using testing::Rows;
using ::testing::UnorderedElementsAre;
using testing::Value;

std::vector<std::string> names(const Trace& trace) {
  std::vector<std::string> out;
  for (EventId e = 0; e < trace.size(); ++e) out.emplace_back(trace.name(e));
  return out;
}

libtrace::TracePtr two_steps() {
  Rows r;
  r.step(1, 1, 0, 1000).op("aten::mm", 1, 100, 200).runtime(1, 150, 10, 7);
  r.kernel("late gemm", 1500, 300, 7);
  r.step(2, 1, 1000, 1000).op("aten::add", 1, 1600, 50).memory(1, 1610, 512, 1, 16);
  r.b.set_base_unix_ns(1'700'000'000'000'000'000);
  r.b.add_metadata("note", "\"kept\"");
  return r.trace();
}

TEST(Excerpt, HoldsWhatHasAPartInItAndBothEndsOfALaunch) {
  const auto whole = two_steps();
  EXPECT_THAT(names(*excerpt(*whole, {0, 1000})),
              UnorderedElementsAre("ProfilerStep#1", "aten::mm", "cudaLaunchKernel", "late gemm"));
  const auto second = excerpt(*whole, {1000, 2000});
  EXPECT_THAT(names(*second),
              UnorderedElementsAre("ProfilerStep#2", "aten::add", "late gemm", "cudaLaunchKernel"));
  EXPECT_EQ(second->memory().size(), 1U);
  EXPECT_EQ(second->base_unix_ns(), whole->base_unix_ns());
  EXPECT_EQ(*second->metadata("note"), "\"kept\"");
  for (EventId e = 0; e < second->size(); ++e) {
    if (second->name(e) != "late gemm") continue;
    EXPECT_NE(second->launch(e), libtrace::kNone);
    EXPECT_EQ(second->start(e), 1500);
  }
  EXPECT_EQ(excerpt(*whole, {5000, 6000})->size(), 0U);
}

TEST(Excerpt, OfEverythingIsTheTrace) {
  const auto whole = two_steps();
  EXPECT_EQ(libtrace::difference(*whole, *excerpt(*whole, {INT64_MIN, INT64_MAX})), "");
}

}  // namespace
}  // namespace traceglass
