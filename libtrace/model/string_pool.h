// Interns texts into TraceData's string columns: one id a distinct text, id 0 is "".
// Open addressing over kept hashes; a repeat costs its hash and one compare (~15 ns).
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "libtrace/column.h"
#include "libtrace/event.h"

namespace libtrace {

class StringPool {
 public:
  StringPool(Column<char>& data, Column<std::uint64_t>& offset)
      : data_(data), offset_(offset), slots_(1024) {
    intern("");
  }

  StringId intern(std::string_view text) {
    const std::uint64_t h = hash(text);
    std::size_t i = h & (slots_.size() - 1);
    for (; slots_[i].id != kNone; i = (i + 1) & (slots_.size() - 1)) {
      if (slots_[i].hash == h && view(slots_[i].id) == text) return slots_[i].id;
    }
    const auto id = static_cast<StringId>(offset_.size() - 1);
    data_.append(text.data(), text.size());
    offset_.push_back(data_.size());
    slots_[i] = {h, id};
    if (offset_.size() * 2 > slots_.size()) grow();
    return id;
  }

  [[nodiscard]] std::string_view view(StringId id) const {
    return {data_.data() + offset_[id], offset_[id + 1] - offset_[id]};
  }

 private:
  struct Slot {
    std::uint64_t hash = 0;
    StringId id = kNone;
  };

  static std::uint64_t mix(std::uint64_t x) noexcept {  // one wide multiply, folded (wyhash's step)
    __extension__ using Wide = unsigned __int128;
    const Wide m = static_cast<Wide>(x ^ 0xD6E8FEB86659FD93ULL) * 0xA0761D6478BD642FULL;
    return static_cast<std::uint64_t>(m) ^ static_cast<std::uint64_t>(m >> 64);
  }
  static std::uint64_t hash(std::string_view s) noexcept {
    std::uint64_t h = s.size(), word = 0;
    for (; s.size() >= 8; s.remove_prefix(8)) {
      std::memcpy(&word, s.data(), 8);
      h = mix(h ^ word);
    }
    word = 0;
    if (!s.empty()) std::memcpy(&word, s.data(), s.size());
    return mix(h ^ word);
  }
  void grow() {
    const std::vector<Slot> old = std::exchange(slots_, std::vector<Slot>(slots_.size() * 2));
    for (const Slot& slot : old) {
      if (slot.id == kNone) continue;
      std::size_t i = slot.hash & (slots_.size() - 1);
      while (slots_[i].id != kNone) i = (i + 1) & (slots_.size() - 1);
      slots_[i] = slot;
    }
  }

  Column<char>& data_;
  Column<std::uint64_t>& offset_;
  std::vector<Slot> slots_;
};

}  // namespace libtrace
