// Arguments as bytes: at an offset stand a count and that many (key, type, value):
//
//   count  varint
//   key    varint StringId     } repeated
//   type   u8, Value::Type     }
//   value  kNull -; kBool, kInt zigzag varint; kUint varint; kDouble 8 bytes little-endian;
//          kString, kJson varint StringId
//
// Offset 0 holds a count of 0. About 3 bytes an argument on real traces.
//
// Reading is bounded by the end of the bytes: they may come from a file that somebody else wrote.
// What is cut or no value reads as null, and nothing follows it.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "libtrace/column.h"
#include "libtrace/event.h"

namespace libtrace::args {

using Bytes = Column<std::uint8_t>;

inline void put_varint(Bytes& out, std::uint64_t v) {
  for (; v >= 0x80; v >>= 7) out.push_back(static_cast<std::uint8_t>(v | 0x80));
  out.push_back(static_cast<std::uint8_t>(v));
}

inline std::uint64_t get_varint(const std::uint8_t*& p, const std::uint8_t* end) noexcept {
  std::uint64_t v = 0;
  for (int shift = 0; p < end && shift < 64; shift += 7) {
    const std::uint8_t byte = *p++;
    v |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
    if (byte < 0x80) return v;
  }
  p = end;
  return 0;
}

inline std::uint64_t zigzag(std::int64_t v) noexcept {
  return (static_cast<std::uint64_t>(v) << 1) ^ static_cast<std::uint64_t>(v >> 63);
}
inline std::int64_t unzigzag(std::uint64_t v) noexcept {
  return static_cast<std::int64_t>((v >> 1) ^ (~(v & 1) + 1));
}

// Appends one value; `text` is the interned text of kString and kJson.
inline void put_value(Bytes& out, const Value& value, StringId text) {
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
inline Value get_value(const std::uint8_t*& p, const std::uint8_t* end, StringId& text) noexcept {
  Value v;
  if (p >= end) return v;
  const std::uint8_t type = *p++;
  if (type <= static_cast<std::uint8_t>(Value::Type::kJson)) {
    v.type = static_cast<Value::Type>(type);
  } else {
    p = end;
  }
  switch (v.type) {
    case Value::Type::kNull:
      break;
    case Value::Type::kBool:
    case Value::Type::kInt:
      v.i = unzigzag(get_varint(p, end));
      break;
    case Value::Type::kUint:
      v.u = get_varint(p, end);
      break;
    case Value::Type::kDouble: {
      if (end - p < 8) {
        p = end;
        return Value::null();
      }
      std::uint64_t bits = 0;
      for (int i = 0; i < 64; i += 8) bits |= static_cast<std::uint64_t>(*p++) << i;
      v.d = std::bit_cast<double>(bits);
      if (!std::isfinite(v.d)) return Value::null();
      break;
    }
    case Value::Type::kString:
    case Value::Type::kJson:
      text = static_cast<StringId>(get_varint(p, end));
      break;
  }
  return v;
}

// Calls `fn(key, value, text)` for each argument at `offset` until it returns true; returns what
// follows the last one read.
template <typename Fn>
const std::uint8_t* each(const Bytes& bytes, std::uint32_t offset, Fn&& fn) {
  const std::uint8_t* const end = bytes.end();
  if (offset >= bytes.size()) return end;
  const std::uint8_t* p = bytes.begin() + offset;
  for (std::uint64_t n = get_varint(p, end); n > 0 && p < end; --n) {
    const auto key = static_cast<StringId>(get_varint(p, end));
    StringId text = 0;
    const Value value = get_value(p, end, text);
    if (fn(key, value, text)) break;
  }
  return p;
}

}  // namespace libtrace::args
