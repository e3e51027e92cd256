// A recording replayed gives the rows that were made live; the file survives itself and its
// enemies.
#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "libtrace/cupti/decode.h"
#include "libtrace/cupti/device_info.h"
#include "libtrace/cupti/rows.h"
#include "tests/cupti_replay/replay_file.h"
#include "tests/handler/temporary_folder.h"
#include "tests/libtrace/cupti/recorded.h"

namespace libtrace::cupti {
namespace {

namespace fs = std::filesystem;
using cupti_replay::Block;
using cupti_replay::Replay;
using cupti_replay::ReplayFile;

std::string read(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

// All of a file's events, whatever window they were in; times as written.
TracePtr replay(const ReplayFile& file) {
  Replay replayed(file);
  EventLog log;
  for (Block& block : replayed.blocks()) {
    decode(replayed.api(), block.bytes.data(), block.bytes.size(), log);
  }
  EXPECT_EQ(log.losses.unreadable, 0U);
  TraceBuilder builder;
  const ClockMap clock({.ticks = 0, .unix_ns = 0}, {.ticks = 0, .unix_ns = 0}, 1.0);
  const detail::DeviceFrame frame{.clock = clock,
                                  .stop_ticks = std::uint64_t{1} << 62,
                                  .pid = builder.intern("4711"),
                                  .user_scopes = {}};
  const std::vector<DeviceInfo> none;
  const auto rows = make_rows(log, none, false, builder, frame);
  while (rows->head() != nullptr) rows->add_head();
  return builder.finish();
}

// Rows as text, in order: what of a trace does not depend on the clock.
std::vector<std::string> texts(const Trace& t) {
  std::vector<EventId> order(t.size());
  for (EventId e = 0; e < t.size(); ++e) order[t.order(e)] = e;
  std::vector<std::string> rows;
  for (const EventId e : order) {
    const Lane& lane = t.lanes()[t.lane_of(e)];
    rows.push_back(lane.pid + "/" + lane.tid + " " + std::string(t.category(e)) + " " +
                   std::string(t.name(e)) + " " +
                   std::to_string(t.int_arg(e, "correlation").value_or(-1)) + " " +
                   std::to_string(t.int_arg(e, "graph node id").value_or(-1)));
  }
  return rows;
}

TEST(Replay, GivesTheRowsThatWereMadeLive) {
  Fake fake;
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "run.cupti";
  setenv("LIBTRACE_CUPTI_REAL", fake.options.cupti_library.c_str(), 1);
  setenv("LIBTRACE_CUPTI_RECORD", path.c_str(), 1);
  fake.options.cupti_library = CUPTI_RECORD_LIBRARY;
  Window window(fake, {.sync_events = true, .profile_memory = true});
  const TracePtr live = window.record(fake,
                                      "launch kernel=first\nmemcpy\npeer\nmemset\nsplit\n"
                                      "graph nodes=3 kernel=second\nsync type=4\nrecord\n"
                                      "overhead\nalloc\nfree\n");
  window.source().release();
  ReplayFile file;
  ASSERT_EQ(from_bytes(read(path), file), "");
  EXPECT_EQ(file.version, 130001U);
  EXPECT_GE(file.blocks.size(), 2U);
  const TracePtr replayed = replay(file);
  EXPECT_GT(live->size(), 15U);
  EXPECT_EQ(texts(*replayed), texts(*live));
  EXPECT_EQ(replayed->memory().size(), live->memory().size());
}

TEST(Replay, AFileIsReadAsItWasWritten) {
  ReplayFile file;
  file.version = 130001;
  file.sizes = {{10, 216}, {5, 40}};
  file.callbacks[{2, 211}] = file.intern("cudaLaunchKernel_v7000");
  file.blocks.push_back({{1, 2, 3, 4, 5, 6, 7, 8, 9}, {{1, file.intern("k")}}});
  file.blocks.emplace_back();
  const std::string bytes = to_bytes(file);
  ReplayFile back;
  ASSERT_EQ(from_bytes(bytes, back), "");
  EXPECT_EQ(to_bytes(back), bytes);
  EXPECT_EQ(back.strings, file.strings);
}

TEST(Replay, ADamagedFileIsRefused) {
  ReplayFile file;
  file.sizes = {{10, 216}};
  file.callbacks[{2, 211}] = file.intern("a");
  file.blocks.push_back({{1, 2, 3, 4, 5, 6, 7, 8, 9}, {{1, file.intern("k")}}});
  const std::string bytes = to_bytes(file);
  ReplayFile back;
  for (std::size_t n = 0; n < bytes.size(); ++n) {
    EXPECT_NE(from_bytes(bytes.substr(0, n), back), "") << n;
  }
  EXPECT_EQ(from_bytes(bytes + "x", back), "bytes behind the end");
  for (std::size_t i = 8; i < bytes.size(); ++i) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x55);
    from_bytes(damaged, back);  // an answer, whichever
  }
  file.callbacks[{2, 212}] = 99;
  EXPECT_EQ(from_bytes(to_bytes(file), back), "a callback without a name");
  file.callbacks.clear();
  file.blocks[0].pointers = {{2, 0}};
  EXPECT_EQ(from_bytes(to_bytes(file), back), "a pointer off its block");
}

// Recordings of real devices, as they come in.
TEST(Replay, EveryRecordingInTheFolderHasItsWorkLinked) {
  for (const auto& entry : fs::directory_iterator(CUPTI_RECORDINGS)) {
    if (entry.path().extension() != ".cupti") continue;
    SCOPED_TRACE(entry.path());
    ReplayFile file;
    ASSERT_EQ(from_bytes(read(entry.path()), file), "");
    const TracePtr trace = replay(file);
    EXPECT_GT(trace->size(), 0U);
    for (EventId e = 0; e < trace->size(); ++e) {
      if (!is_device_work(trace->kind(e))) continue;
      ASSERT_NE(trace->launch(e), kNone) << trace->name(e);
      EXPECT_GE(trace->start(e), trace->start(trace->launch(e)));
    }
  }
}

}  // namespace
}  // namespace libtrace::cupti
