// The directory of indexes: what is there is found, what is not trusted is made anew, and no
// trouble with it is more than a line of the log.
#include "tb_backend/index/cache.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "tests/handler/temporary_folder.h"
#include "tests/tb_backend/index/same.h"
#include "tests/tb_backend/index/support.h"

namespace traceglass::index {
namespace {

namespace fs = std::filesystem;
using namespace testing;
using libtrace::TemporaryFolder;
using libtrace::TracePtr;

const auto kAlways = [] { return true; };

class CacheTest : public ::testing::Test {
 protected:
  Cache::Options options() {
    Cache::Options options;
    options.directory = directory_;
    options.log = [this](std::string_view sentence) { log_.emplace_back(sentence); };
    return options;
  }
  // A file whose content is `text`, unlike any before in its time.
  Content file(const std::string& name, const std::string& text) {
    const fs::path path = folder_.path() / name;
    std::ofstream(path, std::ios::binary) << text;
    const timespec times[2] = {{++now_, 0}, {now_, 0}};
    ::utimensat(AT_FDCWD, path.c_str(), times, 0);
    return *content_of(path);
  }
  [[nodiscard]] std::vector<std::string> saved() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(directory_)) {
      names.push_back(entry.path().filename());
    }
    return names;
  }

  const TemporaryFolder folder_;
  const fs::path directory_ = folder_.path() / "cache" / "index";
  const TracePtr trace_ = full_trace(1);
  std::vector<std::string> log_;
  std::time_t now_ = 1'700'000'000;
};

TEST_F(CacheTest, FindsWhatItSaved) {
  Cache cache(options());
  const Content a = file("a.json", "a"), b = file("b.json", "b");
  EXPECT_FALSE(cache.open(a));
  EXPECT_EQ(cache.save(a, *trace_, kAlways), "");
  EXPECT_FALSE(cache.open(b));
  const TracePtr opened = cache.open(a);
  ASSERT_TRUE(opened);
  EXPECT_EQ(first_difference(*trace_, *opened), "");
  EXPECT_TRUE(Cache(options()).open(a));
  EXPECT_TRUE(log_.empty());
  struct stat s{};
  ASSERT_EQ(::stat(directory_.c_str(), &s), 0);
  EXPECT_EQ(s.st_mode & 0777U, 0700U);
}

TEST_F(CacheTest, AChangedFileHasNoIndex) {
  Cache cache(options());
  cache.save(file("a.json", "before"), *trace_, kAlways);
  const Content now = file("a.json", "behind");  // as long
  EXPECT_FALSE(cache.open(now));
  const TracePtr other = full_trace(2);
  cache.save(now, *other, kAlways);
  EXPECT_EQ(first_difference(*other, *cache.open(now)), "");
  EXPECT_EQ(saved().size(), 1U);
  EXPECT_TRUE(log_.empty());
}

TEST_F(CacheTest, TheSameFileBySeveralNamesHasOne) {
  const Content a = file("a.json", "a");
  fs::create_symlink(folder_.path() / "a.json", folder_.path() / "link.json");
  EXPECT_EQ(content_of(folder_.path() / "link.json"), a);
  EXPECT_EQ(content_of(folder_.path() / "." / "a.json"), a);
}

TEST_F(CacheTest, ContentIsReadAtBothEnds) {
  std::string text(std::size_t{5} << 20, 'x');
  const Content before = file("a.json", text);
  for (const std::size_t at : {std::size_t{0}, (std::size_t{1} << 20) - 1, text.size() - 1,
                               text.size() - (std::size_t{1} << 20)}) {
    text[at] = 'y';
    const Content now = file("a.json", text);
    EXPECT_TRUE(now.key.head_hash != before.key.head_hash ||
                now.key.tail_hash != before.key.tail_hash)
        << at;
    text[at] = 'x';
  }
  EXPECT_TRUE(content_of(folder_.path() / "a.json"));
  EXPECT_FALSE(content_of(folder_.path() / "none.json"));
  EXPECT_FALSE(content_of(folder_.path()));
  file("empty.json", "");
  EXPECT_TRUE(content_of(folder_.path() / "empty.json"));
}

TEST_F(CacheTest, AFileThatChangesWhileItIsReadIsNotSaved) {
  Cache cache(options());
  const Content before = file("a.json", "before");
  const Content now = file("a.json", "now");
  EXPECT_EQ(cache.save(before, *trace_, kAlways), "the file has changed meanwhile");
  EXPECT_FALSE(cache.open(before));
  EXPECT_FALSE(cache.open(now));
  EXPECT_TRUE(saved().empty());
}

TEST_F(CacheTest, ABrokenOneIsSaidAndMadeAnew) {
  Cache cache(options());
  const Content a = file("a.json", "a");
  cache.save(a, *trace_, kAlways);
  std::string bytes = bytes_of(cache.place_of(a));
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  put_bytes(cache.place_of(a), bytes);
  EXPECT_FALSE(cache.open(a));
  EXPECT_FALSE(cache.open(a));
  ASSERT_EQ(log_.size(), 1U);
  EXPECT_NE(log_[0].find("a wrong hash"), std::string::npos) << log_[0];
  cache.save(a, *trace_, kAlways);
  EXPECT_TRUE(cache.open(a));
}

