// The tile format, byte for byte. tests/golden/tile_v1.bin is decoded by the page's tests too;
// REBASELINE=1 writes it (and the same numbers as JSON) anew.
#include "tb_backend/timeline/tile_encoder.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tb_backend/timeline/timeline.h"
#include "tests/tb_backend/timeline/trace_maker.h"

namespace traceglass {
namespace {

using testing::TraceMaker;

std::filesystem::path golden(const char* name) {
  return std::filesystem::path(TRACEGLASS_SOURCE_DIR) / "tests" / "golden" / name;
}

template <class T>
T read(const std::string& bytes, std::size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

// Two groups, every kind of slice and flag in them.
Timeline example() {
  TraceMaker m;
  m.slice("user_annotation", "ProfilerStep#3", 1000, 4000);
  m.slice("cpu_op", "aten::conv2d", 1100, 900);
  m.slice("cpu_op", "enumerate(DataLoader)#_next", 2100, 700);
  for (int i = 0; i < 40; ++i) m.slice("cpu_op", "aten::add_", 3000 + i * 20, 12);
  m.builder().arg("finished", libtrace::Value::boolean(false));
  m.slice("cpu_op", "aten::mm", 4100, 900);
  m.kernel("ncclDevKernel_AllReduce", 1200, 1500, 2000);
  m.kernel("gemm", 4200, 4300, 3000);
  m.slice("kernel", "overlaps", 4310, 300, "0", "7");
  return Timeline(m.finish());
}

struct At {
  int k;
  std::int64_t i;
};
constexpr At kTiles[] = {{7, 0}, {2, 0}, {2, 1}};  // folded runs; edges on both sides

std::string encoded(const Timeline& t) {
  std::string bytes;
  for (const At& at : kTiles) {
    for (const Group& g : t.groups()) {
      const TileHeader header{at.k, at.i, g.id, static_cast<std::uint32_t>(g.rows.size())};
      encode_tile(header, t.tile(g.id, at.k, at.i), bytes);
    }
  }
  return bytes;
}

std::string as_json(const Timeline& t) {
  std::ostringstream out;
  const auto column = [&](const char* name, const std::vector<TileSlice>& tile, auto get) {
    out << ",\n  \"" << name << "\": [";
    for (std::size_t j = 0; j < tile.size(); ++j) {
      out << (j > 0 ? ", " : "") << static_cast<std::int64_t>(get(tile[j]));
    }
    out << ']';
  };
  const char* separator = "[\n";
  for (const At& at : kTiles) {
    for (const Group& g : t.groups()) {
      const auto tile = t.tile(g.id, at.k, at.i);
      out << separator << " {\"k\": " << at.k << ", \"i\": " << at.i << ", \"group\": " << g.id
          << ", \"rows\": " << g.rows.size();
      column("start", tile, [](const TileSlice& s) { return s.start; });
      column("end", tile, [](const TileSlice& s) { return s.end; });
      column("id", tile, [](const TileSlice& s) { return s.id; });
      column("name", tile, [](const TileSlice& s) { return s.name; });
      column("count", tile, [](const TileSlice& s) { return s.count; });
      column("row", tile, [](const TileSlice& s) { return s.row; });
      column("kind", tile, [](const TileSlice& s) { return s.kind; });
      column("busy", tile, [](const TileSlice& s) { return s.busy; });
      column("flags", tile, [](const TileSlice& s) { return s.flags; });
      out << '}';
      separator = ",\n";
    }
  }
  out << "\n]\n";
  return out.str();
}

std::string contents(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(TileEncoder, HeaderAndColumnsStandWhereTheFormatSays) {
  std::vector<TileSlice> slices(3);
  slices[0] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 0};
  slices[2].end = 0xAABBCCDD;
  slices[2].flags = 36;
  std::string bytes = "before";
  encode_tile({12, -3, 5, 9}, slices, bytes);
  const std::string tile = bytes.substr(6);
  EXPECT_EQ(tile.size() % 8, 0U);
  EXPECT_EQ(read<std::uint32_t>(tile, 0), 0x314C5447U);
  EXPECT_EQ(read<std::uint16_t>(tile, 4), 1);
  EXPECT_EQ(read<std::uint16_t>(tile, 6), 12);
  EXPECT_EQ(read<std::int64_t>(tile, 8), -3);
  EXPECT_EQ(read<std::uint32_t>(tile, 16), 5U);
  EXPECT_EQ(read<std::uint32_t>(tile, 20), 3U);
  EXPECT_EQ(read<std::uint32_t>(tile, 24), 9U);
  EXPECT_EQ(read<std::uint32_t>(tile, 28), tile.size());
  const std::size_t expected[] = {64, 80, 96, 112, 128, 144, 152, 160};
  for (std::size_t c = 0; c < 8; ++c) {
    EXPECT_EQ(read<std::uint32_t>(tile, 32 + 4 * c), expected[c]);
  }
  EXPECT_EQ(tile.size(), 176U);
  EXPECT_EQ(read<std::uint32_t>(tile, 64), 1U);
  EXPECT_EQ(read<std::uint32_t>(tile, 80 + 8), 0xAABBCCDDU);
  EXPECT_EQ(read<std::uint16_t>(tile, 144), 6);
  EXPECT_EQ(read<std::uint8_t>(tile, 160), 8);
  EXPECT_EQ(read<std::uint8_t>(tile, 168 + 2), 36);
}

TEST(TileEncoder, AnEmptyTileIsItsHeader) {
  std::string bytes;
  encode_tile({0, 0, 0, 4}, {}, bytes);
  EXPECT_EQ(bytes.size(), 64U);
  EXPECT_EQ(read<std::uint32_t>(bytes, 20), 0U);
}

TEST(TileEncoder, GoldenFile) {
  const Timeline t = example();
  const std::string bytes = encoded(t);
  const std::string json = as_json(t);
  if (std::getenv("REBASELINE") != nullptr) {
    std::filesystem::create_directories(golden("").parent_path());
    std::ofstream(golden("tile_v1.bin"), std::ios::binary) << bytes;
    std::ofstream(golden("tile_v1.json"), std::ios::binary) << json;
  }
  EXPECT_EQ(json, contents(golden("tile_v1.json")));
  EXPECT_TRUE(bytes == contents(golden("tile_v1.bin"))) << "the format changed: a new version?";
}

}  // namespace
}  // namespace traceglass
