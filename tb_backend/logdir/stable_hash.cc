#include "tb_backend/logdir/stable_hash.h"

#include <cstdint>

namespace traceglass {

// FNV-1a, then the finalizer of splitmix64 so that near texts differ in every digit.
std::string stable_hash(std::string_view text) {
  std::uint64_t h = 0xcbf29ce484222325U;
  for (const char c : text) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  h = (h ^ (h >> 30U)) * 0xbf58476d1ce4e5b9U;
  h = (h ^ (h >> 27U)) * 0x94d049bb133111ebU;
  h ^= h >> 31U;
  std::string out(16, '0');
  for (std::size_t i = 16; i-- > 0; h >>= 4U) out[i] = "0123456789abcdef"[h & 15U];
  return out;
}

}  // namespace traceglass
