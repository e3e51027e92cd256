// An index file gives back the trace it was made of, and nothing else gives a trace.
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "tb_backend/index/read.h"
#include "tb_backend/index/write.h"
#include "tests/handler/temporary_folder.h"
#include "tests/tb_backend/index/same.h"
#include "tests/tb_backend/index/support.h"

namespace traceglass::index {
namespace {

using namespace testing;
using libtrace::TemporaryFolder;
using libtrace::Trace;
using libtrace::TracePtr;

const Key kKey{1234, 5678, 0x1111, 0x2222};
const std::string kSource = "/traces/a.json";

std::string saved(const Trace& trace, const TemporaryFolder& folder,
                  const std::string& name = "made") {
  const auto path = folder.path() / name;
  std::filesystem::remove(path);
  EXPECT_EQ(write_index(path, kSource, kKey, trace, [] { return true; }), "");
  return bytes_of(path);
}

Opened open_bytes(const std::string& bytes, const TemporaryFolder& folder) {
  put_bytes(folder.path() / "bytes", bytes);
  return open_index(folder.path() / "bytes", kSource, kKey);
}

TEST(IndexFile, GivesBackEveryColumn) {
  const TemporaryFolder folder;
  for (unsigned seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE(seed);
    for (const TracePtr& trace : {full_trace(seed), libtrace::testing::Generator(seed).trace()}) {
      const Opened opened = open_bytes(saved(*trace, folder), folder);
      ASSERT_TRUE(opened.trace) << opened.refusal;
      EXPECT_EQ(first_difference(*trace, *opened.trace), "");
      EXPECT_EQ(difference(*trace, *opened.trace), "");
      EXPECT_TRUE(opened.trace->data().start.is_view());
    }
  }
}

TEST(IndexFile, OfATraceOfNothing) {
  const TemporaryFolder folder;
  const TracePtr trace = libtrace::TraceBuilder().finish();
  const Opened opened = open_bytes(saved(*trace, folder), folder);
  ASSERT_TRUE(opened.trace) << opened.refusal;
  EXPECT_EQ(first_difference(*trace, *opened.trace), "");
}

TEST(IndexFile, OfATraceFromAnIndexIsTheSameFile) {
  const TemporaryFolder folder;
  const std::string bytes = saved(*full_trace(7), folder);
  const Opened opened = open_bytes(bytes, folder);
  ASSERT_TRUE(opened.trace);
  EXPECT_EQ(saved(*opened.trace, folder, "again"), bytes);
}

TEST(IndexFile, StaysMappedWhenItsNameGoes) {
  const TemporaryFolder folder;
  const TracePtr trace = full_trace(3);
  const Opened opened = open_bytes(saved(*trace, folder), folder);
  std::filesystem::remove(folder.path() / "bytes");
  EXPECT_EQ(first_difference(*trace, *opened.trace), "");
}

// One letter of the format's table each: what stands where FORMAT.md says.
TEST(IndexFile, HasTheBytesOfItsFormat) {
  const TemporaryFolder folder;
  const TracePtr trace = full_trace(1);
  const std::string bytes = saved(*trace, folder);
  EXPECT_EQ(bytes.substr(0, 8), "TGLASSIX");
  const auto number = [&](std::size_t at, std::size_t size) {
    std::uint64_t n = 0;
    for (std::size_t i = size; i-- > 0;) n = n << 8 | static_cast<unsigned char>(bytes[at + i]);
    return n;
  };
  EXPECT_EQ(number(8, 4), 1U);
  EXPECT_EQ(number(16, 8), bytes.size());
  EXPECT_EQ(number(24, 8), kMeaning);
  EXPECT_EQ(number(32, 8), 1234U);
  EXPECT_EQ(number(40, 8), 5678U);
  EXPECT_EQ(number(48, 8), 0x1111U);
  EXPECT_EQ(number(56, 8), 0x2222U);
  std::map<std::uint64_t, std::size_t> at;  // of each section, by id
  for (std::size_t i = 0; i < number(12, 4); ++i) {
    const std::size_t entry = 128 + 32 * i;
    at[number(entry, 4)] = number(entry + 8, 8);
  }
  EXPECT_EQ(bytes.substr(at[1], kSource.size()), kSource);
  for (libtrace::EventId e : {0U, 5U, 17U}) {
    EXPECT_EQ(number(at[16] + 8 * e, 8), static_cast<std::uint64_t>(trace->start(e)));
    EXPECT_EQ(number(at[19] + 4 * e, 4), trace->name_id(e));
    EXPECT_EQ(number(at[21] + 4 * e, 4), trace->parent(e));
    EXPECT_EQ(number(at[29] + 2 * e, 2), trace->flags(e));
    EXPECT_EQ(number(at[30] + e, 1), static_cast<std::uint64_t>(trace->kind(e)));
  }
  const libtrace::Instant& instant = trace->instants()[0];
  EXPECT_EQ(number(at[52], 8), static_cast<std::uint64_t>(instant.at));
  EXPECT_EQ(number(at[52] + 20, 4), static_cast<std::uint64_t>('C'));
  EXPECT_EQ(number(at[52] + 24, 8), instant.args);
  EXPECT_EQ(number(at[53], 8), static_cast<std::uint64_t>(-7));
  EXPECT_EQ(number(at[53] + 28, 4), 1U);
}

TEST(IndexFile, CutAnywhereIsRefused) {
  const TemporaryFolder folder;
  const std::string bytes = saved(*full_trace(2), folder);
  for (std::size_t size = 0; size < bytes.size(); size += size < 3000 ? 7 : 997) {
    const Opened opened = open_bytes(bytes.substr(0, size), folder);
    EXPECT_FALSE(opened.trace) << size;
    EXPECT_NE(opened.refusal, "") << size;
  }
  EXPECT_FALSE(open_bytes(bytes + '\0', folder).trace);
}

TEST(IndexFile, ChangedAnywhereIsRefusedOrMeansNothing) {
  const TemporaryFolder folder;
  const TracePtr trace = full_trace(2);
  const std::string bytes = saved(*trace, folder);
  std::mt19937 random(1);
  for (int round = 0; round < 3000; ++round) {
    std::string changed = bytes;
    const std::size_t at = round < 1500 ? static_cast<std::size_t>(round) : random() % bytes.size();
    changed[at] = static_cast<char>(changed[at] ^ (1 << random() % 8));
    const Opened opened = open_bytes(changed, folder);
    if (opened.trace) {
      ASSERT_EQ(first_difference(*trace, *opened.trace), "") << at;  // between two sections
    }
  }
}

TEST(IndexFile, OfAnotherContentFileOrProgramIsRefused) {
  const TemporaryFolder folder;
  const std::string bytes = saved(*full_trace(4), folder);
  const auto made = folder.path() / "made";
  for (const Key& key : {Key{1235, 5678, 0x1111, 0x2222}, Key{1234, 5679, 0x1111, 0x2222},
                         Key{1234, 5678, 0x1112, 0x2222}, Key{1234, 5678, 0x1111, 0x2223}}) {
    const Opened opened = open_index(made, kSource, key);
    EXPECT_FALSE(opened.trace);
    EXPECT_TRUE(opened.outdated);
  }
  const Opened other = open_index(made, "/traces/b.json", kKey);
  EXPECT_FALSE(other.trace);
  EXPECT_FALSE(other.outdated);
  for (const std::size_t at : {8U, 24U}) {  // version, meaning
    std::string older = bytes;
    ++older[at];
    sign(older);
    const Opened opened = open_bytes(older, folder);
    EXPECT_FALSE(opened.trace);
    EXPECT_TRUE(opened.outdated);
  }
}

TEST(IndexFile, ThatOthersMayWriteOrThatIsALinkIsRefused) {
  const TemporaryFolder folder;
  saved(*full_trace(4), folder);
  const auto made = folder.path() / "made";
  ASSERT_TRUE(open_index(made, kSource, kKey).trace);
  ::chmod(made.c_str(), 0620);
  EXPECT_FALSE(open_index(made, kSource, kKey).trace);
  ::chmod(made.c_str(), 0400);
  std::filesystem::create_symlink(made, folder.path() / "link");
  EXPECT_FALSE(open_index(folder.path() / "link", kSource, kKey).trace);
  EXPECT_FALSE(open_index(folder.path(), kSource, kKey).trace);
  const Opened none = open_index(folder.path() / "none", kSource, kKey);
  EXPECT_FALSE(none.trace);
  EXPECT_EQ(none.refusal, "");
}

// Looks at everything; a sanitizer says when it looked where nothing is.
std::size_t walk(const Trace& trace) {
  std::size_t seen = 0;
  std::vector<Trace::Arg> args;
  const auto look = [&](std::uint32_t at) {
    trace.args_at(at, args);
    for (const auto& [key, value] : args) seen += key.size() + value.text.size();
  };
  for (libtrace::EventId e = 0; e < trace.size(); ++e) {
    seen += trace.name(e).size() + trace.category(e).size() + trace.lanes()[trace.lane_of(e)].last;
    look(trace.data().args[e]);
    for (const auto link : {trace.parent(e), trace.launch(e), trace.owner(e), trace.anchor(e)}) {
      if (link != libtrace::kNone) seen += trace.name(link).size();
    }
    int up = 0;
    for (auto p = trace.parent(e); p != libtrace::kNone; p = trace.parent(p)) ++up;
    EXPECT_EQ(up, trace.depth(e));
    EXPECT_LT(trace.end(e) - trace.start(e), INT64_MAX);
  }
  for (const auto& i : trace.instants()) {
    seen += trace.text(i.name).size() + trace.lanes()[i.lane].pid.size();
    look(i.args);
  }
  for (const auto& f : trace.flows()) seen += trace.text(f.name).size() + (f.begin ? 1 : 0);
  for (const auto& m : trace.memory())
    seen += m.op != libtrace::kNone ? trace.name(m.op).size() : 0;
  return seen;
}

// Somebody who writes files with right hashes: no crash, and what is taken keeps a Trace's
// promises.
TEST(IndexFile, OfHostileContentIsRefusedOrHarmless) {
  const TemporaryFolder folder;
  const std::string bytes = saved(*full_trace(5), folder);
  std::mt19937 random(9);
  const std::uint64_t kOdd[] = {0,          1,          2,          0x7F,       0x80,
                                0xFF,       0xFFFF,     0x7FFFFFFF, 0xFFFFFFFE, 0xFFFFFFFF,
                                1ULL << 61, 1ULL << 62, 1ULL << 63, ~0ULL};
  int taken = 0;
  for (int round = 0; round < 4000; ++round) {
    std::string changed = bytes;
    const std::vector<SectionEntry> table = table_of(bytes);
    for (int i = 0; i < 1 + round % 3; ++i) {
      const bool in_table = random() % 8 == 0;
      const SectionEntry& entry = table[random() % table.size()];
      const std::size_t size = entry.count * entry.element_bytes;
      const std::size_t width = in_table ? 8 : std::min<std::size_t>(8, entry.element_bytes);
      if (size == 0) continue;
      const std::size_t at = in_table ? sizeof(Header) + 8 * (random() % (table.size() * 4))
                                      : entry.offset + random() % entry.count * entry.element_bytes;
      const std::uint64_t odd = random() % 2 == 0 ? kOdd[random() % std::size(kOdd)] : random();
      std::memcpy(changed.data() + at, &odd, width);
    }
    sign(changed);
    const Opened opened = open_bytes(changed, folder);
    if (!opened.trace) continue;
    ++taken;
    walk(*opened.trace);
  }
  EXPECT_GT(taken, 100);  // a name for another name is no harm
}

TEST(IndexFile, ThatIsGivenUpLeavesNothing) {
  const TemporaryFolder folder;
  const TracePtr trace = full_trace(4);
  for (int blocks = 0; blocks < 10; ++blocks) {
    int asked = 0;
    EXPECT_EQ(write_index(folder.path() / "made", kSource, kKey, *trace,
                          [&] { return asked++ < blocks; }),
              "given up");
    EXPECT_TRUE(folder.names().empty());
  }
}

TEST(IndexFile, DoesNotWriteOverAnother) {
  const TemporaryFolder folder;
  put_bytes(folder.path() / "made", "mine");
  EXPECT_NE(write_index(folder.path() / "made", kSource, kKey, *full_trace(4), [] { return true; }),
            "");
  EXPECT_EQ(bytes_of(folder.path() / "made"), "mine");
}

}  // namespace
}  // namespace traceglass::index
