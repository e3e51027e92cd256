// What stands in the slots behind a record: its name, and with kHasDetails what else it carries.
//
//   without details   name
//   with details      u32 name bytes | u16 parts | u16 frames | name | part …
//     kStack          u64 hash | frames * u64 return addresses (0 frames: the lane has said them)
//     kOrder          i64 sequence number | u64 thread | u64 forward thread
//     kInputs         u16 count | input …
//       input         InputHead | type | value | sizes | strides; of a tensor list then
//                     u16 count | input …
//     kArgs           u16 count | (ArgHead | key | text) …
//
// Encoding is on the hot path: written once, straight to where it stays, and little of it, for what
// a record costs is the memory it passes through.
#pragma once

#include <algorithm>
#include <bit>
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

class ByteWriter {
 public:
  ByteWriter(char* to, const char* limit) noexcept : to_(to), limit_(limit) {}
  // Whether so much fits. Once it did not, nothing does.
  bool fits(std::size_t bytes) noexcept {
    if (__builtin_expect(static_cast<std::size_t>(limit_ - to_) >= bytes, 1)) return true;
    limit_ = to_ = nullptr;
    return false;
  }
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
  // Copies of a known size are an instruction or two; most tensors have four dimensions, two or
  // one.
  void put_numbers(const std::int64_t* from, std::size_t n) noexcept {
    if (n == 4) {
      std::memcpy(to_, from, 4 * sizeof *from);
    } else if (n == 2) {
      std::memcpy(to_, from, 2 * sizeof *from);
    } else if (n == 1) {
      std::memcpy(to_, from, sizeof *from);
    } else if (n != 0) {
      std::memcpy(to_, from, n * sizeof *from);
    }
    to_ += n * sizeof *from;
  }
  template <class T>
  void put_one(T value) noexcept {
    std::memcpy(to_, &value, sizeof value);
    to_ += sizeof value;
  }
  // nullptr: it did not fit.
  [[nodiscard]] const char* end() const noexcept { return to_; }

 private:
  // Its first and its last word, which overlap.
  template <class Word>
  void copy_ends(const char* from, std::size_t n) noexcept {
    std::memcpy(to_, from, sizeof(Word));
    std::memcpy(to_ + n - sizeof(Word), from + n - sizeof(Word), sizeof(Word));
  }

  char* to_;
  const char* limit_;
};

inline std::string_view clipped(std::string_view text) noexcept {
  return text.substr(0, kMostText);
}

struct InputHead {
  std::uint32_t value_bytes;
  std::uint16_t type_bytes;
  std::uint16_t dims;
  Input::Kind kind;
  std::uint8_t has;
  std::uint16_t unused;
};
static_assert(sizeof(InputHead) == 12);
namespace has {
inline constexpr std::uint8_t kSizes = 1, kStrides = 2;
}
inline constexpr std::uint32_t kMostDims = 256;

inline std::uint32_t dims_of(const Input& input) noexcept {
  return input.kind == Input::Kind::kTensor ? std::min(input.dims, kMostDims) : 0;
}
[[gnu::always_inline]] inline void put_input(ByteWriter& out, const Input& input) noexcept {
  const std::string_view type = clipped(input.type), value = clipped(input.value);
  const std::uint32_t dims = dims_of(input);
  if (!out.fits(sizeof(InputHead) + type.size() + value.size() +
                std::size_t{2} * dims * sizeof(std::int64_t) + sizeof(std::uint16_t))) {
    return;
  }
  const auto forms = static_cast<std::uint32_t>((input.sizes != nullptr ? has::kSizes : 0) |
                                                (input.strides != nullptr ? has::kStrides : 0));
  // An InputHead in two words: made of its members it would go to memory and back.
  static_assert(std::endian::native == std::endian::little);
  out.put_one(std::uint64_t{value.size()} | std::uint64_t{type.size()} << 32 |
              std::uint64_t{dims} << 48);
  out.put_one(static_cast<std::uint32_t>(input.kind) | forms << 8);
  out.put_text(type.data(), type.size());
  out.put_text(value.data(), value.size());
  if (input.sizes != nullptr) out.put_numbers(input.sizes, dims);
  if (input.strides != nullptr) out.put_numbers(input.strides, dims);
}
// What is written of a list: nothing of a long one.
inline std::size_t items_of(const Input& input) noexcept {
  return input.item_count > kMostListItems || input.items == nullptr ? 0 : input.item_count;
}
inline std::size_t inputs_of(const RangeDetails& details) noexcept {
  return details.inputs != nullptr ? std::min(details.input_count, kMostInputs) : 0;
}
inline std::size_t args_of(const RangeDetails& details) noexcept {
  return details.args != nullptr ? std::min(details.arg_count, kMostArgs) : 0;
}

