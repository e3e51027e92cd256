#include "tb_backend/api/note_feed.h"

#include <gmock/gmock.h>
#include <sqlite3.h>

#include "tb_backend/api/note_news.h"
#include "tests/tb_backend/logdir/temp_dir.h"

namespace traceglass {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class NoteFeedTest : public ::testing::Test {
 protected:
  NoteStore::Options options() { return {folder_.path() / "notes.db", 1 << 30, {}}; }
  void write(NoteStore& store, const std::string& text) {
    NoteAnchor anchor;
    anchor.kind = "run";
    anchor.run = "r";
    ASSERT_TRUE(std::holds_alternative<NoteThread>(store.start(anchor, {"Ann", false}, text)));
  }
  void write(const std::string& text) {
    write(store_, text);
    feed_.changed();
  }
  void sql(const char* statement) {
    sqlite3* db = nullptr;
    ASSERT_EQ(sqlite3_open(options().path.c_str(), &db), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(db, statement, nullptr, nullptr, nullptr), SQLITE_OK) << statement;
    sqlite3_close(db);
  }
  static std::string next(ReplyStream& stream) {
    std::string bytes;
    EXPECT_TRUE(stream.next(bytes));
    return bytes;
  }

  testing::TempDir folder_;
  NoteStore store_{options()};
  NoteFeed feed_{store_};
};

TEST_F(NoteFeedTest, EverybodyGetsEachChangeOnce) {
  const auto a = feed_.follow(0), b = feed_.follow(0);
  EXPECT_EQ(next(*a), "retry: 1000\n\n");
  EXPECT_EQ(next(*b), "retry: 1000\n\n");
  write("first\ndata: forged\n\n");
  for (const auto& stream : {a, b}) {
    const std::string event = next(*stream);
    EXPECT_THAT(event, AllOf(HasSubstr("id: 1\nevent: change\ndata: {"), HasSubstr("first")));
    EXPECT_THAT(event, Not(HasSubstr("\ndata: forged")));  // a text makes no event of its own
  }
  write("second");
  EXPECT_THAT(next(*a), AllOf(HasSubstr("id: 2\n"), Not(HasSubstr("first"))));
}

TEST_F(NoteFeedTest, WhoComesBackMissesNothing) {
  for (int i = 1; i <= 600; ++i) write("note " + std::to_string(i));  // more than is kept
  const auto stream = feed_.follow(3);
  next(*stream);
  std::string all;
  while (all.find("id: 600\n") == std::string::npos) all += next(*stream);
  std::size_t at = 0;
  for (int i = 4; i <= 600; ++i) {
    at = all.find("id: " + std::to_string(i) + '\n', at);
    ASSERT_NE(at, std::string::npos) << i;
  }
  EXPECT_EQ(all.find("id: 3\n"), std::string::npos);
}

TEST_F(NoteFeedTest, AThreadThatChangedOftenIsToldOnce) {
  write("first");
  for (int i = 0; i < 30; ++i) {
    ASSERT_TRUE(std::holds_alternative<NoteThread>(
        store_.reply(1, {"Bob", false}, std::to_string(i) + std::string(60'000, 'x'))));
  }
  write("second");
  const auto news = std::get<NoteNews>(note_news(store_, 0, 1000));
  ASSERT_EQ(news.news.size(), 2U);
  EXPECT_EQ(news.news[0].change.seq, 31);
  EXPECT_EQ(news.news[0].thread.note_count, 31);
  EXPECT_LE(news.news[0].thread.notes.size(), 20U);
  EXPECT_EQ(news.upto, 32);
  NoteFeed late(store_);
  const auto stream = late.follow(0);
  next(*stream);
  std::string all;
  while (all.find("id: 32\n") == std::string::npos) all += next(*stream);
  EXPECT_LT(all.size(), 2'000'000U);
}

TEST_F(NoteFeedTest, ManyLongTextsComeInParts) {
  const std::string text(60'000, 'x');
  for (int i = 0; i < 80; ++i) write(store_, text);  // 4.8 MB
  std::int64_t at = 0;
  std::size_t threads = 0, answers = 0;
  for (; at < 80; ++answers) {
    const auto news = std::get<NoteNews>(note_news(store_, at, 1000));
    ASSERT_GT(news.upto, at);
    at = news.upto;
    threads += news.news.size();
    EXPECT_LE(news.news.size(), 75U);
  }
  EXPECT_EQ(threads, 80U);
  EXPECT_GE(answers, 2U);
  feed_.changed();
  const auto stream = feed_.follow(0);
  next(*stream);
  std::string all;
  while (all.find("id: 80\n") == std::string::npos) {
    const std::string part = next(*stream);
    EXPECT_LT(part.size(), 500'000U);
    all += part;
  }
  for (int i = 1; i <= 80; ++i) {
    EXPECT_THAT(all, HasSubstr("id: " + std::to_string(i) + '\n'));
  }
}

TEST_F(NoteFeedTest, AnErrorOfTheFileLosesNoChange) {
  const auto stream = feed_.follow(0);
  next(*stream);
  write(store_, "one");
  sql("ALTER TABLE threads RENAME TO away");
  feed_.changed();
  EXPECT_THAT(next(*feed_.follow(0)), HasSubstr("retry"));
  sql("ALTER TABLE away RENAME TO threads");
  EXPECT_THAT(next(*stream), HasSubstr("\"one\""));
}

TEST_F(NoteFeedTest, WhatAnotherServerWritesIsSeen) {
  const auto stream = feed_.follow(0);
  next(*stream);
  NoteStore other(options());
  write(other, "from elsewhere");
  EXPECT_THAT(next(*stream), HasSubstr("from elsewhere"));
}

TEST_F(NoteFeedTest, AnOlderFileInItsPlaceIsSaid) {
  write("one");
  write("two");
  const auto stream = feed_.follow(2);
  next(*stream);
  for (const char* end : {"", "-wal", "-shm"}) {
    std::filesystem::remove(options().path.string() + end);
  }
  write("new");
  EXPECT_THAT(next(*stream), HasSubstr("event: reset"));
  const auto far = feed_.follow(77);
  next(*far);
  EXPECT_THAT(next(*far), HasSubstr("event: reset"));
}

TEST_F(NoteFeedTest, FollowersAreBoundedAndEnd) {
  std::vector<std::shared_ptr<ReplyStream>> all;
  for (std::size_t i = 0; i < NoteFeed::kMostFollowers; ++i) all.push_back(feed_.follow(0));
  EXPECT_NE(all.back(), nullptr);
  EXPECT_EQ(feed_.follow(0), nullptr);
  all.pop_back();
  EXPECT_NE(feed_.follow(0), nullptr);
  feed_.stop();
  std::string bytes;
  next(*all[0]);
  EXPECT_FALSE(all[0]->next(bytes));
  EXPECT_EQ(feed_.follow(0), nullptr);
}

}  // namespace
}  // namespace traceglass
