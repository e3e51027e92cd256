// Cuts an event file into its records. A record is
//
//   u64  length of the data, little-endian
//   u32  masked CRC-32C of those 8 bytes
//   ...  data
//   u32  masked CRC-32C of the data
//
// The file may grow while it is read, end inside a record, or be damaged anywhere: behind a wrong
// checksum the next place where a whole record stands is searched, and what lies between counted.
#pragma once

#include <cstdint>
#include <string_view>

namespace traceglass {

struct RecordCounts {
  std::uint64_t records = 0;  // whole, by their checksums
  std::uint64_t damaged = 0;  // places where they do not hold
  std::uint64_t skipped_bytes = 0;
  std::uint64_t oversized = 0;  // skipped unread

  bool operator==(const RecordCounts&) const = default;
};

class RecordSplitter {
 public:
  // Nothing that plots as a curve is nearly as long; longer ones (graphs, videos) are stepped over.
  static constexpr std::uint64_t kMaxRecord = std::uint64_t{64} << 20U;
  // Protobuf's own limit: no writer makes one, so such a length is damage.
  static constexpr std::uint64_t kAbsurd = std::uint64_t{1} << 31U;

  // `bytes` go on where the last call's result ended. Calls on_record(std::string_view) for each
  // whole record; returns how many bytes are done with. The rest waits for more of the file.
  template <class OnRecord>
  std::size_t split(std::string_view bytes, OnRecord&& on_record) {
    std::size_t at = 0;
    std::string_view data;
    while (step(bytes, at, data)) {
      if (data.data() != nullptr) on_record(data);
    }
    return at;
  }

  // Bytes that the next split must see at once to come further.
  [[nodiscard]] std::uint64_t needed() const { return needed_; }
  [[nodiscard]] const RecordCounts& counts() const { return counts_; }
  // Bytes of data whose checksum did not hold: what damage cost, at most kVain and kVainPerByte
  // for each byte that was passed, so that no file is read in more than linear time.
  [[nodiscard]] std::uint64_t checked_in_vain() const { return vain_; }
  static constexpr std::uint64_t kVain = 4 * kMaxRecord;
  static constexpr std::uint64_t kVainPerByte = 4;

 private:
  // One record (`data`), or one move without (`data` is null); false: more bytes are needed.
  bool step(std::string_view bytes, std::size_t& at, std::string_view& data);
  bool pass_over(std::size_t available, std::size_t& at);
  void lose(std::size_t bytes, std::size_t& at);
  [[nodiscard]] bool affordable(std::uint64_t length) const {
    return vain_ + length <= kVain + kVainPerByte * passed_;
  }

  RecordCounts counts_;
  std::uint64_t needed_ = 0, to_skip_ = 0;
  std::uint64_t passed_ = 0, vain_ = 0;
  bool lost_ = false;  // between damage and the next whole record
};

}  // namespace traceglass
