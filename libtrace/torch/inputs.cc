#include "libtrace/torch/inputs.h"

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue_inl.h>
#include <c10/core/ScalarType.h>

#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>

namespace libtrace::torch_adapter {
namespace {

// As torch: longer lists of scalars are not shown, nor longer lists of tensors.
constexpr std::size_t kMostListItems = 30;

bool is_number(const c10::IValue& value) {
  return value.isInt() || value.isDouble() || value.isBool();
}

// A whole number is printed with a point and nothing behind it, others with all digits.
std::size_t print_double(double d, char* to, std::size_t room) noexcept {
  constexpr double kWhole = 1e10;
  if (std::isfinite(d) && std::abs(d) < kWhole && std::trunc(d) == d) {
    char* at = to;
    if (std::signbit(d)) *at++ = '-';
    at = std::to_chars(at, to + room, static_cast<std::int64_t>(std::abs(d))).ptr;
    *at++ = '.';
    return static_cast<std::size_t>(at - to);
  }
  constexpr int kAllDigits = 17;
  const char* const end =
      std::to_chars(to, to + room, d, std::chars_format::general, kAllDigits).ptr;
  return static_cast<std::size_t>(end - to);
}

}  // namespace

Inputs* Inputs::of_this_thread() noexcept {
  thread_local const std::unique_ptr<Inputs> own(new (std::nothrow) Inputs);
  return own.get();
}

void Inputs::read(c10::ArrayRef<const c10::IValue> values, RangeDetails& details) {
  item_count_ = text_size_ = 0;
  const std::size_t count = values.size() < kMostInputs ? values.size() : kMostInputs;
  for (std::size_t i = 0; i < count; ++i) {
    inputs_[i] = Input{};
    read_value(values[i], inputs_[i]);
  }
  details.inputs = inputs_.data();
  details.input_count = count;
}

void Inputs::read_value(const c10::IValue& value, Input& input) {
  if (value.isTensor()) return read_tensor(value.toTensor(), input);
  const std::size_t before = text_size_;
  if (is_number(value)) {
    input.kind = Input::Kind::kScalar;
    if (!print(value)) return;
  } else if (!value.isList() || !read_list(value, input)) {
    return;
  }
  input.value = {text_.data() + before, text_size_ - before};
}

// True when it is a list of numbers and stands in the text.
bool Inputs::read_list(const c10::IValue& value, Input& input) {
  const c10::ArrayRef<c10::IValue> list = value.toListRef();
  if (value.isTensorList()) {
    input.kind = Input::Kind::kTensorList;
    if (list.size() > kMostListItems || list.size() > kMostItems - item_count_) return false;
    input.items = items_.data() + item_count_;
    input.item_count = list.size();
    for (const c10::IValue& item : list) {
      items_[item_count_] = Input{};
      if (item.isTensor()) read_tensor(item.toTensor(), items_[item_count_]);
      ++item_count_;
    }
    return false;
  }
  if (list.size() > kMostListItems || (!list.empty() && !is_number(list[0]))) return false;
  input.kind = Input::Kind::kScalarList;
  bool whole = put("[");
  for (std::size_t i = 0; i < list.size() && whole; ++i) {
    whole = (i == 0 || put(", ")) && print(list[i]);
  }
  return whole && put("]");
}

void Inputs::read_tensor(const at::Tensor& tensor, Input& input) {
  if (!tensor.defined()) return;
  input.kind = Input::Kind::kTensor;
  const auto type = tensor.dtype().name();
  input.type = {type.data(), type.size()};
  // Others (sparse, nested, symbolic) keep their sizes elsewhere.
  const c10::TensorImpl& impl = *tensor.unsafeGetTensorImpl();
  if (impl.layout() != c10::kStrided || tensor.is_nested() || impl.has_symbolic_sizes_strides()) {
    return;
  }
  input.sizes = impl.sizes().data();
  input.strides = impl.strides().data();
  input.dims = static_cast<std::uint32_t>(impl.sizes().size());
}

bool Inputs::print(const c10::IValue& scalar) {
  if (scalar.isBool()) return put(scalar.toBool() ? "True" : "False");
  char digits[40];
  if (scalar.isDouble())
    return put({digits, print_double(scalar.toDouble(), digits, sizeof digits)});
  if (!scalar.isInt()) return false;
  const char* const end = std::to_chars(digits, digits + sizeof digits, scalar.toInt()).ptr;
  return put({digits, static_cast<std::size_t>(end - digits)});
}

bool Inputs::put(std::string_view text) noexcept {
  if (text.size() > text_.size() - text_size_) return false;
  std::memcpy(text_.data() + text_size_, text.data(), text.size());
  text_size_ += text.size();
  return true;
}

}  // namespace libtrace::torch_adapter
