// A checked walk over protobuf's wire format, field by field, without copying: event files are
// read at the speed of their checksums. The messages are those of proto/event.proto and, beyond
// what we write ourselves, of TensorBoard's compat protos; the numbers stand in event.cc.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace traceglass {

class Wire {
 public:
  enum Type : std::uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

  explicit Wire(std::string_view message) : rest_(message) {}

  // To the next field; false at the end, and at the first thing that is not protobuf.
  bool next() {
    if (rest_.empty()) return false;
    std::uint64_t key = 0;
    if (!read_varint(key)) return fail();
    field_ = static_cast<std::uint32_t>(key >> 3);
    type_ = static_cast<Type>(key & 7);
    switch (type_) {
      case kVarint:
        return read_varint(number_) || fail();
      case kFixed64:
        return read_fixed(number_) || fail();
      case kFixed32: {
        std::uint32_t narrow = 0;
        if (!read_fixed(narrow)) return fail();
        number_ = narrow;
        return true;
      }
      case kBytes: {
        std::uint64_t size = 0;
        if (!read_varint(size) || size > rest_.size()) return fail();
        bytes_ = rest_.substr(0, size);
        rest_.remove_prefix(size);
        return true;
      }
    }
    return fail();  // groups went out of use before event files were invented
  }

  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] bool is(std::uint32_t field, Type type) const {
    return field_ == field && type_ == type;
  }
  [[nodiscard]] std::uint64_t number() const { return number_; }
  [[nodiscard]] std::string_view bytes() const { return bytes_; }

 private:
  bool fail() {
    ok_ = false;
    rest_ = {};
    return false;
  }

  bool read_varint(std::uint64_t& out) {
    out = 0;
    for (std::size_t i = 0; i < rest_.size() && i < 10; ++i) {
      const auto b = static_cast<unsigned char>(rest_[i]);
      out |= std::uint64_t{b & 0x7FU} << (7 * i);
      if (b < 0x80) {
        rest_.remove_prefix(i + 1);
        return true;
      }
    }
    return false;
  }

  template <class T>
  bool read_fixed(T& out) {
    if (rest_.size() < sizeof out) return false;
    std::memcpy(&out, rest_.data(), sizeof out);
    rest_.remove_prefix(sizeof out);
    return true;
  }

  std::string_view rest_, bytes_;
  std::uint64_t number_ = 0;
  std::uint32_t field_ = 0;
  Type type_ = kVarint;
  bool ok_ = true;
};

}  // namespace traceglass
