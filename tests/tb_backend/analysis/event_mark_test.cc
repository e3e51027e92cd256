// A slice is found again by what it is, or lost with a reason; never another one.
#include "tb_backend/analysis/event_mark.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/tb_backend/analysis/rows.h"

namespace traceglass {
namespace {

using libtrace::EventId;
using libtrace::kNone;
using libtrace::Value;
using ::testing::HasSubstr;
using testing::Rows;

struct Profile {
  explicit Profile(Rows rows) : trace(rows.trace()), steps(find_steps(*trace)) {}
  EventId at(std::string_view name, std::int64_t start) const {
    for (EventId e = 0; e < trace->size(); ++e) {
      if (trace->name(e) == name && trace->start(e) == start) return e;
    }
    return kNone;
  }
  EventMark mark(std::string_view name, std::int64_t start) const {
    return mark_of(*trace, steps, at(name, start));
  }
  MarkFound find(const EventMark& mark) const { return find_marks(*trace, steps, {mark})[0]; }

  libtrace::TracePtr trace;
  std::vector<Step> steps;
};

// Two steps; in each linear(mm), mm, and a kernel launched by the first mm.
Rows training(int first_step, std::int64_t shift, std::int64_t stretch = 1) {
  Rows rows;
  for (int s = 0; s < 2; ++s) {
    const std::int64_t t = shift + s * 1000 * stretch;
    rows.step(first_step + s, 1, t, 900 * stretch);
    rows.op("linear", 1, t + 100 * stretch, 200 * stretch);
    rows.arg("Input Dims", Value::json("[[2,3]]"));
    rows.op("mm", 1, t + 110 * stretch, 100 * stretch);
    rows.runtime(1, t + 120 * stretch, 5 * stretch, s + 1);
    rows.op("mm", 1, t + 400 * stretch, 50 * stretch);
    rows.op("mm", 1, t + 500 * stretch, 50 * stretch);
    rows.kernel("gemm", t + 300 * stretch, 80 * stretch, s + 1);
  }
  return rows;
}

TEST(EventMark, SaysWhatItIsByHand) {
  const Profile p(training(4, 0));
  EXPECT_EQ(p.mark("mm", 1110), (EventMark{"mm", "cpu_op", "linear\n", "[[2,3]]", 2, 1, 1}));
  EXPECT_EQ(p.mark("mm", 500), (EventMark{"mm", "cpu_op", "", "", 1, 2, 2}));
  EXPECT_EQ(p.mark("gemm", 1300), (EventMark{"gemm", "kernel", "linear\nmm\n", "", 2, 1, 1}));
}

TEST(EventMark, FoundInANewerProfileWhateverTheNumbersAndTimes) {
  const Profile old(training(4, 0)), newer(training(104, 77'000, 3));
  EXPECT_EQ(newer.find(old.mark("mm", 1110)).event, newer.at("mm", 77'000 + 3 * 1110));
  EXPECT_EQ(newer.find(old.mark("mm", 500)).event, newer.at("mm", 77'000 + 3 * 500));
  EXPECT_EQ(newer.find(old.mark("gemm", 1300)).event, newer.at("gemm", 77'000 + 3 * 1300));
}

TEST(EventMark, EverySliceIsFoundInItsOwnProfile) {
  const Profile p(training(4, 0));
  std::vector<EventMark> marks;
  for (EventId e = 0; e < p.trace->size(); ++e) marks.push_back(mark_of(*p.trace, p.steps, e));
  const auto found = find_marks(*p.trace, p.steps, marks);
  for (EventId e = 0; e < p.trace->size(); ++e) EXPECT_EQ(found[e].event, e) << marks[e].name;
}

TEST(EventMark, LostWhenItsLikeAreMoreOrFewer) {
  const Profile old(training(4, 0));
  Rows rows = training(4, 0);
  rows.op("mm", 1, 600, 50);
  const Profile more(std::move(rows));
  const MarkFound lost = more.find(old.mark("mm", 400));
  EXPECT_EQ(lost.event, kNone);
  EXPECT_THAT(lost.reason, HasSubstr("one of 2 alike"));
  EXPECT_THAT(lost.reason, HasSubstr("here are 3"));
  // What the new one is not like is found still: inside linear, and in the other step.
  EXPECT_EQ(more.find(old.mark("mm", 110)).event, more.at("mm", 110));
  EXPECT_EQ(more.find(old.mark("mm", 1400)).event, more.at("mm", 1400));
}

TEST(EventMark, LostWithoutItsStepShapeOrCaller) {
  const Profile old(training(4, 0));
  Rows one;
  one.step(4, 1, 0, 900);
  one.op("linear", 1, 100, 200);
  one.arg("Input Dims", Value::json("[[2,4]]"));
  one.op("mm", 1, 110, 100);
  const Profile newer(std::move(one));
  EXPECT_THAT(newer.find(old.mark("mm", 1110)).reason, HasSubstr("step 2"));
  EXPECT_THAT(newer.find(old.mark("mm", 110)).reason, HasSubstr("Nothing with its name"));
  EXPECT_EQ(newer.find(old.mark("mm", 400)).event, kNone);
  EXPECT_EQ(newer.find(old.mark("linear", 100)).event, newer.at("linear", 100));
}

TEST(EventMark, WithoutStepsAndInAnEmptyTrace) {
  Rows rows;
  rows.op("mm", 1, 5, 10).op("mm", 1, 20, 10);
  const Profile p(std::move(rows));
  const EventMark mark = p.mark("mm", 20);
  EXPECT_EQ(mark.step, 0);
  EXPECT_EQ(mark.occurrence, 2);
  EXPECT_EQ(p.find(mark).event, p.at("mm", 20));
  const Profile empty{Rows()};
  EXPECT_EQ(empty.find(mark).event, kNone);
  EXPECT_TRUE(find_marks(*empty.trace, empty.steps, {}).empty());
}

TEST(EventMark, AForgedMarkNamesNothing) {
  const Profile p(training(4, 0));
  EventMark mark = p.mark("mm", 500);
  for (const std::int64_t wrong : {0L, -1L, 3L, INT64_MAX}) {
    mark.occurrence = wrong;
    EXPECT_EQ(p.find(mark).event, kNone) << wrong;
  }
}

TEST(EventMark, ADeepTreeCostsNoMoreThanItsNearestCallers) {
  Rows rows;
  constexpr int kDeep = 20'000;
  for (int i = 0; i < kDeep; ++i) rows.op("f", 1, i, 4 * kDeep - 2 * i);
  const Profile p(std::move(rows));
  const EventMark mark = mark_of(*p.trace, p.steps, static_cast<EventId>(p.trace->size() - 1));
  EXPECT_EQ(mark.path.size(), 64U * 2);
  EXPECT_EQ(p.find(mark).event, p.trace->size() - 1);
}

TEST(EventMark, NamesByWhereTheyRan) {
  const Profile p(training(4, 0));
  const auto held = find_names(*p.trace, {"mm", "gemm", "none"});
  EXPECT_TRUE(held[0].host && !held[0].device);
  EXPECT_TRUE(!held[1].host && held[1].device);
  EXPECT_FALSE(held[2].host || held[2].device);
}

}  // namespace
}  // namespace traceglass
