// What stands in the slots behind a record: its name, and with kHasDetails what else it carries.
//
//   without details   name
//   with details      u32 name bytes | u16 parts | u16 frames | name | part …
//     kStack          u64 hash | frames * u64 return addresses (0 frames: the lane has said them)
//     kOrder          i64 sequence number | u64 thread | u64 forward thread
//     kInputs         u16 count | input …
//       input         InputHead | type | value | sizes | strides; of a tensor list then
//                     u16 count | input …
//     kArgs           u16 count | (u8 type | u32 key | u32 text | u64 number | texts) …
//
// Copied as they are: encoding is on the hot path (2 ns for three tensors of four dimensions;
// variable-length integers took 12), decoding is not.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "libtrace/range.h"
#include "libtrace/record/chunk.h"

namespace libtrace::detail {

namespace part {
inline constexpr std::uint16_t kStack = 1, kOrder = 2, kInputs = 4, kArgs = 8;
}
inline constexpr std::size_t kMostFrames = 128;
// As torch: a longer tensor list is left out.
inline constexpr std::size_t kMostListItems = 30, kMostInputs = 1024, kMostArgs = 256;
inline constexpr std::size_t kMostText = 0xFFFF;  // of a type, a value, a key, an argument

// A stack as a record carries it.
struct Stack {
  std::uint64_t hash = 0;
  const std::uint64_t* frames = nullptr;
  std::uint16_t count = 0;  // 0 with a hash: said before
};

class ByteCounter {
 public:
  void put(const void*, std::size_t n) noexcept { size += n; }
  void put_text(const void*, std::size_t n) noexcept { size += n; }
  void put_numbers(const std::int64_t*, std::size_t n) noexcept {
    size += n * sizeof(std::int64_t);
  }
  std::size_t size = 0;
};
class ByteWriter {
 public:
  explicit ByteWriter(void* to) noexcept : to_(static_cast<char*>(to)) {}
  void put(const void* from, std::size_t n) noexcept {
    if (n != 0) std::memcpy(to_, from, n);
    to_ += n;
  }
  // Mostly a few bytes: a call of memcpy costs as much as all the rest.
  void put_text(const char* from, std::size_t n) noexcept {
    if (n > 16) {
      std::memcpy(to_, from, n);
    } else if (n >= 8) {
      copy_ends<std::uint64_t>(from, n);
    } else if (n >= 4) {
      copy_ends<std::uint32_t>(from, n);
    } else {
      for (std::size_t i = 0; i < n; ++i) to_[i] = from[i];
    }
    to_ += n;
  }
  void put_numbers(const std::int64_t* from, std::size_t n) noexcept {
    for (std::size_t i = 0; i < n; ++i, to_ += sizeof *from)
      std::memcpy(to_, from + i, sizeof *from);
  }

 private:
  // Its first and its last word, which overlap.
  template <class Word>
  void copy_ends(const char* from, std::size_t n) noexcept {
    std::memcpy(to_, from, sizeof(Word));
    std::memcpy(to_ + n - sizeof(Word), from + n - sizeof(Word), sizeof(Word));
  }

