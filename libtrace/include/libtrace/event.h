// What one row of a trace is: its kind, its flags, its argument values.
// The one table of categories lives in model/category.cc; everything else asks `Kind`.
#pragma once

#include <cstdint>
#include <string_view>

namespace libtrace {

using EventId = std::uint32_t;   // index of a slice in its Trace
using StringId = std::uint32_t;  // index into the Trace's string pool; 0 is ""
using LaneId = std::uint32_t;    // index of a lane in its Trace
inline constexpr std::uint32_t kNone = 0xFFFF'FFFF;

// What a slice is, whatever dialect wrote it. Follows from its `cat` (and, for ranges that old
// versions wrote as operators, its name), never from pid or label.
enum class Kind : std::uint8_t {
  kOp,
  kAnnotation,
  kRuntime,
  kKernel,
  kMemcpy,
  kMemset,
  kPython,
  kDeviceAnnotation,
  kSync,
  kOverhead,
  kSpan,
  kOther,
};
inline constexpr int kKindCount = 12;

// Name in documents, API and URLs: "op", "annotation", "runtime", …
std::string_view kind_name(Kind kind) noexcept;

// Nodes of a host lane's call tree. Python frames make a tree of their own.
constexpr bool is_host_tree(Kind k) noexcept { return k <= Kind::kRuntime; }
// Work of a device: what `busy` is the union of.
constexpr bool is_device_work(Kind k) noexcept {
  return k == Kind::kKernel || k == Kind::kMemcpy || k == Kind::kMemset;
}
// Rows that stand on a device lane, counted or only drawn.
constexpr bool is_on_device(Kind k) noexcept {
  return is_device_work(k) || k == Kind::kDeviceAnnotation || k == Kind::kSync;
}

// Bits of Trace::flags().
namespace flag {
inline constexpr std::uint16_t kZeroTime = 1U << 0;        // start written as 0, at most 1 ns long
inline constexpr std::uint16_t kNegative = 1U << 1;        // negative duration
inline constexpr std::uint16_t kOverrun = 1U << 2;         // impossible device slice
inline constexpr std::uint16_t kUnfinished = 1U << 3;      // still open when recording ended
inline constexpr std::uint16_t kOutermost = 1U << 4;       // no ancestor of its name and kind
inline constexpr std::uint16_t kStep = 1U << 5;            // host annotation ProfilerStep#N
inline constexpr std::uint16_t kDataLoader = 1U << 6;      // host event of data loading, any kind
inline constexpr std::uint16_t kCommunication = 1U << 7;   // device kernel of a collective
inline constexpr std::uint16_t kHostCollective = 1U << 8;  // op or annotation gloo:/mpi:/nccl:
inline constexpr std::uint16_t kSuspect = kZeroTime | kNegative | kOverrun;
}  // namespace flag

// One argument value. Arrays and objects keep their JSON text; inf, nan and N/A become null.
struct Value {
  enum class Type : std::uint8_t { kNull, kBool, kInt, kUint, kDouble, kString, kJson };
  Type type = Type::kNull;
  union {
    std::int64_t i = 0;  // kBool (0/1), kInt
    std::uint64_t u;     // kUint: only values above INT64_MAX
    double d;            // kDouble, always finite
  };
  std::string_view text;  // kString: UTF-8 text; kJson: valid JSON text

  static Value null() { return {}; }
  static Value boolean(bool v) { return integer_of(Type::kBool, v ? 1 : 0); }
  static Value integer(std::int64_t v) { return integer_of(Type::kInt, v); }
  static Value uinteger(std::uint64_t v) {
    Value r;
    r.type = Type::kUint;
    r.u = v;
    return r;
  }
  static Value real(double v) {
    Value r;
    r.type = Type::kDouble;
    r.d = v;
    return r;
  }
  static Value string(std::string_view v) { return text_of(Type::kString, v); }
  static Value json(std::string_view v) { return text_of(Type::kJson, v); }

 private:
  static Value integer_of(Type t, std::int64_t v) {
    Value r;
    r.type = t;
    r.i = v;
    return r;
  }
  static Value text_of(Type t, std::string_view v) {
    Value r;
    r.type = t;
    r.text = v;
    return r;
  }
};

}  // namespace libtrace
