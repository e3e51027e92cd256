#include "tb_backend/logdir/scan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/tb_backend/logdir/temp_dir.h"

namespace traceglass {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::TempDir;

Snapshot scan_dir(const TempDir& dir) { return scan(single_logdir(dir.path().string())); }

std::vector<std::string> files(const Snapshot& s) {
  std::vector<std::string> out;
  for (const TraceFile& f : s.files) out.push_back(f.file);
  return out;
}

TEST(Scan, RunsAreFoldersAndTheDirectoryItself) {
  TempDir dir;
  dir.write("top.pt.trace.json");
  dir.write("exp/lr1/w.1700000000001.pt.trace.json.gz");
  dir.write("exp/lr1/w.1700000000000.pt.trace.json.gz");
  dir.write("exp/lr1/v.pt.trace.json");
  dir.write("empty/readme.txt");
  const Snapshot s = scan_dir(dir);
  ASSERT_EQ(s.files.size(), 4U);
  EXPECT_EQ(s.files[0].run, ".");
  EXPECT_EQ(s.files[0].file, "top.pt.trace.json");
  EXPECT_EQ(s.files[1].run, "exp/lr1");
  EXPECT_EQ(s.files[1].worker, "v");
  EXPECT_EQ(s.files[2].span, "1700000000000");
  EXPECT_EQ(s.files[2].index, 1);
  EXPECT_EQ(s.files[3].index, 2);
  EXPECT_EQ(s.files[3].file, "exp/lr1/w.1700000000001.pt.trace.json.gz");
  EXPECT_TRUE(s.message.empty());
  EXPECT_THAT(s.ignored, IsEmpty());
}

TEST(Scan, TemporaryIsIgnoredWithAReasonAndHiddenIsSkipped) {
  TempDir dir;
  dir.write("x.1.pt.trace.json.gz.tmp");
  dir.write(".w.pt.trace.json.tmp.77");
  dir.write(".git/config.json");
  dir.write("events.out.tfevents.1");
  const Snapshot s = scan_dir(dir);
  EXPECT_THAT(s.files, IsEmpty());
  ASSERT_EQ(s.ignored.size(), 1U);
  EXPECT_EQ(s.ignored[0].file, "x.1.pt.trace.json.gz.tmp");
  EXPECT_EQ(s.ignored[0].worker, "x");
  EXPECT_EQ(s.ignored[0].span, "1");
  EXPECT_THAT(s.ignored[0].reason, HasSubstr("being written"));
  EXPECT_THAT(s.message, HasSubstr("tensorboard_trace_handler"));
}

TEST(Scan, AbsentDirectorySaysSo) {
  const Snapshot s = scan(single_logdir("/no/such/place"));
  EXPECT_THAT(s.files, IsEmpty());
  EXPECT_THAT(s.message, HasSubstr("There is no folder /no/such/place yet"));
}

TEST(Scan, LinkedFoldersAreReadOnceAndCyclesEnd) {
  TempDir dir;
  dir.write("b/w.pt.trace.json");
  std::filesystem::create_symlink("b", dir.path() / "a");          // before its target by name
  std::filesystem::create_symlink("..", dir.path() / "b" / "up");  // a cycle
  std::filesystem::create_symlink("loop", dir.path() / "loop");    // to itself
  std::filesystem::create_symlink("nowhere", dir.path() / "c.json");
  const Snapshot s = scan_dir(dir);
  EXPECT_THAT(files(s), ElementsAre("b/w.pt.trace.json"));
  ASSERT_EQ(s.ignored.size(), 1U);
  EXPECT_EQ(s.ignored[0].file, "c.json");
  EXPECT_THAT(s.ignored[0].reason, HasSubstr("leads nowhere"));
}

TEST(Scan, LinkOutOfTheDirectoryIsFollowed) {
  TempDir outside;
  outside.write("w.pt.trace.json");
  TempDir dir;
  std::filesystem::create_symlink(outside.path(), dir.path() / "run");
  EXPECT_THAT(files(scan_dir(dir)), ElementsAre("run/w.pt.trace.json"));
}

TEST(Scan, LinkToAListedFileIsNotListedTwice) {
  TempDir dir;
  dir.write("run/w.1700000000000.pt.trace.json");
  std::filesystem::create_symlink("run/w.1700000000000.pt.trace.json",
                                  dir.path() / "latest.pt.trace.json");
  const Snapshot s = scan_dir(dir);
  EXPECT_THAT(files(s), ElementsAre("run/w.1700000000000.pt.trace.json"));
  ASSERT_EQ(s.ignored.size(), 1U);
  EXPECT_EQ(s.ignored[0].file, "latest.pt.trace.json");
}

TEST(Scan, NamedPipesAreNotOffered) {
  TempDir dir;
  ASSERT_EQ(::mkfifo((dir.path() / "p.json").c_str(), 0600), 0);
  const Snapshot s = scan_dir(dir);
  EXPECT_THAT(s.files, IsEmpty());
  ASSERT_EQ(s.ignored.size(), 1U);
  EXPECT_EQ(s.ignored[0].reason, "not a regular file");
}

TEST(Scan, UnreadableFolderIsNamedAndHidesNothing) {
  TempDir dir;
  dir.write("locked/w.json");
  dir.write("open/w.json");
  std::filesystem::permissions(dir.path() / "locked", std::filesystem::perms::none);
  std::filesystem::permissions(dir.path(), std::filesystem::perms(0755));
  const bool root = ::geteuid() == 0;  // root reads every folder: look as somebody else
  if (root) {
    ASSERT_EQ(::seteuid(65534), 0);
  }
  const Snapshot s = scan_dir(dir);
  if (root) {
    ASSERT_EQ(::seteuid(0), 0);
  }
  std::filesystem::permissions(dir.path() / "locked", std::filesystem::perms::owner_all);
  EXPECT_THAT(files(s), ElementsAre("open/w.json"));
  ASSERT_EQ(s.ignored.size(), 1U);
  EXPECT_EQ(s.ignored[0].file, "locked");
  EXPECT_THAT(s.ignored[0].reason, HasSubstr("cannot be read"));
}

TEST(Scan, IdsAreStableHexAndDiffer) {
  TempDir dir;
  dir.write("a.json");
  dir.write("b.json");
  const Snapshot s = scan_dir(dir);
  ASSERT_EQ(s.files.size(), 2U);
  EXPECT_EQ(s.files[0].id.size(), 16U);
  EXPECT_NE(s.files[0].id, s.files[1].id);
  EXPECT_EQ(s.files[0].id, "bf4a42047734dd72");  // of "a.json": links survive a restart
  EXPECT_EQ(s.find(s.files[1].id), &s.files[1]);
  EXPECT_EQ(s.find("0000000000000000"), nullptr);
}

TEST(Scan, SeveralRootsUnderTheirNames) {
  TempDir x;
  TempDir y;
  x.write("w.json");
  y.write("run/w.json");
  const Snapshot s = scan({{"a", x.path()}, {"b", y.path()}, {"gone", "/no/such/place"}});
  ASSERT_EQ(s.files.size(), 2U);
  EXPECT_EQ(s.files[0].run, "a");
  EXPECT_EQ(s.files[0].file, "a/w.json");
  EXPECT_EQ(s.files[1].run, "b/run");
  EXPECT_NE(s.files[0].id, s.files[1].id);
}

TEST(Scan, AFileIsALogdirOfOneTrace) {
  TempDir dir;
  const auto file = dir.write("host_1.1700000000000.pt.trace.json");
  dir.write("other.json");
  const Snapshot s = scan(single_logdir(file.string()));
  ASSERT_EQ(s.files.size(), 1U);
  EXPECT_EQ(s.files[0].run, ".");
  EXPECT_EQ(s.files[0].worker, "host_1");
  EXPECT_EQ(s.files[0].path, file);
}

TEST(Scan, AwkwardNamesSurvive) {
  TempDir dir;
  dir.write("run#1 %2e/w \"q\".json");
  dir.write("\xff\xfe.json");
  dir.write("new\nline.json");
  EXPECT_EQ(scan_dir(dir).files.size(), 3U);
}

}  // namespace
}  // namespace traceglass
