#include "tb_backend/review/note_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <thread>

#include "tests/tb_backend/logdir/temp_dir.h"

namespace traceglass {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Kind = NoteError::Kind;

const NoteAuthor kAnn{"Ann", false}, kBob{"Bob", false};

NoteAnchor at(const std::string& label, const std::string& run = "run") {
  NoteAnchor anchor;
  anchor.kind = "event";
  anchor.run = run;
  anchor.label = label;
  anchor.view = "trace";
  anchor.start_ns = 5;
  anchor.base_ns = -7;
  anchor.occurrence = 2;
  anchor.among = 3;
  return anchor;
}

class NoteStoreTest : public ::testing::Test {
 protected:
  NoteStore::Options options() {
    return {folder_.path() / "a" / "notes.db", std::int64_t{1} << 30U, [this] { return ++now_; }};
  }
  NoteStore& store() {
    if (!store_) store_ = std::make_unique<NoteStore>(options());
    return *store_;
  }
  NoteThread started(const std::string& text, const NoteAnchor& anchor = at("aten::mm"),
                     const NoteAuthor& author = kAnn) {
    auto result = store().start(anchor, author, text);
    EXPECT_TRUE(std::holds_alternative<NoteThread>(result)) << sentence(result);
    return std::get<NoteThread>(result);
  }
  template <typename T>
  static std::string sentence(const NoteResult<T>& result) {
    const auto* error = std::get_if<NoteError>(&result);
    return error == nullptr ? "" : error->sentence;
  }
  template <typename T>
  static Kind kind(const NoteResult<T>& result) {
    return std::get<NoteError>(result).kind;
  }
  NotePage page(const NoteFilter& filter = {}) { return std::get<NotePage>(store().list(filter)); }
  std::vector<std::string> texts(const NoteFilter& filter = {}) {
    std::vector<std::string> out;
    for (const NoteThread& thread : page(filter).threads) out.push_back(thread.notes[0].text);
    return out;
  }
  void sql(const char* statement) {
    sqlite3* db = nullptr;
    ASSERT_EQ(sqlite3_open(options().path.c_str(), &db), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(db, statement, nullptr, nullptr, nullptr), SQLITE_OK) << statement;
    sqlite3_close(db);
  }

