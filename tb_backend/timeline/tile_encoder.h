// Writes a tile as TILE_FORMAT.md says. The reader is web_frontend/src/timeline/tile_decoder.ts;
// tests/golden/tile_v1.bin holds both to one file.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "tb_backend/timeline/tiles.h"

namespace traceglass {

struct TileHeader {
  int k = 0;
  std::int64_t i = 0;
  std::uint32_t group = 0;
  std::uint32_t rows = 0;  // of the group
};

// Appends header and columns to `out`.
void encode_tile(const TileHeader& header, std::span<const TileSlice> slices, std::string& out);

}  // namespace traceglass
