#include "tb_backend/logdir/watch.h"

#include <gtest/gtest.h>

#include "tests/tb_backend/logdir/temp_dir.h"

namespace traceglass {
namespace {

using namespace std::chrono_literals;
using testing::TempDir;

class WatcherTest : public ::testing::Test {
 protected:
  std::shared_ptr<const Snapshot> later() {
    now_ += 2h;  // more than 20 times what a scan takes on any machine
    return watcher_.snapshot();
  }

  TempDir dir_;
  std::chrono::steady_clock::time_point now_{};
  Watcher watcher_{single_logdir(dir_.path().string()), 1s, [this] { return now_; }};
};

TEST_F(WatcherTest, NewFilesAppearButNotBeforeTheAge) {
  EXPECT_TRUE(watcher_.snapshot()->files.empty());
  dir_.write("run/a.json");
  EXPECT_TRUE(watcher_.snapshot()->files.empty());
  EXPECT_EQ(later()->files.size(), 1U);
}

TEST_F(WatcherTest, UnchangedDirectoriesKeepTheSnapshot) {
  dir_.write("a.json");
  const auto before = later();
  EXPECT_EQ(later(), before);
}

TEST_F(WatcherTest, GrowingReplacedAndVanishedFilesAreSeen) {
  const auto file = dir_.write("a.json", "[");
  const auto first = later();
  dir_.write("a.json", "[{}]");
  const auto grown = later();
  EXPECT_EQ(grown->files[0].id, first->files[0].id);
  EXPECT_NE(grown->files[0].stamp, first->files[0].stamp);
  EXPECT_EQ(grown->files[0].stamp.bytes, 4U);

  const auto other = dir_.write("b.tmp", "[{}]");
  std::filesystem::last_write_time(other, std::filesystem::last_write_time(file));
  std::filesystem::rename(other, file);  // same size, same time: only the inode tells
  EXPECT_NE(later()->files[0].stamp, grown->files[0].stamp);

  std::filesystem::remove(file);
  EXPECT_TRUE(later()->files.empty());
}

}  // namespace
}  // namespace traceglass