  testing::TempDir folder_;
  std::atomic<std::int64_t> now_ = 1000;
  std::unique_ptr<NoteStore> store_;
};

TEST_F(NoteStoreTest, LookingMakesNoFile) {
  EXPECT_EQ(page().total, 0);
  EXPECT_EQ(store().obstacle(), "");
  EXPECT_EQ(std::get<std::int64_t>(store().last_change()), 0);
  EXPECT_EQ(kind(store().find(1)), Kind::kNotFound);
  EXPECT_FALSE(std::filesystem::exists(options().path.parent_path()));
}

TEST_F(NoteStoreTest, AThreadComesBackAsItWasPinned) {
  const NoteThread thread = started("slow\nhere");
  store_.reset();
  const auto again = std::get<NoteThread>(store().find(thread.id));
  EXPECT_EQ(again.anchor, at("aten::mm"));
  EXPECT_EQ(again.notes[0].text, "slow\nhere");
  EXPECT_EQ(again.notes[0].author, kAnn);
  EXPECT_EQ(again.notes[0].created_ms, 1001);
}

TEST_F(NoteStoreTest, RepliesEditsAndWhatStoodThere) {
  const NoteThread thread = started("one");
  const auto replied = std::get<NoteThread>(store().reply(thread.id, kBob, "two"));
  ASSERT_EQ(replied.notes.size(), 2U);
  const std::int64_t note = replied.notes[1].id;
  EXPECT_EQ(kind(store().edit(thread.id, note, kAnn, "mine now")), Kind::kNotYours);
  std::get<NoteThread>(store().edit(thread.id, note, kBob, "2"));
  std::get<NoteThread>(store().edit(thread.id, note, kBob, "II"));
  const auto edits = std::get<std::vector<NoteEdit>>(store().history(thread.id, note));
  ASSERT_EQ(edits.size(), 2U);
  EXPECT_EQ(edits[0].text, "two");
  EXPECT_EQ(edits[1].text, "2");
  EXPECT_LT(edits[0].written_ms, edits[1].written_ms);
  EXPECT_EQ(kind(store().reply(99, kBob, "x")), Kind::kNotFound);
  EXPECT_EQ(kind(store().edit(thread.id + 1, note, kBob, "x")), Kind::kNotFound);
}

TEST_F(NoteStoreTest, ATypedNameIsNotAVerifiedOne) {
  const NoteAuthor ann{"Ann", true};
  const NoteThread thread = started("by the proxy's Ann", at("x"), ann);
  EXPECT_EQ(kind(store().edit(thread.id, thread.notes[0].id, kAnn, "x")), Kind::kNotYours);
  EXPECT_EQ(kind(store().remove(thread.id, thread.notes[0].id, kAnn)), Kind::kNotYours);
  EXPECT_EQ(sentence(store().edit(thread.id, thread.notes[0].id, ann, "y")), "");
}

TEST_F(NoteStoreTest, RemovedTextIsGoneEverywhere) {
  const NoteThread thread = started("pass-word-one");
  std::get<NoteThread>(store().edit(thread.id, thread.notes[0].id, kAnn, "pass-word-two"));
  const auto removed = std::get<NoteThread>(store().remove(thread.id, thread.notes[0].id, kAnn));
  EXPECT_EQ(removed.notes[0].text, "");
  EXPECT_TRUE(removed.notes[0].removed_ms);
  EXPECT_EQ(kind(store().history(thread.id, thread.notes[0].id)), Kind::kNotFound);
  NoteFilter filter;
  filter.text = "pass-word";
  EXPECT_THAT(texts(filter), ElementsAre());
}

TEST_F(NoteStoreTest, ResolvedAndOpenAgain) {
  const NoteThread thread = started("one");
  started("other");
  std::get<NoteThread>(store().resolve(thread.id, kBob, true));
  NoteFilter filter;
  filter.resolved = false;
  EXPECT_THAT(texts(filter), ElementsAre("other"));
  filter.resolved = true;
  EXPECT_THAT(texts(filter), ElementsAre("one"));
  EXPECT_EQ(page(filter).threads[0].resolved_by, "Bob");
  std::get<NoteThread>(store().resolve(thread.id, kAnn, false));
  EXPECT_EQ(page(filter).total, 0);
}

TEST_F(NoteStoreTest, ListedByLastChangeAPageAtATime) {
  std::vector<std::int64_t> ids;
  for (const char* text : {"a", "b", "c", "d", "e"}) ids.push_back(started(text).id);
  std::get<NoteThread>(store().reply(ids[1], kBob, "again"));
  NoteFilter filter;
  filter.limit = 2;
  EXPECT_THAT(texts(filter), ElementsAre("b", "e"));
  filter.before = page(filter).next;
  EXPECT_THAT(texts(filter), ElementsAre("d", "c"));
  filter.before = page(filter).next;
  EXPECT_THAT(texts(filter), ElementsAre("a"));
  EXPECT_EQ(page(filter).next, 0);
  EXPECT_EQ(page(filter).total, 5);
}

TEST_F(NoteStoreTest, Filters) {
  started("a", at("x", "one"));
  started("b", at("y", "two"), kBob);
  std::get<NoteThread>(store().reply(1, kBob, "me too"));
  NoteFilter by_run, by_author, nobody;
  by_run.run = "two";
  EXPECT_THAT(texts(by_run), ElementsAre("b"));
  by_author.author = "Bob";
  EXPECT_THAT(texts(by_author), ElementsAre("a", "b"));
  nobody.author = "' OR 1=1 --";
  EXPECT_THAT(texts(nobody), ElementsAre());
}

TEST_F(NoteStoreTest, SearchFindsPartsOfWordsInTextNameAndLabel) {
  started("the Schedule starves", at("void cutlass::Kernel<cutlass_80_tensorop>"));
  started("100% of \"it\" is späte Arbeit", at("aten::copy_"), kBob);
  const auto found = [&](const std::string& text) {
    NoteFilter filter;
    filter.text = text;
    return page(filter).total;
  };
  EXPECT_EQ(found("schedule"), 1);
  EXPECT_EQ(found("CHED starve"), 1);
  EXPECT_EQ(found("schedule späte"), 0);
  EXPECT_EQ(found("tensorop>"), 1);
  EXPECT_EQ(found("spät"), 1);
  EXPECT_EQ(found("\"it\""), 1);
  EXPECT_EQ(found("0%"), 1);
  EXPECT_EQ(found("%"), 1);
  EXPECT_EQ(found("_"), 2);
  EXPECT_EQ(found("bob"), 1);
  EXPECT_EQ(found("\" OR text:"), 0);
  EXPECT_EQ(found("  "), 2);
  EXPECT_EQ(found("a* NEAR("), 0);
  EXPECT_EQ(found(std::string("bob\0\x01", 5)), 1);
}

TEST_F(NoteStoreTest, ANameAloneIsAFileOfTheFolderOfNow) {
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder_.path());
  NoteStore here({"notes.db", 1 << 30, {}});
  EXPECT_EQ(here.obstacle(), "");
  EXPECT_EQ(sentence(here.start(at("x"), kAnn, "x")), "");
  EXPECT_EQ(sentence(here.reply(1, kAnn, "y")), "");
  std::filesystem::current_path(before);
}

