// An operator's arguments as the recorder takes them. Sizes and strides are read where torch keeps
// them; scalars are printed as torch prints them.
#pragma once

#include <ATen/core/ivalue.h>

#include <array>
#include <cstddef>
#include <string_view>

#include "libtrace/range.h"

namespace libtrace::torch_adapter {

// The memory that one operator's inputs need while they are recorded; a thread keeps one.
class Inputs {
 public:
  // nullptr: no memory.
  static Inputs* of_this_thread() noexcept;

  // Valid until the next call, and as long as `values` live. Throws what torch throws.
  void read(c10::ArrayRef<const c10::IValue> values, RangeDetails& details);

 private:
  // What does not fit is kOther: no operator of ATen comes near.
  static constexpr std::size_t kMostInputs = 64, kMostItems = 512, kTextBytes = 8192;

  void read_value(const c10::IValue& value, Input& input);
  bool read_list(const c10::IValue& value, Input& input);
  static void read_tensor(const at::Tensor& tensor, Input& input);
  bool print(const c10::IValue& scalar);
  bool put(std::string_view text) noexcept;

  std::array<Input, kMostInputs> inputs_;
  std::array<Input, kMostItems> items_;
  std::size_t item_count_ = 0;
  std::array<char, kTextBytes> text_;
  std::size_t text_size_ = 0;
};

}  // namespace libtrace::torch_adapter
