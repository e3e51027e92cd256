// The way to the disk: gzip, temporary name, rename; and what is left when it goes wrong.
#if defined(__x86_64__)
#include <cpuid.h>
#endif
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include <fstream>
#include <functional>
#include <sstream>
#include <string>

#include "handler/file_sink.h"
#include "handler/gzip_sink.h"
#include "handler/thread_sink.h"
#include "tests/handler/string_sink.h"
#include "tests/handler/temporary_folder.h"

namespace libtrace {
namespace {

namespace fs = std::filesystem;

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// Inflates exactly one gzip member; fails on anything behind it.
std::string inflated(const std::string& gz) {
  z_stream s{};
  EXPECT_EQ(inflateInit2(&s, 15 + 16), Z_OK);
  std::string out, buffer(1 << 16, '\0');
  s.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(gz.data()));
  s.avail_in = static_cast<uInt>(gz.size());
  int result = Z_OK;
  while (result == Z_OK) {
    s.next_out = reinterpret_cast<Bytef*>(buffer.data());
    s.avail_out = static_cast<uInt>(buffer.size());
    result = inflate(&s, Z_NO_FLUSH);
    out.append(buffer, 0, buffer.size() - s.avail_out);
  }
  EXPECT_EQ(result, Z_STREAM_END);
  EXPECT_EQ(s.avail_in, 0U) << "a single member";
  inflateEnd(&s);
  return out;
}

std::string some_text(std::size_t bytes) {
  std::string text;
  for (std::uint64_t i = 1; text.size() < bytes; ++i) {
    text += std::to_string(i * i * 2654435761U) + ",";
  }
  text.resize(bytes);
  return text;
}

TEST(GzipSink, OneMemberOfWhatWasWritten) {
  for (const std::size_t bytes : {0U, 1U, 1000U, 3'000'000U}) {
    for (const std::size_t piece : {std::size_t{7}, std::size_t{65'536}, std::size_t{4'000'000}}) {
      if (piece == 7 && bytes > 1000) continue;
      const std::string text = some_text(bytes);
      StringSink out;
      GzipSink gzip(out);
      for (std::size_t at = 0; at < bytes; at += piece) {
        ASSERT_TRUE(gzip.write(std::string_view(text).substr(at, piece)).ok());
      }
      ASSERT_TRUE(gzip.finish().ok());
      EXPECT_TRUE(out.finished);
      EXPECT_EQ(inflated(out.text), text) << bytes << " in pieces of " << piece;
    }
  }
}

TEST(GzipSink, AnErrorBehindItComesBack) {
  StringSink out;
  out.limit = 1000;
  GzipSink gzip(out);
  Status status;
  const std::string text = some_text(1 << 20);
  for (int i = 0; i < 4 && status.ok(); ++i) status = gzip.write(text);
  EXPECT_FALSE(status.ok());
}

#if defined(__x86_64__)
// Which parts of the vector registers are not clear: the upper halves are bits 2 and 6.
std::uint64_t dirty_registers() {
  std::uint32_t low = 0, high = 0;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(1));
  return std::uint64_t{high} << 32 | low;
}

// Else the program's own SSE code runs several times slower from the first trace on.
TEST(GzipSink, LeavesTheUpperHalvesOfTheRegistersClear) {
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid_count(0xD, 1, &a, &b, &c, &d) == 0 || (a & 4) == 0) {
    GTEST_SKIP() << "this processor does not tell";
  }
  const std::string text = some_text(1 << 20);
  StringSink out;
  GzipSink gzip(out);
  asm volatile("vzeroupper" ::: "memory");
  ASSERT_TRUE(gzip.write(text).ok());
  EXPECT_EQ(dirty_registers() & 0x44, 0U);
  ASSERT_TRUE(gzip.finish().ok());
  EXPECT_EQ(dirty_registers() & 0x44, 0U);
}
#endif

// A sink that fails at its nth write.
class FailingSink final : public ByteSink {
 public:
  explicit FailingSink(int good) : good_(good) {}
  Status write(std::string_view bytes) override {
    if (good_-- == 0) return Status::io_error("disk full");
    written += bytes;
    return {};
  }
  Status finish() override {
    finished = true;
    return {};
  }
  std::string written;
  bool finished = false;