TEST_F(NoteStoreTest, ChangesAreNumberedWithoutGaps) {
  const NoteThread thread = started("one");
  std::get<NoteThread>(store().reply(thread.id, kBob, "two"));
  std::get<NoteThread>(store().edit(thread.id, thread.notes[0].id, kAnn, "one"));  // the same
  std::get<NoteThread>(store().resolve(thread.id, kAnn, true));
  const auto changes = std::get<std::vector<NoteChange>>(store().changes_after(1, 10));
  ASSERT_EQ(changes.size(), 2U);
  EXPECT_EQ(changes[0].seq, 2);
  EXPECT_EQ(changes[0].what, "replied");
  EXPECT_EQ(changes[1].seq, 3);
  EXPECT_EQ(changes[1].what, "resolved");
  EXPECT_EQ(std::get<std::int64_t>(store().last_change()), 3);
}

TEST_F(NoteStoreTest, ALongThreadShowsItsFirstAndItsNewest) {
  const NoteThread thread = started("first");
  for (int i = 0; i < 50; ++i) {
    std::get<NoteThread>(store().reply(thread.id, kBob, std::to_string(i)));
  }
  const NoteThread listed = page().threads[0];
  EXPECT_EQ(listed.note_count, 51);
  ASSERT_EQ(listed.notes.size(), 20U);
  EXPECT_EQ(listed.notes[0].text, "first");
  EXPECT_EQ(listed.notes[1].text, "31");
  EXPECT_EQ(listed.notes[19].text, "49");
  EXPECT_EQ(std::get<NoteThread>(store().find(thread.id)).notes.size(), 51U);
}

