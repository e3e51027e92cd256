// Event files as bytes, made by hand: frames, messages and single fields, right and wrong ones.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "proto/masked_crc.h"

namespace traceglass::testing {

template <class T>
std::string little_endian(T value) {
  std::string out(sizeof value, '\0');
  std::memcpy(out.data(), &value, sizeof value);
  return out;
}

inline std::string varint(std::uint64_t value) {
  std::string out;
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  return out + static_cast<char>(value);
}

inline std::string field(unsigned number, std::string_view bytes) {
  return varint(number << 3U | 2U) + varint(bytes.size()) + std::string(bytes);
}
inline std::string field(unsigned number, std::uint64_t value) {
  return varint(number << 3U) + varint(value);
}
inline std::string field(unsigned number, double value) {
  return varint(number << 3U | 1U) + little_endian(value);
}
inline std::string field(unsigned number, float value) {
  return varint(number << 3U | 5U) + little_endian(value);
}

inline std::string record(std::string_view data) {
  const std::string length = little_endian(std::uint64_t{data.size()});
  return length + little_endian(proto::masked_crc32c(length)) + std::string(data) +
         little_endian(proto::masked_crc32c(data));
}

inline std::string event(double wall_time, std::int64_t step, std::string_view what) {
  return record(field(1, wall_time) + field(2, static_cast<std::uint64_t>(step)) +
                std::string(what));
}

// A summary of one value.
inline std::string summary(std::string_view tag, std::string_view value) {
  return field(5, field(1, field(1, tag) + std::string(value)));
}

inline std::string plugin(std::string_view name) { return field(9, field(1, field(1, name))); }

inline std::string scalar(double wall_time, std::int64_t step, std::string_view tag, float value) {
  return event(wall_time, step, summary(tag, field(2, value)));
}

inline std::string tensor(std::uint64_t dtype, std::string_view rest) {
  return field(8, field(1, dtype) + std::string(rest));
}

// A session begins at `step`.
inline std::string session_start(double wall_time, std::int64_t step) {
  return event(wall_time, step, field(7, field(1, std::uint64_t{1})));
}

inline std::string version(double wall_time) {
  return record(field(1, wall_time) + field(3, std::string_view("brain.Event:2")));
}

}  // namespace traceglass::testing
