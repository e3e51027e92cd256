// Hashes that tell content from content and damage from none. Not secret: who can write the file
// can write the hash, so that nothing else may rest on them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace traceglass::index {

std::uint64_t hash_bytes(const void* data, std::size_t size);

// Hash of a section from those of its blocks of kBlock bytes, the last one shorter.
std::uint64_t hash_of_blocks(std::span<const std::uint64_t> blocks);

}  // namespace traceglass::index
