// Activity records as each release of CUPTI lays them out: sizes by API version, fields by offset.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "libtrace/cupti/abi.h"
#include "libtrace/cupti/layout.h"

namespace traceglass_fakes {

using libtrace::cupti::ActivityKind;

// 0: a kind that the fake does not write.
inline std::size_t record_size(ActivityKind kind, std::uint32_t v) {
  switch (kind) {
    case ActivityKind::kKernel:
    case ActivityKind::kConcurrentKernel:
      if (v < 15) return 160;
      if (v < 17) return 168;
      if (v < 18) return 176;
      if (v < 19) return 200;
      if (v < 130000) return 208;
      if (v < 130100) return 216;
      if (v < 130300) return 224;
      return v < 130400 ? 232 : 248;
    case ActivityKind::kMemcpy:
      if (v < 14) return 72;
      if (v < 17) return 80;
      if (v < 26) return 88;
      return v < 130400 ? 96 : 112;
    case ActivityKind::kMemcpy2:
      if (v < 14) return 80;
      return v < 17 ? 88 : 96;
    case ActivityKind::kMemset:
      if (v < 14) return 72;
      if (v < 17) return 80;
      return v < 130400 ? 88 : 104;
    case ActivityKind::kDriver:
    case ActivityKind::kRuntime:
      return 40;
    case ActivityKind::kSynchronization:
      return v < 26 ? 40 : 56;
    case ActivityKind::kCudaEvent:
      if (v < 26) return 24;
      return v < 130500 ? 56 : 80;
    case ActivityKind::kOverhead:
      if (v < 20) return 40;
      return v < 22 ? 48 : 56;
    case ActivityKind::kMemory2:
      if (v < 15) return 112;
      return v < 24 ? 120 : 128;
    case ActivityKind::kGraphTrace:
      return v < 21 ? 48 : 56;
    case ActivityKind::kContext:
      if (v < 22) return 16;
      return v < 130100 ? 32 : 40;
    default:
      return 0;
  }
}

class Record {
 public:
  Record(ActivityKind kind, std::uint32_t version) : bytes_(record_size(kind, version)) {
    // What a reader must not look at is not zero.
    for (auto& b : bytes_) b = 0xA5;
    put(libtrace::cupti::layout::kKind, kind);
  }
  // A field that this version does not have yet is left out.
  template <class T>
  Record& put(std::size_t offset, T value) {
    if (offset + sizeof value <= bytes_.size()) {
      std::memcpy(bytes_.data() + offset, &value, sizeof value);
    }
    return *this;
  }
  [[nodiscard]] const std::vector<std::uint8_t>& bytes() const { return bytes_; }

 private:
  std::vector<std::uint8_t> bytes_;
};

}  // namespace traceglass_fakes