 private:
  int good_;
};

TEST(ThreadSink, EverythingArrivesInOrder) {
  StringSink out;
  std::string all;
  {
    ThreadSink sink(out);
    for (int i = 0; i < 1000; ++i) {
      const std::string text = std::to_string(i) + std::string(static_cast<std::size_t>(i), 'x');
      all += text;
      ASSERT_TRUE(sink.write(text).ok());
    }
    ASSERT_TRUE(sink.finish().ok());
  }
  EXPECT_EQ(out.text, all);
}

TEST(ThreadSink, AnErrorIsToldAndNothingFollowsIt) {
  FailingSink out(1);
  ThreadSink sink(out);
  ASSERT_TRUE(sink.write("good").ok());
  Status status;
  for (int i = 0; i < 3 && status.ok(); ++i) status = sink.write("bad");
  EXPECT_EQ(status.message(), "disk full");
  EXPECT_EQ(sink.finish().message(), "disk full");
  EXPECT_EQ(out.written, "good");
  EXPECT_FALSE(out.finished);
}

TEST(ThreadSink, LeftUnfinished) {
  StringSink out;
  {
    ThreadSink sink(out);
    ASSERT_TRUE(sink.write("a").ok());
  }
  EXPECT_EQ(out.text, "a");
}

TEST(FileSink, TheTargetAppearsWhole) {
  const TemporaryFolder folder;
  const fs::path target = folder.path() / "trace.json";
  FileSink file(target);
  ASSERT_TRUE(file.write("{").ok());
  ASSERT_EQ(folder.names().size(), 1U);
  const auto temporary = FileSink::parse_temporary(folder.names()[0]);
  ASSERT_TRUE(temporary);
  EXPECT_EQ(temporary->name, "trace.json");
  EXPECT_EQ(temporary->pid, getpid());
  ASSERT_TRUE(file.write("}").ok());
  ASSERT_TRUE(file.finish().ok());
  EXPECT_EQ(folder.names(), std::vector<std::string>{"trace.json"});
  EXPECT_EQ(read_file(target), "{}");
}

TEST(FileSink, UnfinishedLeavesTheOldTarget) {
  const TemporaryFolder folder;
  const fs::path target = folder.path() / "trace.json";
  std::ofstream(target) << "old";
  {
    FileSink file(target);
    ASSERT_TRUE(file.write("new").ok());
  }
  EXPECT_EQ(read_file(target), "old");
  EXPECT_EQ(folder.names().size(), 1U);
  FileSink file(target);
  ASSERT_TRUE(file.write("new").ok());
  ASSERT_TRUE(file.finish().ok());
  EXPECT_EQ(read_file(target), "new");
}

// Two ranks that were given one name: whoever finishes last wins, and neither is torn.
TEST(FileSink, TwoWritersOfOneTarget) {
  const TemporaryFolder folder;
  FileSink a(folder.path() / "trace.json"), b(folder.path() / "trace.json");
  ASSERT_TRUE(a.write("aa").ok());
  ASSERT_TRUE(b.write("b").ok());
  ASSERT_TRUE(a.write("aa").ok());
  ASSERT_TRUE(a.finish().ok());
  EXPECT_EQ(read_file(folder.path() / "trace.json"), "aaaa");
  ASSERT_TRUE(b.write("b").ok());
  ASSERT_TRUE(b.finish().ok());
  EXPECT_EQ(read_file(folder.path() / "trace.json"), "bb");
  EXPECT_EQ(folder.names().size(), 1U);
}

TEST(FileSink, TemporaryNames) {
  EXPECT_EQ(FileSink::temporary_name({"w.1.pt.trace.json", 42, 7}), ".w.1.pt.trace.json.tmp.42.7");
  const auto parsed = FileSink::parse_temporary(".w.1.pt.trace.json.tmp.42.7");
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->name, "w.1.pt.trace.json");
  EXPECT_EQ(parsed->pid, 42);
  EXPECT_EQ(parsed->random, 7U);
  for (const char* const no :
       {"w.tmp.42.1", ".w.tmp.", ".w.tmp.x", ".w.tmp.4", ".w.tmp.4.", ".w.tmp.4.x", ".w.tmp.4.1 ",
        ".tmp.4.1", ".w.tmp.-4.1", ".w.tmp.99999999999999.1", ""}) {
    EXPECT_FALSE(FileSink::parse_temporary(no)) << no;
  }
}