  char* to_;
};

template <class Out, class T>
void put(Out& out, T value) noexcept {
  out.put(&value, sizeof value);
}
inline std::string_view clipped(std::string_view text) noexcept {
  return text.substr(0, kMostText);
}

struct InputHead {
  std::uint32_t value_bytes;
  std::uint16_t type_bytes;
  std::uint16_t dims;
  Input::Kind kind;
  std::uint8_t has;  // 1 sizes, 2 strides
  std::uint16_t unused;
};
static_assert(sizeof(InputHead) == 12);
inline constexpr std::uint32_t kMostDims = 256;

template <class Out>
void put_input(Out& out, const Input& input) noexcept {
  const bool is_tensor = input.kind == Input::Kind::kTensor;
  const std::string_view type = clipped(input.type), value = clipped(input.value);
  InputHead head{};
  head.value_bytes = static_cast<std::uint32_t>(value.size());
  head.type_bytes = static_cast<std::uint16_t>(type.size());
  head.dims = static_cast<std::uint16_t>(is_tensor ? std::min(input.dims, kMostDims) : 0);
  head.kind = input.kind;
  head.has = static_cast<std::uint8_t>((input.sizes != nullptr ? 1U : 0U) |
                                       (input.strides != nullptr ? 2U : 0U));
  put(out, head);
  out.put_text(type.data(), type.size());
  out.put_text(value.data(), value.size());
  if ((head.has & 1U) != 0) out.put_numbers(input.sizes, head.dims);
  if ((head.has & 2U) != 0) out.put_numbers(input.strides, head.dims);
}

template <class Out>
void put_inputs(Out& out, const RangeDetails& details) noexcept {
  const std::size_t count = details.input_count < kMostInputs ? details.input_count : kMostInputs;
  put(out, static_cast<std::uint16_t>(count));
  for (std::size_t i = 0; i < count; ++i) {
    const Input& input = details.inputs[i];
    put_input(out, input);
    if (input.kind != Input::Kind::kTensorList) continue;
    const bool dropped = input.item_count > kMostListItems || input.items == nullptr;
    const std::size_t items = dropped ? 0 : input.item_count;
    put(out, static_cast<std::uint16_t>(items));
    for (std::size_t k = 0; k < items; ++k) put_input(out, input.items[k]);
  }
}

template <class Out>
void put_args(Out& out, const RangeDetails& details) noexcept {
  const std::size_t count = details.arg_count < kMostArgs ? details.arg_count : kMostArgs;
  put(out, static_cast<std::uint16_t>(count));
  for (std::size_t i = 0; i < count; ++i) {
    const auto& [key, value] = details.args[i];
    const std::string_view key_text = clipped(key), text = clipped(value.text);
    put(out, value.type);
    put(out, static_cast<std::uint32_t>(key_text.size()));
    put(out, static_cast<std::uint32_t>(text.size()));
    put(out, value.u);
    out.put(key_text.data(), key_text.size());
    out.put(text.data(), text.size());
  }
}

template <class Out>
void put_details(Out& out, std::string_view name, const RangeDetails& details, bool with_inputs,
                 const Stack& stack) noexcept {
  const bool order = details.sequence_number >= 0 || details.thread != 0;
  const bool inputs = with_inputs && details.input_count != 0;
  const bool args = details.arg_count != 0;
  put(out, static_cast<std::uint32_t>(name.size()));
  put(out,
      static_cast<std::uint16_t>((stack.hash != 0 ? part::kStack : 0) | (order ? part::kOrder : 0) |
                                 (inputs ? part::kInputs : 0) | (args ? part::kArgs : 0)));
  put(out, stack.count);
  out.put_text(name.data(), name.size());
  if (stack.hash != 0) {
    put(out, stack.hash);
    out.put(stack.frames, stack.count * sizeof(std::uint64_t));
  }
  if (order) {
    put(out, details.sequence_number);
    put(out, details.thread);
    put(out, details.forward_thread);
  }
  if (inputs) put_inputs(out, details);
  if (args) put_args(out, details);
}

// ---- back -----------------------------------------------------------------------------------

class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) noexcept : rest_(bytes) {}
  template <class T>
  T get() noexcept {
    T value;
    std::memcpy(&value, rest_.data(), sizeof value);
    rest_.remove_prefix(sizeof value);
    return value;
  }
  std::string_view take(std::size_t n) noexcept {
    const std::string_view taken = rest_.substr(0, n);
    rest_.remove_prefix(n);
    return taken;
  }
  [[nodiscard]] std::string_view rest() const noexcept { return rest_; }

 private:
  std::string_view rest_;
};

// A record's name and parts, read where they stand.
struct Payload {
  std::string_view name;
  std::uint16_t parts = 0;
  std::uint64_t stack_hash = 0;
  std::string_view frames;  // u64 each
  std::int64_t sequence_number = -1;
  std::uint64_t thread = 0, forward_thread = 0;
  std::string_view rest;  // from kInputs on

  static Payload of(const Record& r) noexcept {
    Payload p;
    const std::string_view bytes = bytes_behind(r);
    if ((r.site.load(std::memory_order_relaxed) & site_bit::kHasDetails) == 0) {
      p.name = bytes;
      return p;
    }
    ByteReader in(bytes);
    const auto name_bytes = in.get<std::uint32_t>();
    p.parts = in.get<std::uint16_t>();
    const std::size_t frames = in.get<std::uint16_t>();
    p.name = in.take(name_bytes);
    if ((p.parts & part::kStack) != 0) {
      p.stack_hash = in.get<std::uint64_t>();
      p.frames = in.take(frames * sizeof(std::uint64_t));
    }
    if ((p.parts & part::kOrder) != 0) {
      p.sequence_number = in.get<std::int64_t>();
      p.thread = in.get<std::uint64_t>();
      p.forward_thread = in.get<std::uint64_t>();
    }
    p.rest = in.rest();
    return p;
  }
};

}  // namespace libtrace::detail
