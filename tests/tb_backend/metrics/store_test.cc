// Runs made of files: order, restarts, growth; curves and joins asked of them.
#include "tb_backend/metrics/store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cmath>
#include <fstream>
#include <random>

#include "tb_backend/metrics/curve.h"
#include "tb_backend/metrics/join.h"
#include "tb_backend/metrics/run_clock.h"
#include "tests/tb_backend/logdir/temp_dir.h"
#include "tests/tb_backend/metrics/event_bytes.h"

namespace traceglass {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::scalar;
using testing::session_start;

// Event files of a folder and a store that follows them.
class StoreTest : public ::testing::Test {
 protected:
  void append(const std::string& name, const std::string& bytes) {
    std::filesystem::create_directories((folder_.path() / name).parent_path());
    std::ofstream(folder_.path() / name, std::ios::binary | std::ios::app) << bytes;
  }
  std::vector<MetricFileRef> list() {
    std::vector<MetricFileRef> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_.path())) {
      if (!entry.is_regular_file()) continue;
      struct stat s{};
      ::stat(entry.path().c_str(), &s);
      const auto file = entry.path().lexically_relative(folder_.path());
      files.push_back({file.parent_path().string(), file.string(), entry.path(),
                       static_cast<std::uint64_t>(s.st_size), s.st_dev, s.st_ino,
                       s.st_mtim.tv_nsec});
    }
    std::sort(files.begin(), files.end(), [](auto& a, auto& b) { return a.file < b.file; });
    return files;
  }
  void look() { store_.update(list()); }
  Curve curve(const std::string& run, const std::string& tag, CurveQuery query = {}) {
    Curve out;
    store_.read([&](const MetricStore::Runs& runs) {
      for (const MetricRun& one : runs) {
        if (one.name() == run) out = find_curve(one, *one.find(tag), query);
      }
    });
    return out;
  }
  Join join(const std::vector<ProfiledStep>& steps, JoinBy by, std::int64_t shift = 0,
            double offset = 0) {
    Join out;
    store_.read([&](const MetricStore::Runs& runs) {
      out = find_join(runs.front(), steps, by, shift, offset);
    });
    return out;
  }

  testing::TempDir folder_;
  MetricStore store_;
};

std::string steps(int from, int to, double start, const char* tag = "loss") {
  std::string out;
  for (int i = from; i < to; ++i) out += scalar(start + i, i, tag, static_cast<float>(i));
  return out;
}

