#include "tb_backend/index/hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace traceglass::index {

std::uint64_t hash_bytes(const void* data, std::size_t size) { return XXH3_64bits(data, size); }

std::uint64_t hash_of_blocks(std::span<const std::uint64_t> blocks) {
  return hash_bytes(blocks.data(), blocks.size_bytes());
}

}  // namespace traceglass::index