// The process's own limit of file sizes would end it by a signal.
TEST(FileSink, AFileThatMayNotGrowIsAnErrorAndNoDeath) {
  const TemporaryFolder folder;
  struct rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const struct rlimit limit{4096, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
  FileSink file(folder.path() / "trace.json");
  const Status first = file.write(std::string(4096, 'x'));
  const Status second = file.write("more");
  setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_TRUE(first.ok());
  EXPECT_FALSE(second.ok());
  EXPECT_NE(second.message().find("File too large"), std::string::npos) << second.message();
  EXPECT_TRUE(folder.names().empty());
  sigset_t pending;
  sigpending(&pending);
  EXPECT_EQ(sigismember(&pending, SIGXFSZ), 0);
}

TEST(FileSink, AFolderThatIsNotThereIsAnError) {
  FileSink file("/nonexistent/folder/trace.json");
  const Status status = file.write("x");
  EXPECT_FALSE(status.ok());
  EXPECT_NE(status.message().find("/nonexistent/folder/trace.json"), std::string::npos);
  EXPECT_FALSE(file.finish().ok()) << "and stays one";
}

TEST(FileSink, AFullDiskLeavesNothing) {
  const TemporaryFolder folder;
  // A limit on the file's size fails the write as a full disk does.
  struct rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  signal(SIGXFSZ, SIG_IGN);
  const struct rlimit limit{100'000, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &limit);
  Status status;
  {
    FileSink file(folder.path() / "trace.json");
    status = file.write(std::string(200'000, 'x'));
    EXPECT_FALSE(file.finish().ok());
  }
  setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_FALSE(status.ok());
  EXPECT_TRUE(folder.names().empty());
}

// A child writes a file over and over and is killed at many points of it. The target is absent or
// one of the whole versions, always.
TEST(FileSink, KilledAtAnyPointTheTargetIsAbsentOrWhole) {
  const std::string version_a = some_text(400'000), version_b = some_text(300'000);
  int absent = 0, whole = 0;
  for (int round = 0; round < 60; ++round) {
    const TemporaryFolder folder;
    const fs::path target = folder.path() / "trace.json.gz";
    int pipe_ends[2];
    ASSERT_EQ(pipe(pipe_ends), 0);
    const pid_t child = fork();
    if (child == 0) {
      for (;;) {
        for (const std::string* text : {&version_a, &version_b}) {
          FileSink file(target);
          GzipSink gzip(file);
          for (std::size_t at = 0; at < text->size(); at += 10'000) {
            if (!gzip.write(std::string_view(*text).substr(at, 10'000)).ok()) _exit(3);
            if (write(pipe_ends[1], "x", 1) != 1) _exit(2);
          }
          if (!gzip.finish().ok()) _exit(4);
        }
      }
    }
    // From its first block to its third version, at whatever it does behind that block.
    for (int block = 0; block <= 2 * round; ++block) {
      char written = 0;
      ASSERT_EQ(read(pipe_ends[0], &written, 1), 1);
    }
    kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status)) << "it failed by itself: " << WEXITSTATUS(status);
    close(pipe_ends[0]);
    close(pipe_ends[1]);
    if (!fs::exists(target)) {
      ++absent;
      continue;
    }
    ++whole;
    const std::string text = inflated(read_file(target));
    EXPECT_TRUE(text == version_a || text == version_b) << round;
  }
  EXPECT_GT(whole, 0);
  EXPECT_EQ(absent + whole, 60);
}

}  // namespace
}  // namespace libtrace
