#include "tb_backend/timeline/tiles.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "tb_backend/timeline/tile_encoder.h"
#include "tb_backend/timeline/timeline.h"
#include "tests/tb_backend/timeline/trace_maker.h"

namespace traceglass {
namespace {

using libtrace::EventId;
using testing::TraceMaker;

TEST(Tiles, WideSlicesStandAloneAndNarrowOnesFold) {
  TraceMaker m;
  m.slice("kernel", "a", 1000, 10, "0", "7");
  m.slice("kernel", "b", 1020, 20, "0", "7");
  m.slice("kernel", "c", 1050, 300, "0", "7");
  m.slice("kernel", "d", 1400, 10, "0", "7");
  const Timeline t(m.finish());
  const auto tile = t.tile(0, 8, 0);  // buckets of 256 ns from 1000
  ASSERT_EQ(tile.size(), 3U);

  EXPECT_EQ(tile[0].count, 2U);
  EXPECT_EQ(tile[0].flags, tile_flag::kFolded);
  EXPECT_EQ(tile[0].start, 0U);
  EXPECT_EQ(tile[0].end, 40U);  // 1/256 of 256 ns
  EXPECT_EQ(tile[0].id, 1U);
  EXPECT_EQ(tile[0].covered_ns, 30);
  EXPECT_EQ(tile[0].busy, 191);  // 30/40 of 255

  EXPECT_EQ(tile[1].count, 1U);
  EXPECT_EQ(tile[1].id, 2U);
  EXPECT_EQ(tile[1].start, 50U);
  EXPECT_EQ(tile[1].end, 350U);
  EXPECT_EQ(tile[1].busy, 255);
  EXPECT_EQ(tile[1].kind, 3);

  EXPECT_EQ(tile[2].count, 1U);  // alone in its bucket: itself
  EXPECT_EQ(tile[2].flags, 0);
}

TEST(Tiles, SlicesContinueOverTileEdges) {
  TraceMaker m;
  m.slice("kernel", "first", 0 + 1, 1, "0", "7");
  m.slice("kernel", "long", 1000, 5000, "0", "7");
  const Timeline t(m.finish());
  // k = 0: 1024 ns a tile, from 1.
  const auto left = t.tile(0, 0, 0);
  ASSERT_EQ(left.size(), 2U);
  EXPECT_EQ(left[1].flags, tile_flag::kContinuesRight);
  EXPECT_EQ(left[1].end, 1024U * 256);
  const auto middle = t.tile(0, 0, 2);
  ASSERT_EQ(middle.size(), 1U);
  EXPECT_EQ(middle[0].flags, tile_flag::kContinuesLeft | tile_flag::kContinuesRight);
  EXPECT_EQ(middle[0].start, 0U);
  const auto right = t.tile(0, 0, 5);
  ASSERT_EQ(right.size(), 1U);
  EXPECT_EQ(right[0].flags, tile_flag::kContinuesLeft);
  EXPECT_TRUE(t.tile(0, 0, 6).empty());
  EXPECT_TRUE(t.tile(0, 0, -1).empty());
}

TEST(Tiles, FlagsAndKinds) {
  TraceMaker m;
  m.kernel("ncclAllReduce", 100, 200, 50);
  m.slice("cpu_op", "DataLoader.x", 300, 10);
  m.builder().arg("finished", libtrace::Value::boolean(false));
  m.slice("cpu_op", "open", 400, 10);
  m.slice("cpu_op", "neg", 500, -5);
  const Timeline t(m.finish());
  std::map<std::string, TileSlice> by_name;
  for (const Group& g : t.groups()) {
    for (const TileSlice& s : t.tile(g.id, 0, 0)) {
      by_name[std::string(t.trace().text(s.name))] = s;
    }
  }
  EXPECT_EQ(by_name.at("ncclAllReduce").kind, 3 + 16);
  EXPECT_EQ(by_name.at("ncclAllReduce").flags, tile_flag::kLinked);
  EXPECT_EQ(by_name.at("cudaLaunchKernel").flags, tile_flag::kLinked);
  EXPECT_EQ(by_name.at("cudaLaunchKernel").kind, 2);
  EXPECT_EQ(by_name.at("DataLoader.x").kind, 1 + 32);
  EXPECT_EQ(by_name.at("open").flags, tile_flag::kUnfinished);
  EXPECT_EQ(by_name.at("neg").flags, tile_flag::kSuspect);
}

TEST(Tiles, WindowsOutsideTimeAreEmpty) {
  EXPECT_FALSE(TileWindow::of(0, 52, 2));
  EXPECT_FALSE(TileWindow::of(0, 52, INT64_MAX));
  EXPECT_FALSE(TileWindow::of(0, 0, INT64_MIN));
  EXPECT_FALSE(TileWindow::of(0, -1, 0));
  EXPECT_FALSE(TileWindow::of(0, 53, 0));
  EXPECT_TRUE(TileWindow::of(0, 52, 0));
  EXPECT_TRUE(TileWindow::of(0, 52, -1));
  TraceMaker m;
  m.slice("cpu_op", "a", 1, 1);
  EXPECT_TRUE(Timeline(m.finish()).tile(0, 52, INT64_MAX).empty());
}

// The laws: at every zoom, over all tiles of a row, covered time is the union of its slices and
// every slice is counted once; a tile holds at most 2·1024 + 1 slices a row, in order.
void expect_laws(const Timeline& t, int k) {
  const libtrace::Trace& trace = t.trace();
  std::int64_t first = INT64_MAX;
  std::int64_t last = INT64_MIN;
  for (EventId e = 0; e < trace.size(); ++e) {
    first = std::min(first, trace.start(e));
    last = std::max({last, trace.start(e), trace.end(e)});
  }
  const std::int64_t origin = trace.range().start;
  const std::int64_t width = kBuckets << k;
  const auto tile_of = [&](std::int64_t time) {  // rounds down
    const std::int64_t d = time - origin;
    return d >= 0 ? d / width : -((-d + width - 1) / width);
  };
  for (const Group& g : t.groups()) {
    std::vector<std::int64_t> covered(g.rows.size());
    std::vector<std::size_t> count(g.rows.size());
    std::vector<int> exact(trace.size());
    for (std::int64_t i = tile_of(first) - 1; i <= tile_of(last) + 1; ++i) {
      std::vector<std::size_t> in_row(g.rows.size());
      const auto tile = t.tile(g.id, k, i);
      for (std::size_t j = 0; j < tile.size(); ++j) {
        const TileSlice& s = tile[j];
        covered[s.row] += s.covered_ns;
        ++in_row[s.row];
        const bool from_left = (s.flags & tile_flag::kContinuesLeft) != 0;
        if (!from_left) count[s.row] += s.count;
        EXPECT_LE(s.start, s.end);
        EXPECT_LE(s.end, 1024U * 256);
        EXPECT_EQ(t.place(s.id).row, s.row);
        EXPECT_EQ((s.flags & tile_flag::kFolded) != 0, s.count > 1);
        if (s.count == 1) {
          EXPECT_EQ(s.busy, 255);
        } else if (s.end > s.start) {
          EXPECT_FALSE(from_left);
          const double extent = static_cast<double>(s.end - s.start);
          const double units =
              static_cast<double>(s.covered_ns) * 256 / static_cast<double>(1LL << k);
          EXPECT_NEAR(s.busy / 255.0, units / extent, 1.0 / 255 + 1.0 / extent);
        }
        if (j > 0 && tile[j - 1].row == s.row) {
          EXPECT_LE(tile[j - 1].start, s.start);
        }
        if (j > 0) {
          EXPECT_LE(tile[j - 1].row, s.row);
        }
      }
      for (const std::size_t n : in_row) EXPECT_LE(n, 2U * 1024 + 1);
    }
    for (std::size_t r = 0; r < g.rows.size(); ++r) {
      std::vector<std::pair<std::int64_t, std::int64_t>> ranges;
      for (const EventId e : g.rows[r].ids()) {
        ranges.emplace_back(trace.start(e), std::max(trace.start(e), trace.end(e)));
      }
      EXPECT_EQ(covered[r], testing::union_length(ranges)) << "k=" << k << " row " << r;
      EXPECT_EQ(count[r], g.rows[r].ids().size()) << "k=" << k << " row " << r;
    }
  }
}

TEST(TileLaws, HoldOverRandomTracesAtEveryZoom) {
  for (unsigned seed = 0; seed < 12; ++seed) {
    const Timeline t(testing::random_trace(seed, 300));
    for (int k = 2; k <= 22; ++k) expect_laws(t, k);
    expect_laws(t, 40);
  }
}

TEST(TileLaws, HoldForALongDenseRowAndForTheSharedOne) {
  TraceMaker m;
  std::int64_t at = 10;
  for (int i = 0; i < 20000; ++i) {
    m.slice("kernel", "k", at, 1 + i % 97, "0", "7");
    at += 1 + i % 97 + i % 3;
  }
  for (int i = 0; i < 700; ++i) m.slice("kernel", "k", 10 + i * 3, 900 - i, "0", "8");
  const Timeline t(m.finish());
  for (int k = 4; k <= 20; k += 2) expect_laws(t, k);
}

// Calls `look` for every slice that all tiles of a group have at zoom k.
template <class Look>
void each_slice(const Timeline& t, std::uint32_t group, int k, Look look) {
  const libtrace::TimeRange range = t.trace().range();
  const std::int64_t width = kBuckets << k;
  for (std::int64_t i = 0; i * width <= range.length(); ++i) {
    for (const TileSlice& s : t.tile(group, k, i)) look(i, s);
  }
}

TEST(TileLaws, EveryEventIsReachedByZooming) {
  TraceMaker m;
  std::int64_t at = 100;
  for (int i = 0; i < 3000; ++i) {  // back to back, some of no length, none with another's start
    m.slice("kernel", "k", at, i % 5 == 0 ? 0 : 1 + i % 7, "0", "7");
    at += 1 + i % 7;
  }
  const Timeline t(m.finish());
  std::vector<bool> alone(t.trace().size());
  each_slice(t, 0, 0, [&](std::int64_t, const TileSlice& s) {
    if (s.count == 1) alone[s.id] = true;
  });
  EXPECT_EQ(std::count(alone.begin(), alone.end(), true), 3000);
}

TEST(TileLaws, EventsAtOneTimeAreStillSteppedThrough) {
  TraceMaker m;
  for (int i = 0; i < 1000; ++i) m.slice("kernel", "k", 100, 0, "0", "7");
  const Timeline t(m.finish());
  const auto tile = t.tile(0, 0, 0);
  ASSERT_EQ(tile.size(), 1U);
  EXPECT_EQ(tile[0].count, 1000U);  // no zoom parts them: the run says how many there are
  std::size_t steps = 0;
  for (EventId e = 0; e != libtrace::kNone; e = t.beside(e, true)) ++steps;
  EXPECT_EQ(steps, 1000U);
}

TEST(TileLaws, TwoZoomsDoNotContradict) {
  for (unsigned seed = 20; seed < 26; ++seed) {
    const Timeline t(testing::random_trace(seed, 400));
    const libtrace::Trace& trace = t.trace();
    for (const Group& g : t.groups()) {
      for (int k = 4; k <= 18; ++k) {
        const std::int64_t tiles = trace.range().length() / (kBuckets << k);
        for (std::int64_t i = 0; i <= tiles; ++i) {
          std::vector<std::int64_t> coarse(g.rows.size());
          std::vector<std::int64_t> fine(g.rows.size());
          std::map<EventId, bool> alone;  // in the finer zoom
          for (const std::int64_t half : {2 * i, 2 * i + 1}) {
            for (const TileSlice& s : t.tile(g.id, k - 1, half)) {
              fine[s.row] += s.covered_ns;
              if (s.count == 1) alone[s.id] = true;
            }
          }
          for (const TileSlice& s : t.tile(g.id, k, i)) {
            coarse[s.row] += s.covered_ns;
            // What stands for itself does so in the finer zoom, unless it has no length and shares
            // its bucket there too.
            if (s.count == 1 && trace.dur(s.id) > 0) {
              EXPECT_TRUE(alone[s.id]) << "k=" << k << " event " << s.id;
            }
          }
          // A run is counted where it starts; only at the right edge may it reach over.
          EXPECT_EQ(coarse, fine) << "seed " << seed << " k=" << k << " i=" << i;
        }
      }
    }
  }
}

TEST(TileLaws, TheSameRequestGivesTheSameBytes) {
  const Timeline a(testing::random_trace(5, 2000));
  const Timeline b(testing::random_trace(5, 2000));
  for (const Group& g : a.groups()) {
    for (const int k : {3, 8, 13}) {
      std::string of_a;
      std::string of_b;
      const TileHeader header{k, 0, g.id, static_cast<std::uint32_t>(g.rows.size())};
      encode_tile(header, a.tile(g.id, k, 0), of_a);
      encode_tile(header, b.tile(g.id, k, 0), of_b);
      EXPECT_EQ(of_a, of_b);
    }
  }
}

TEST(Tiles, DoNotDependOnNeighbours) {
  const auto trace = testing::random_trace(3, 500);
  const Timeline whole(trace);
  // The same slices without those that do not touch tile 1 give the same tile 1.
  const int k = 6;
  const auto window = TileWindow::of(trace->range().start, k, 1);
  for (const Group& g : whole.groups()) {
    for (std::size_t r = 0; r < g.rows.size(); ++r) {
      std::vector<EventId> touching;
      for (const EventId e : g.rows[r].ids()) {
        if (trace->start(e) < window->end && trace->end(e) >= window->start) touching.push_back(e);
      }
      const Row cut(*trace, touching, false);
      std::vector<TileSlice> a;
      std::vector<TileSlice> b;
      fold_row(*trace, g.rows[r], 0, *window, whole.links().linked(), a);
      fold_row(*trace, cut, 0, *window, whole.links().linked(), b);
      ASSERT_EQ(a.size(), b.size());
      for (std::size_t j = 0; j < a.size(); ++j) {
        EXPECT_EQ(a[j].id, b[j].id);
        EXPECT_EQ(a[j].covered_ns, b[j].covered_ns);
        EXPECT_EQ(a[j].count, b[j].count);
      }
    }
  }
}

}  // namespace
}  // namespace traceglass