TEST_F(NoteStoreTest, LongTextsAreReadInParts) {
  const std::string text(60'000, 'x');
  const NoteThread thread = started("first");
  for (int i = 0; i < 160; ++i) {
    const auto answer = std::get<NoteThread>(store().reply(thread.id, kBob, text));
    EXPECT_LE(answer.notes.size(), 20U);
  }
  EXPECT_LE(page().threads[0].notes.size(), 6U);
  // Back through it: each part is bounded, none of the notes is missing.
  std::int64_t before = INT64_MAX;
  std::size_t seen = 1;
  while (true) {
    const auto part = std::get<NoteThread>(store().find(thread.id, before));
    EXPECT_EQ(part.notes[0].text, "first");
    EXPECT_LE(part.notes.size(), 140U);
    if (part.notes.size() == 1) break;
    seen += part.notes.size() - 1;
    before = part.notes[1].id;
  }
  EXPECT_EQ(seen, 161U);
  // And on.
  std::int64_t last = 0;
  seen = 0;
  while (true) {
    const auto part = std::get<std::vector<Note>>(store().notes_after(thread.id, last, 200'000));
    if (part.empty()) break;
    EXPECT_LE(part.size(), 5U);
    seen += part.size();
    last = part.back().id;
  }
  EXPECT_EQ(seen, 161U);
}

TEST_F(NoteStoreTest, APageOfLongThreadsEndsEarly) {
  const std::string text(60'000, 'x');
  for (int i = 0; i < 37; ++i) {
    const NoteThread thread = started(text);
    for (int k = 0; k < 3; ++k) std::get<NoteThread>(store().reply(thread.id, kBob, text));
  }
  NoteFilter filter;
  filter.limit = 500;
  const NotePage first = page(filter);
  EXPECT_EQ(first.total, 37);
  EXPECT_LT(first.threads.size(), 37U);
  filter.before = first.next;
  EXPECT_EQ(first.threads.size() + page(filter).threads.size(), 37U);
}

TEST_F(NoteStoreTest, TwoServersSeeEachOther) {
  started("one");
  NoteStore other(options());
  const std::int64_t before = other.version();
  started("two");
  EXPECT_NE(other.version(), before);
  EXPECT_EQ(std::get<NotePage>(other.list({})).total, 2);
  std::get<NoteThread>(other.start(at("z"), kBob, "three"));
  EXPECT_THAT(texts(), ElementsAre("three", "two", "one"));
}

TEST_F(NoteStoreTest, ManyWriteAtOnceAndNoneIsLost) {
  constexpr int kThreads = 4, kEach = 25;
  std::vector<std::thread> threads;
  NoteStore& own = store();
  NoteStore other(options());
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      NoteStore& mine = t % 2 == 0 ? own : other;
      for (int i = 0; i < kEach; ++i) {
        EXPECT_EQ(sentence(mine.start(at("x"), kAnn, std::to_string(t))), "");
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(page().total, kThreads * kEach);
  EXPECT_EQ(std::get<std::int64_t>(store().last_change()), kThreads * kEach);
}

TEST_F(NoteStoreTest, AReplacedFileIsSeen) {
  started("one");
  std::filesystem::remove_all(options().path.parent_path());
  EXPECT_EQ(page().total, 0);
  started("two");
  EXPECT_THAT(texts(), ElementsAre("two"));
}

TEST_F(NoteStoreTest, NoPlaceAtAll) {
  NoteStore nowhere({});
  EXPECT_EQ(std::get<NotePage>(nowhere.list({})).total, 0);
  EXPECT_EQ(kind(nowhere.start(at("x"), kAnn, "x")), Kind::kReadOnly);
  EXPECT_THAT(nowhere.obstacle(), HasSubstr("--notes"));
}

TEST_F(NoteStoreTest, AFullFileSaysSoAndKeepsWhatIsThere) {
  NoteStore::Options small = options();
  small.largest_bytes = 400 << 10U;
  store_ = std::make_unique<NoteStore>(small);
  const std::string text(60 << 10U, 'x');
  int written = 0;
  NoteResult<NoteThread> last = NoteThread{};
  for (; written < 100; ++written) {
    last = store().start(at("x"), kAnn, text);
    if (std::holds_alternative<NoteError>(last)) break;
  }
  ASSERT_LT(written, 100);
  EXPECT_EQ(kind(last), Kind::kFull);
  EXPECT_THAT(sentence(last), HasSubstr("full"));
  EXPECT_EQ(page().total, written);
}

TEST_F(NoteStoreTest, ALockedFileSaysSo) {
  started("one");
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(options().path.c_str(), &db), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(db, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr), SQLITE_OK);
  const auto refused = store().reply(1, kBob, "two");
  EXPECT_EQ(kind(refused), Kind::kLocked);
  EXPECT_THAT(sentence(refused), HasSubstr("locked"));
  EXPECT_THAT(texts(), ElementsAre("one"));  // reading goes on
  sqlite3_close(db);
  EXPECT_EQ(sentence(store().reply(1, kBob, "two")), "");
}

TEST_F(NoteStoreTest, WhatIsNoNotesFileIsLeftAsItIs) {
  std::filesystem::create_directories(options().path.parent_path());
  for (const std::string& content : {std::string(5000, 'x'), std::string("SQLite format 3")}) {
    std::ofstream(options().path) << content;
    store_.reset();
    EXPECT_EQ(kind(store().list({})), Kind::kBroken);
    EXPECT_EQ(kind(store().start(at("x"), kAnn, "x")), Kind::kBroken);
    EXPECT_THAT(store().obstacle(), HasSubstr("--notes"));
    std::ifstream file(options().path);
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), content);
  }
}

TEST_F(NoteStoreTest, AnotherProgramsDatabaseIsRefused) {
  std::filesystem::create_directories(options().path.parent_path());
  sql("CREATE TABLE notes(id)");
  EXPECT_THAT(sentence(store().start(at("x"), kAnn, "x")), HasSubstr("another program"));
  EXPECT_THAT(sentence(store().list({})), HasSubstr("another program"));
  // Nor is it written another way from now on: bytes 18 and 19 say how.
  std::ifstream file(options().path);
  const std::string content(std::istreambuf_iterator<char>(file), {});
  EXPECT_EQ(content.substr(18, 2), "\1\1");
}

TEST_F(NoteStoreTest, ALinkIsNotFollowed) {
  std::filesystem::create_directories(options().path.parent_path());
  std::filesystem::create_symlink(folder_.path() / "elsewhere.db", options().path);
  EXPECT_NE(sentence(store().start(at("x"), kAnn, "x")), "");
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "elsewhere.db"));
}