TEST_F(StoreTest, FilesOfARunFollowEachOther) {
  append("a/events.tfevents.1", steps(0, 5, 1000));
  append("a/events.tfevents.2", steps(5, 8, 1000));
  append("b/c/events.tfevents.1", steps(0, 2, 1000));
  look();
  store_.read([](const MetricStore::Runs& runs) {
    ASSERT_EQ(runs.size(), 2U);
    EXPECT_EQ(runs[0].name(), "a");
    EXPECT_EQ(runs[1].name(), "b/c");
    const MetricTagRow row = tag_row(runs[0], runs[0].tags()[0]);
    EXPECT_EQ(row.count, 8U);
    EXPECT_EQ(row.last->step, 7);
  });
  ASSERT_EQ(curve("a", "loss").lines.size(), 1U);
  EXPECT_THAT(curve("a", "loss").lines[0].step, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
}

TEST_F(StoreTest, GrowsAndIsReplaced) {
  append("a/events.tfevents.1", steps(0, 3, 1000));
  look();
  append("a/events.tfevents.1", steps(3, 5, 1000));
  look();
  EXPECT_EQ(curve("a", "loss").count, 5U);
  std::filesystem::remove(folder_.path() / "a/events.tfevents.1");
  append("a/events.tfevents.1", steps(7, 8, 1000));
  look();
  EXPECT_THAT(curve("a", "loss").lines[0].step, ElementsAre(7));
  std::filesystem::remove(folder_.path() / "a/events.tfevents.1");
  look();
  store_.read([](const MetricStore::Runs& runs) { EXPECT_TRUE(runs.empty()); });
}

// What is listed is older than what is read: a file goes on being read where it stood.
TEST_F(StoreTest, AnOlderListReadsNothingAnew) {
  append("a/events.tfevents.1", steps(0, 3, 1000));
  look();
  const auto content = [&] {
    std::shared_ptr<EventFile> out;
    store_.read([&](const MetricStore::Runs& runs) { out = runs[0].files()[0].content; });
    return out;
  };
  const std::shared_ptr<EventFile> first = content();
  const std::vector<MetricFileRef> older = list();
  append("a/events.tfevents.1", steps(3, 5, 1000));
  look();
  store_.update(older);
  EXPECT_EQ(content(), first);
  EXPECT_EQ(curve("a", "loss").count, 5U);
  // Cut and written anew under the same inode: read from the start.
  std::filesystem::resize_file(folder_.path() / "a/events.tfevents.1", 0);
  append("a/events.tfevents.1", steps(8, 9, 1000));
  look();
  EXPECT_THAT(curve("a", "loss").lines[0].step, ElementsAre(8));
}

// What a session that restarts at step 3 makes void is kept and counted, never lost silently.
TEST_F(StoreTest, RestartSupersedes) {
  append("a/events.tfevents.1", steps(0, 6, 1000));
  append("a/events.tfevents.2", session_start(2000, 3) + steps(3, 5, 2000));
  look();
  const Curve hidden = curve("a", "loss");
  EXPECT_EQ(hidden.count, 8U);
  EXPECT_EQ(hidden.superseded, 3U);
  ASSERT_EQ(hidden.lines.size(), 1U);
  EXPECT_THAT(hidden.lines[0].step, ElementsAre(0, 1, 2, 3, 4));
  CurveQuery query;
  query.superseded = true;
  const Curve all = curve("a", "loss", query);
  ASSERT_EQ(all.lines.size(), 2U);
  EXPECT_TRUE(all.lines[0].superseded);
  EXPECT_THAT(all.lines[0].step, ElementsAre(3, 4, 5));
}

TEST_F(StoreTest, RestartWithinAFileAndTwice) {
  append("a/events.tfevents.1", steps(0, 6, 1000) + session_start(2000, 4) + steps(4, 7, 2000) +
                                    session_start(3000, 2) + steps(2, 3, 3000));
  look();
  const Curve c = curve("a", "loss");
  EXPECT_EQ(c.superseded, 7U);
  ASSERT_EQ(c.lines.size(), 1U);
  EXPECT_THAT(c.lines[0].wall_time, ElementsAre(1000, 1001, 3002));
}

// Steps that go back without a word: everything is drawn, in a line for each pass.
TEST_F(StoreTest, StepsThatGoBack) {
  append("a/events.tfevents.1", steps(0, 4, 1000) + steps(2, 5, 2000));
  look();
  const Curve c = curve("a", "loss");
  EXPECT_EQ(c.superseded, 0U);
  ASSERT_EQ(c.lines.size(), 2U);
  EXPECT_THAT(c.lines[1].step, ElementsAre(2, 3, 4));
  CurveQuery wall;
  wall.axis = MetricAxis::kWall;
  EXPECT_EQ(curve("a", "loss", wall).lines.size(), 1U);
}

TEST_F(StoreTest, StepsInNoOrder) {
  std::string bytes;
  for (int i = 0; i < 1000; ++i) {
    bytes += scalar(i, i * 617 % 1000, "loss", static_cast<float>(i));
  }
  append("a/events.tfevents.1", bytes);
  look();
  const Curve c = curve("a", "loss");
  EXPECT_TRUE(c.reordered);
  ASSERT_EQ(c.lines.size(), 1U);
  EXPECT_EQ(c.lines[0].x.size(), 1000U);
  EXPECT_TRUE(std::is_sorted(c.lines[0].x.begin(), c.lines[0].x.end()));
}

// Laws of a cut curve, for any points: no more than asked, first, last and extremes of the whole
// and of each stretch of the axis are there, and every point is one of the curve.
TEST_F(StoreTest, CutCurvesKeepExtremes) {
  std::mt19937 random(7);
  std::string bytes;
  std::vector<float> all;
  for (int i = 0; i < 30'000; ++i) {
    const auto value = static_cast<float>(random() % 100'000);
    all.push_back(random() % 500 == 0 ? NAN : value);
    bytes += scalar(i * 0.5, i, "loss", all.back());
  }
  append("a/events.tfevents.1", bytes);
  look();
  for (const std::size_t points : {8U, 100U, 2000U}) {
    CurveQuery query;
    query.points = points;
    const Curve c = curve("a", "loss", query);
    EXPECT_EQ(c.in_range, 30'000U);
    ASSERT_EQ(c.lines.size(), 1U);
    const CurveLine& line = c.lines[0];
    EXPECT_LE(line.x.size(), points / 4 * 5 + 5);
    EXPECT_EQ(line.step.front(), 0);
    EXPECT_EQ(line.step.back(), 29'999);
    for (std::size_t i = 0; i < line.x.size(); ++i) {
      const auto step = static_cast<std::size_t>(line.step[i]);
      if (std::isnan(all[step])) {
        EXPECT_TRUE(std::isnan(line.value[i]));
      } else {
        EXPECT_EQ(line.value[i], all[step]);
      }
    }
    // Between two kept points nothing sticks out of what the stretch keeps.
    const std::size_t stretches = points / 4;
    for (std::size_t s = 0; s < stretches; ++s) {
      const double from = 29'999.0 * static_cast<double>(s) / static_cast<double>(stretches);
      const double to = 29'999.0 * static_cast<double>(s + 1) / static_cast<double>(stretches);
      double most = -1;
      double kept = -1;
      for (std::size_t i = 0; i < all.size(); ++i) {
        const auto x = static_cast<double>(i);
        if (x > from && x < to && !std::isnan(all[i])) most = std::max(most, double{all[i]});
      }
      for (std::size_t i = 0; i < line.x.size(); ++i) {
        if (line.x[i] >= from && line.x[i] <= to && !std::isnan(line.value[i])) {
          kept = std::max(kept, line.value[i]);
        }
      }
      EXPECT_GE(kept, most);
    }
  }
}

TEST_F(StoreTest, PartsReachTheEdges) {
  append("a/events.tfevents.1", steps(0, 10, 1000));
  look();
  CurveQuery query;
  query.from = 2.5;
  query.to = 4.5;
  EXPECT_THAT(curve("a", "loss", query).lines.at(0).step, ElementsAre(2, 3, 4, 5));
  query.from = 100;
  query.to = 200;
  EXPECT_THAT(curve("a", "loss", query).lines, IsEmpty());
}

// Times at both ends of what can be, and times that are next to equal: every number is one.
TEST_F(StoreTest, TimesOfAnyWidth) {
  for (const double width : {1.7e308, 1e12, 5e-324}) {
    const std::string name = "a" + std::to_string(std::ilogb(width));
    std::string bytes = scalar(-width, -1, "loss", 1);
    for (int i = 0; i < 100; ++i) bytes += scalar(0, i, "loss", static_cast<float>(i));
    append(name + "/events.tfevents.1", bytes + scalar(width, 100, "loss", 1));
    look();
    for (const MetricAxis axis : {MetricAxis::kWall, MetricAxis::kRelative}) {
      CurveQuery query;
      query.axis = axis;
      query.points = 8;
      const Curve c = curve(name, "loss", query);
      ASSERT_FALSE(c.lines.empty());
      for (const double x : c.lines[0].x) EXPECT_TRUE(std::isfinite(x));
    }
  }
}

// TensorBoard's own: mean and weight's share of the start, by hand for 1, 2, gap, 4 at 0.5.
TEST(Smoother, IsFreedOfItsStart) {
  Smoother smoother(0.5);
  EXPECT_DOUBLE_EQ(smoother.next(1), 1);
  EXPECT_DOUBLE_EQ(smoother.next(2), 1.25 / 0.75);
  EXPECT_TRUE(std::isnan(smoother.next(NAN)));
  EXPECT_DOUBLE_EQ(smoother.next(4), 2.625 / 0.875);
  Smoother none(0);
  none.next(7);
  EXPECT_DOUBLE_EQ(none.next(3), 3);
}

// Steps 5, 6, 7 of 0.8 s, one a second, logged 0.05 s after their ends.
std::vector<ProfiledStep> three_steps(double ahead = 0) {
  std::vector<ProfiledStep> out;
  for (int n = 5; n < 8; ++n) out.push_back({n, 1000 + n - 0.8 - ahead, 1000.0 + n - ahead});
  return out;
}

TEST_F(StoreTest, JoinsByTheClock) {
  append("a/events.tfevents.1", steps(0, 20, 1000.05) + scalar(1004, 0, "epoch", 1));
  look();
  const Join j = join(three_steps(), JoinBy::kClock);
  EXPECT_EQ(j.clock_tag, "loss");
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(j.steps[i].metric_step, 5 + int(i));
  EXPECT_NEAR(*j.uncertainty_s, 0.5, 1e-6);
  EXPECT_NEAR(*j.offset_s, 0.05, 1e-6);
  EXPECT_NEAR(*j.offset_error_s, 0, 1e-6);
  EXPECT_EQ(j.shift, 0);
}

TEST_F(StoreTest, APlantedOffsetIsFoundByNumber) {
  append("a/events.tfevents.1", steps(0, 20, 1000.05));
  look();
  for (const double ahead : {3600.0, -12.5, 0.2}) {
    const Join by_clock = join(three_steps(ahead), JoinBy::kClock);
    if (std::abs(ahead) > 20) {
      EXPECT_FALSE(by_clock.steps[0].metric_step);
    }
    const Join by_number = join(three_steps(ahead), JoinBy::kNumber);
    EXPECT_NEAR(*by_number.offset_s, ahead + 0.05, 1e-6);
    EXPECT_NEAR(*by_number.offset_error_s, 0, 1e-6);
    const Join repaired = join(three_steps(ahead), JoinBy::kClock, 0, *by_number.offset_s);
    for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(repaired.steps[i].metric_step, 5 + int(i));
  }
}

// One clock for many profiles says what each would say alone: by the tag that is written around it,
// whatever the order in which points stand.
TEST_F(StoreTest, OneClockForManyProfiles) {
  append("a/events.tfevents.1", steps(0, 40, 1000.05) + steps(0, 15, 5000.05, "tuned"));
  append("a/events.tfevents.2", steps(50, 60, 5020.05, "tuned") + steps(15, 20, 5000.05, "tuned") +
                                    scalar(5018, 16, "tuned", 1));
  look();
  store_.read([](const MetricStore::Runs& runs) {
    RunClock clock(runs[0]);
    for (int round = 0; round < 2; ++round) {
      for (const JoinBy by : {JoinBy::kClock, JoinBy::kNumber}) {
        for (const double start : {1000.0, 5000.0, 5010.0, 9000.0}) {
          const std::vector<ProfiledStep> profile{{5, start + 4.2, start + 5},
                                                  {16, start + 15.2, start + 16}};
          const Join one = find_join(clock, profile, by);
          const Join alone = find_join(runs[0], profile, by);
          EXPECT_EQ(one.clock_tag, start == 1000 || start == 9000 ? "loss" : "tuned") << start;
          EXPECT_EQ(one.clock_tag, alone.clock_tag);
          EXPECT_EQ(one.uncertainty_s, alone.uncertainty_s);
          EXPECT_EQ(one.steps[0].metric_step, alone.steps[0].metric_step);
          EXPECT_EQ(one.steps[1].distance_s, alone.steps[1].distance_s);
        }
      }
    }
    // Of step 16, written twice, the last one counts.
    const Join twice = find_join(clock, {{16, 5015.2, 5016}}, JoinBy::kNumber);
    EXPECT_NEAR(twice.steps[0].distance_s, 2, 1e-6);
  });
}

TEST_F(StoreTest, AShiftBetweenCountsIsTold) {
  append("a/events.tfevents.1", steps(100, 120, 900.05));
  look();
  EXPECT_EQ(join(three_steps(), JoinBy::kClock).shift, 100);
  EXPECT_FALSE(join(three_steps(), JoinBy::kNumber).steps[0].metric_step);
  EXPECT_EQ(join(three_steps(), JoinBy::kNumber, 100).steps[0].metric_step, 105);
  // Numbers of any size do not overflow.
  EXPECT_FALSE(join({{INT64_MAX, 1, 2}}, JoinBy::kNumber, 1).steps[0].metric_step);
}

TEST_F(StoreTest, NothingToJoin) {
  append("a/events.tfevents.1", testing::event(1, 1, testing::summary("h", testing::field(5, ""))));
  look();
  EXPECT_FALSE(join(three_steps(), JoinBy::kClock).steps[0].metric_step);
  EXPECT_THAT(join({}, JoinBy::kClock).steps, IsEmpty());
}

TEST_F(StoreTest, ValuesAtTheSteps) {
  append("a/events.tfevents.1", steps(0, 7, 1000.05) + scalar(1005.06, 5, "loss", 50));
  look();
  store_.read([&](const MetricStore::Runs& runs) {
    const Join j = find_join(runs[0], three_steps(), JoinBy::kNumber);
    // The last one written counts; step 7 was never logged.
    EXPECT_THAT(values_at(runs[0], runs[0].tags()[0], j.steps),
                ElementsAre(50.0, 6.0, std::nullopt));
  });
}

TEST(NearestFolder, ByWholePartsOfThePath) {
  EXPECT_EQ(common_parts("exp/plugins/profile/2026_01_01", "exp"), 1U);
  EXPECT_EQ(common_parts("exp/plugins/profile/2026_01_01", "exp/plugins"), 1U);
  EXPECT_EQ(common_parts("exp1", "exp10"), 0U);
  EXPECT_EQ(common_parts("a/b/profiles", "a/b/c/events"), 2U);
  EXPECT_EQ(common_parts(".", "."), 0U);
}

TEST(StampSeconds, ByTheNumberOfDigits) {
  EXPECT_NEAR(*stamp_seconds("1796009926471387737"), 1796009926.47, 0.01);
  EXPECT_EQ(stamp_seconds("1700000000000"), 1'700'000'000);
  EXPECT_EQ(stamp_seconds("1700000000"), 1'700'000'000);
  EXPECT_EQ(stamp_seconds("1102"), std::nullopt);
  EXPECT_EQ(stamp_seconds(""), std::nullopt);
}

}  // namespace
}  // namespace traceglass
