// The file: what CUPTI wrote, byte for byte, and what else a reader needs to make sense of it:
// sizes of record kinds, names of callbacks, the texts that pointers in records pointed at.
//
//   "LTCUPTI1", u32 API version
//   u32 n, n x (u32 kind, u32 size)
//   u32 n, n x (u32 domain, u32 cbid, u32 string)
//   u32 n, n x (u32 size, bytes, u32 m, m x (u32 offset, u32 string))   blocks; 8 bytes each at
//   offset u32 n, n x (u32 length, bytes)                                      strings
// Little-endian, nothing aligned.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "libtrace/cupti/api.h"

namespace cupti_replay {

struct Block {
  std::vector<std::uint8_t> bytes;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pointers;  // offset -> index of a string
};

struct ReplayFile {
  std::uint32_t version = 0;
  std::map<std::uint32_t, std::uint32_t> sizes;                                // by kind
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> callbacks;  // (domain, cbid)
  std::vector<Block> blocks;
  std::vector<std::string> strings;

  std::uint32_t intern(const std::string& text);
};

// Offsets of the pointers in a record of this kind and size.
std::vector<std::uint32_t> pointers_of(std::uint32_t kind, std::size_t size);

std::string to_bytes(const ReplayFile& file);
// "" or what is wrong with the bytes.
std::string from_bytes(const std::string& bytes, ReplayFile& file);

// The library that a file's decoder asks. One at a time: CUPTI's functions carry no state.
class Replay {
 public:
  explicit Replay(ReplayFile file);
  ~Replay();
  Replay(const Replay&) = delete;
  Replay& operator=(const Replay&) = delete;

  [[nodiscard]] const libtrace::cupti::CuptiApi& api() const noexcept { return api_; }
  // The blocks with pointers that point at the strings.
  [[nodiscard]] std::vector<Block>& blocks() noexcept { return file_.blocks; }

 private:
  ReplayFile file_;
  libtrace::cupti::CuptiApi api_;
};

}  // namespace cupti_replay