[[gnu::noinline]] inline ByteWriter put_list(ByteWriter out, const Input& list) noexcept {
  const std::size_t items = items_of(list);
  if (out.end() == nullptr) return out;
  out.put_one(static_cast<std::uint16_t>(items));  // put_input() left room for it
  for (std::size_t k = 0; k < items; ++k) put_input(out, list.items[k]);
  return out;
}

// By value and back: what writes is a pointer, and is to stay in a register.
[[gnu::always_inline]] inline ByteWriter put_inputs(ByteWriter out,
                                                    const RangeDetails& details) noexcept {
  const std::size_t count = inputs_of(details);
  if (!out.fits(sizeof(std::uint16_t))) return out;
  out.put_one(static_cast<std::uint16_t>(count));
  for (std::size_t i = 0; i < count; ++i) {
    const Input& input = details.inputs[i];
    put_input(out, input);
    if (__builtin_expect(input.kind == Input::Kind::kTensorList, 0)) out = put_list(out, input);
  }
  return out;
}

struct ArgHead {
  std::uint64_t number;
  std::uint32_t text_bytes;
  std::uint16_t key_bytes;
  Value::Type type;
  std::uint8_t unused;
};
static_assert(sizeof(ArgHead) == 16);

[[gnu::noinline]] inline ByteWriter put_args(ByteWriter out, const RangeDetails& details) noexcept {
  const std::size_t count = args_of(details);
  if (!out.fits(sizeof(std::uint16_t))) return out;
  out.put_one(static_cast<std::uint16_t>(count));
  for (std::size_t i = 0; i < count; ++i) {
    const auto& [key, value] = details.args[i];
    const std::string_view key_text = clipped(key), text = clipped(value.text);
    if (!out.fits(sizeof(ArgHead) + key_text.size() + text.size())) return out;
    ArgHead head{};
    head.number = value.u;
    head.text_bytes = static_cast<std::uint32_t>(text.size());
    head.key_bytes = static_cast<std::uint16_t>(key_text.size());
    head.type = value.type;
    out.put_one(head);
    out.put_text(key_text.data(), key_text.size());
    out.put_text(text.data(), text.size());
  }
  return out;
}

// What put_details() writes at most, inputs and arguments aside.
inline std::size_t head_bytes(std::string_view name, const Stack& stack) noexcept {
  return 64 + name.size() + stack.count * sizeof(std::uint64_t);
}
// All of it, where what is left of a chunk did not do.
[[gnu::noinline]] inline std::size_t most_bytes(std::string_view name, const RangeDetails& details,
                                                bool with_inputs, const Stack& stack) noexcept {
  std::size_t bytes = head_bytes(name, stack);
  const auto add = [&bytes](const Input& input) {
    bytes += sizeof(InputHead) + clipped(input.type).size() + clipped(input.value).size() +
             std::size_t{2} * dims_of(input) * sizeof(std::int64_t) + sizeof(std::uint16_t);
  };
  if (with_inputs) {
    for (std::size_t i = 0, n = inputs_of(details); i < n; ++i) {
      const Input& input = details.inputs[i];
      add(input);
      if (input.kind != Input::Kind::kTensorList) continue;
      for (std::size_t k = 0; k < items_of(input); ++k) add(input.items[k]);
    }
  }
  for (std::size_t i = 0, n = args_of(details); i < n; ++i) {
    const auto& [key, value] = details.args[i];
    bytes += sizeof(ArgHead) + clipped(key).size() + clipped(value.text).size();
  }
  return bytes;
}

// Writes from `to` on, where there is room for head_bytes(); returns where it ended, or nullptr
// when the rest does not fit before `limit`.
inline const char* put_details(char* to, const char* limit, std::string_view name,
                               const RangeDetails& details, bool with_inputs,
                               const Stack& stack) noexcept {
  ByteWriter out(to, limit);
  const bool order = details.sequence_number >= 0 || details.thread != 0;
  const bool inputs = with_inputs && inputs_of(details) != 0;
  const bool args = args_of(details) != 0;
  out.put_one(static_cast<std::uint32_t>(name.size()));
  out.put_one(static_cast<std::uint16_t>((stack.hash != 0 ? part::kStack : 0) |
                                         (order ? part::kOrder : 0) | (inputs ? part::kInputs : 0) |
                                         (args ? part::kArgs : 0)));
  out.put_one(stack.count);
  out.put_text(name.data(), name.size());
  if (stack.hash != 0) {
    out.put_one(stack.hash);
    out.put(stack.frames, stack.count * sizeof(std::uint64_t));
  }
  if (order) {
    out.put_one(details.sequence_number);
    out.put_one(details.thread);
    out.put_one(details.forward_thread);
  }
  if (inputs) out = put_inputs(out, details);
  if (args) out = put_args(out, details);
  return out.end();
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