TEST_F(CacheTest, WhatWasNotUsedForLongestGoes) {
  Cache::Options small = options();
  Content content[4];
  for (int i = 0; i < 4; ++i) content[i] = file(std::to_string(i) + ".json", std::to_string(i));
  Cache(options()).save(content[0], *trace_, kAlways);
  const std::uint64_t one = fs::file_size(Cache(options()).place_of(content[0]));
  small.most_bytes = 3 * one + one / 2;
  Cache cache(small);
  const auto used_at = [&](int i, std::time_t when) {
    const timespec times[2] = {{when, 0}, {when, 0}};
    ::utimensat(AT_FDCWD, cache.place_of(content[i]).c_str(), times, 0);
  };
  for (int i = 1; i < 3; ++i) cache.save(content[i], *trace_, kAlways);
  used_at(0, 100);
  used_at(1, 50);
  used_at(2, 60);
  EXPECT_TRUE(cache.open(content[1]));  // used now
  std::ofstream(directory_ / "somebody else's") << "stays";
  cache.save(content[3], *trace_, kAlways);
  EXPECT_FALSE(cache.open(content[2]));
  for (const int i : {0, 1, 3}) EXPECT_TRUE(cache.open(content[i])) << i;
  EXPECT_TRUE(fs::exists(directory_ / "somebody else's"));
}

TEST_F(CacheTest, AFolderThatCannotBeWrittenIsSaidOnce) {
  fs::create_directories(directory_.parent_path());
  std::ofstream(directory_) << "a file in its place";
  Cache cache(options());
  for (const char* name : {"a.json", "b.json"}) {
    EXPECT_NE(cache.save(file(name, name), *trace_, kAlways), "");
  }
  EXPECT_EQ(log_.size(), 1U);
}

TEST_F(CacheTest, AReadOnlyFolderIsReadAndSaidOnce) {
  if (::geteuid() == 0) GTEST_SKIP() << "to root no folder is read-only";
  const Content a = file("a.json", "a"), b = file("b.json", "b");
  Cache cache(options());
  cache.save(a, *trace_, kAlways);
  ::chmod(directory_.c_str(), 0500);
  EXPECT_TRUE(cache.open(a));
  EXPECT_NE(cache.save(b, *trace_, kAlways), "");
  EXPECT_EQ(log_.size(), 1U);
  ::chmod(directory_.c_str(), 0700);
}

// In a process of its own, whose status is 0 when `body` returns true.
template <typename Body>
int in_child(Body&& body) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(body() ? 0 : 1);
  int status = 0;
  ::waitpid(child, &status, 0);
  return status;
}

TEST_F(CacheTest, AFullDiskIsSaidOnceAndLeavesNothing) {
  const Content a = file("a.json", "a");
  const int status = in_child([&] {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{20'000, 20'000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    Cache cache(options());
    const bool refused = !cache.save(a, *trace_, kAlways).empty();
    return refused && !cache.save(a, *trace_, kAlways).empty() && log_.size() == 1;
  });
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(saved().empty());
}

// Killed after every possible write: what it leaves is no index, is not in the way, and goes.
TEST_F(CacheTest, KilledWhileWriting) {
  const Content a = file("a.json", "a");
  for (int writes = 0; writes < 40; writes += 3) {
    const int status = in_child([&] {
      int asked = 0;
      Cache cache(options());
      cache.save(a, *trace_, [&] {
        if (asked++ == writes) ::kill(::getpid(), SIGKILL);
        return true;
      });
      return true;
    });
    Cache cache(options());
    const bool killed = WIFSIGNALED(status);
    EXPECT_EQ(cache.open(a) == nullptr, killed) << writes;
    if (!killed) {
      EXPECT_GT(writes, 10);  // each section is one
      break;
    }
    EXPECT_GE(saved().size(), 1U);
  }
  Cache cache(options());
  EXPECT_EQ(cache.save(a, *trace_, kAlways), "");
  EXPECT_EQ(first_difference(*trace_, *cache.open(a)), "");
  EXPECT_GT(saved().size(), 5U);
  for (const std::string& name : saved()) {
    const timespec times[2] = {{now_, 0}, {now_, 0}};  // hours ago
    ::utimensat(AT_FDCWD, (directory_ / name).c_str(), times, 0);
  }
  cache.trim(cache.place_of(a));
  EXPECT_EQ(saved().size(), 1U);
  EXPECT_TRUE(cache.open(a));
  EXPECT_TRUE(log_.empty());
}

TEST_F(CacheTest, SeveralAtOnceNeitherWaitNorBreak) {
  const Content contents[] = {file("a.json", "a"), file("b.json", "b")};
  std::vector<std::thread> servers;
  std::atomic<int> wrong = 0;
  for (int server = 0; server < 4; ++server) {
    servers.emplace_back([&, server] {
      Cache::Options own;
      own.directory = directory_;
      own.most_bytes = server % 2 == 0 ? 1 : 1 << 30;  // two of them always clear away
      Cache cache(own);
      for (int i = 0; i < 25; ++i) {
        const Content& content = contents[(i + server) % 2];
        wrong += cache.save(content, *trace_, kAlways).empty() ? 0 : 1;
        const TracePtr opened = cache.open(content);
        if (opened) wrong += first_difference(*trace_, *opened).empty() ? 0 : 1;
      }
    });
  }
  for (std::thread& server : servers) server.join();
  EXPECT_EQ(wrong, 0);
  for (const std::string& name : saved()) EXPECT_TRUE(name.ends_with(".tgix")) << name;
}

}  // namespace
}  // namespace traceglass::index
