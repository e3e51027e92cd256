// Arguments as bytes: at an offset stand a count and that many (key, type, value):
//
//   count  varint
//   key    varint StringId     } repeated
//   type   u8, Value::Type     }
//   value  kNull -; kBool, kInt zigzag varint; kUint varint; kDouble 8 bytes little-endian;
//          kString, kJson varint StringId
//
// Offset 0 holds a count of 0. About 3 bytes an argument on real traces.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "libtrace/event.h"

namespace libtrace::args {

inline void put_varint(std::vector<std::uint8_t>& out, std::uint64_t v) {
  for (; v >= 0x80; v >>= 7) out.push_back(static_cast<std::uint8_t>(v | 0x80));
  out.push_back(static_cast<std::uint8_t>(v));
}

inline std::uint64_t get_varint(const std::uint8_t*& p) noexcept {
  std::uint64_t v = 0;
  int shift = 0;
  for (; (*p & 0x80) != 0; shift += 7) v |= static_cast<std::uint64_t>(*p++ & 0x7F) << shift;
  return v | static_cast<std::uint64_t>(*p++) << shift;
}

inline std::uint64_t zigzag(std::int64_t v) noexcept {
  return (static_cast<std::uint64_t>(v) << 1) ^ static_cast<std::uint64_t>(v >> 63);
}
inline std::int64_t unzigzag(std::uint64_t v) noexcept {
  return static_cast<std::int64_t>((v >> 1) ^ (~(v & 1) + 1));
}

// Appends one value; `text` is the interned text of kString and kJson.
inline void put_value(std::vector<std::uint8_t>& out, const Value& value, StringId text) {
  out.push_back(static_cast<std::uint8_t>(value.type));
  switch (value.type) {
    case Value::Type::kNull:
      break;
    case Value::Type::kBool:
    case Value::Type::kInt:
      put_varint(out, zigzag(value.i));
      break;
    case Value::Type::kUint:
      put_varint(out, value.u);
      break;
    case Value::Type::kDouble: {
      const auto bits = std::bit_cast<std::uint64_t>(value.d);
      for (int i = 0; i < 64; i += 8) out.push_back(static_cast<std::uint8_t>(bits >> i));
      break;
    }
    case Value::Type::kString:
    case Value::Type::kJson:
      put_varint(out, text);
      break;
  }
}

// Reads one value behind its key; the text of kString and kJson comes back as an id.
inline Value get_value(const std::uint8_t*& p, StringId& text) noexcept {
  Value v;
  v.type = static_cast<Value::Type>(*p++);
  switch (v.type) {
    case Value::Type::kNull:
      break;
    case Value::Type::kBool:
    case Value::Type::kInt:
      v.i = unzigzag(get_varint(p));
      break;
    case Value::Type::kUint:
      v.u = get_varint(p);
      break;
    case Value::Type::kDouble: {
      std::uint64_t bits = 0;
      for (int i = 0; i < 64; i += 8) bits |= static_cast<std::uint64_t>(*p++) << i;
      v.d = std::bit_cast<double>(bits);
      break;
    }
    case Value::Type::kString:
    case Value::Type::kJson:
      text = static_cast<StringId>(get_varint(p));
      break;
  }
  return v;
}

}  // namespace libtrace::args