TEST_F(NoteStoreTest, ANewerFileIsRefused) {
  started("one");
  sql("PRAGMA user_version=9");
  store_.reset();
  EXPECT_THAT(sentence(store().list({})), HasSubstr("newer Traceglass"));
}

TEST_F(NoteStoreTest, AFileLeftEmptyIsFilled) {
  std::filesystem::create_directories(options().path.parent_path());
  std::ofstream(options().path) << "";
  EXPECT_EQ(page().total, 0);
  started("one");
  EXPECT_EQ(page().total, 1);
}

TEST_F(NoteStoreTest, AReadOnlyFolderIsRead) {
  started("one");
  store_.reset();
  const auto folder = options().path.parent_path();
  ::chmod(folder_.path().c_str(), 0755);
  ::chmod(folder.c_str(), 0555);
  const uid_t user = ::geteuid();
  if (user == 0) {  // nothing is read-only to root
    ASSERT_EQ(::seteuid(65534), 0);
  }
  EXPECT_THAT(texts(), ElementsAre("one"));
  EXPECT_EQ(kind(store().start(at("x"), kAnn, "x")), Kind::kReadOnly);
  EXPECT_THAT(store().obstacle(), HasSubstr("--notes"));
  NoteStore elsewhere({folder_.path() / "none" / "notes.db", 1 << 30, {}});
  EXPECT_THAT(user == 0 ? elsewhere.obstacle() : "--notes", HasSubstr("--notes"));
  if (user == 0) {
    ASSERT_EQ(::seteuid(user), 0);
  }
  ::chmod(folder.c_str(), 0755);
}

}  // namespace
}  // namespace traceglass
