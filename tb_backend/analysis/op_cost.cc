#include "tb_backend/analysis/op_cost.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "libtrace/model/flops.h"
#include "libtrace/model/shapes.h"

namespace traceglass {
namespace {

using Dims = std::vector<std::int64_t>;
using AllDims = std::vector<Dims>;
using Texts = std::vector<std::string>;

enum class Rule : std::uint8_t {
  kTorch,         // libtrace's formula; the output is the first operand times the last
  kLinear,        // input, weight
  kMatmul,        // any two operands
  kConv,          // input, weight and where its settings stand
  kConvBackward,  // where grad_output, input, weight stand
  kAttention,     // where q, k, v stand
  kBinary,        // one operation an element of the broadcast inputs
  kSameShape,     // the output has the first input's shape
  kInPlace,       // the first input is read and written
  kInputs,        // output small, or among the inputs
  kEmbedding,
};

// `at`: positions of inputs or of settings, by rule. kConv: stride, padding, dilation, groups,
// transposed (-1: never). kConvBackward: grad_output, input, weight, output_mask, transposed.
// kAttention: q, k, v, is_causal; then 1 for [batch, length, heads, size] instead of
// [batch, heads, length, size], and twice the cost relative to a forward pass.
struct Entry {
  std::string_view op;
  Rule rule;
  std::array<int, 6> at{};
};

constexpr Entry kEntries[] = {
    {"aten::mm", Rule::kTorch, {0, 1}},
    {"aten::addmm", Rule::kTorch, {1, 2}},
    {"aten::bmm", Rule::kTorch, {0, 1}},
    {"aten::baddbmm", Rule::kTorch, {1, 2}},
    {"aten::_addmm_activation", Rule::kMatmul, {1, 2}},
    {"aten::addmm_", Rule::kMatmul, {1, 2}},
    {"aten::_scaled_mm", Rule::kMatmul, {0, 1}},
    {"aten::matmul", Rule::kMatmul, {0, 1}},
    {"aten::mv", Rule::kMatmul, {0, 1}},
    {"aten::addmv", Rule::kMatmul, {1, 2}},
    {"aten::linear", Rule::kLinear},
    {"aten::conv1d", Rule::kConv, {3, 4, 5, 6, -1}},
    {"aten::conv2d", Rule::kConv, {3, 4, 5, 6, -1}},
    {"aten::conv3d", Rule::kConv, {3, 4, 5, 6, -1}},
    {"aten::convolution", Rule::kConv, {3, 4, 5, 8, 6}},
    {"aten::_convolution", Rule::kConv, {3, 4, 5, 8, 6}},
    {"aten::cudnn_convolution", Rule::kConv, {3, 2, 4, 5, -1}},
    {"aten::cudnn_convolution_relu", Rule::kConv, {3, 4, 5, 6, -1}},
    {"aten::miopen_convolution", Rule::kConv, {4, 3, 5, 6, -1}},
    {"aten::mkldnn_convolution", Rule::kConv, {4, 3, 5, 6, -1}},
    {"aten::convolution_backward", Rule::kConvBackward, {0, 1, 2, 10, 7}},
    {"aten::cudnn_convolution_backward", Rule::kConvBackward, {1, 0, 2, 10, -1}},
    {"aten::miopen_convolution_backward", Rule::kConvBackward, {1, 0, 2, 9, -1}},
    {"aten::mkldnn_convolution_backward", Rule::kConvBackward, {1, 0, 2, 7, -1}},
    {"aten::scaled_dot_product_attention", Rule::kAttention, {0, 1, 2, 5, 0, 2}},
    {"aten::_scaled_dot_product_flash_attention", Rule::kAttention, {0, 1, 2, 4, 0, 2}},
    {"aten::_scaled_dot_product_flash_attention_for_cpu", Rule::kAttention, {0, 1, 2, 4, 0, 2}},
    {"aten::_scaled_dot_product_efficient_attention", Rule::kAttention, {0, 1, 2, 6, 0, 2}},
    {"aten::_scaled_dot_product_cudnn_attention", Rule::kAttention, {0, 1, 2, 6, 0, 2}},
    {"aten::_flash_attention_forward", Rule::kAttention, {0, 1, 2, 8, 1, 2}},
    {"aten::_efficient_attention_forward", Rule::kAttention, {0, 1, 2, 9, 1, 2}},
    {"aten::_scaled_dot_product_flash_attention_backward", Rule::kAttention, {1, 2, 3, 11, 0, 5}},
    {"aten::_scaled_dot_product_flash_attention_for_cpu_backward",
     Rule::kAttention,
     {1, 2, 3, 7, 0, 5}},
    {"aten::_flash_attention_backward", Rule::kAttention, {1, 2, 3, 11, 1, 5}},
    {"aten::_scaled_dot_product_efficient_attention_backward",
     Rule::kAttention,
     {1, 2, 3, 11, 0, 5}},
    {"aten::add", Rule::kBinary},
    {"aten::sub", Rule::kBinary},
    {"aten::mul", Rule::kBinary},
    {"aten::div", Rule::kBinary},
    {"aten::add_", Rule::kInPlace},
    {"aten::sub_", Rule::kInPlace},
    {"aten::mul_", Rule::kInPlace},
    {"aten::div_", Rule::kInPlace},
    {"aten::relu_", Rule::kInPlace},
    {"aten::clamp_min_", Rule::kInPlace},
    {"aten::addcmul_", Rule::kInPlace},
    {"aten::addcdiv_", Rule::kInPlace},
    {"aten::masked_fill_", Rule::kInPlace},
    {"aten::copy_", Rule::kInputs},
    {"aten::fill_", Rule::kInputs},
    {"aten::zero_", Rule::kInputs},
    {"aten::sum", Rule::kInputs},
    {"aten::mean", Rule::kInputs},
    {"aten::amax", Rule::kInputs},
    {"aten::argmax", Rule::kInputs},
    {"aten::linalg_vector_norm", Rule::kInputs},
    {"aten::relu", Rule::kSameShape},
    {"aten::clamp_min", Rule::kSameShape},
    {"aten::gelu", Rule::kSameShape},
    {"aten::silu", Rule::kSameShape},
    {"aten::sigmoid", Rule::kSameShape},
    {"aten::tanh", Rule::kSameShape},
    {"aten::exp", Rule::kSameShape},
    {"aten::pow", Rule::kSameShape},
    {"aten::rsqrt", Rule::kSameShape},
    {"aten::sqrt", Rule::kSameShape},
    {"aten::neg", Rule::kSameShape},
    {"aten::cos", Rule::kSameShape},
    {"aten::sin", Rule::kSameShape},
    {"aten::native_dropout", Rule::kSameShape},
    {"aten::_softmax", Rule::kSameShape},
    {"aten::_log_softmax", Rule::kSameShape},
    {"aten::native_layer_norm", Rule::kSameShape},
    {"aten::native_group_norm", Rule::kSameShape},
    {"aten::_fused_rms_norm", Rule::kSameShape},
    {"aten::native_batch_norm", Rule::kSameShape},
    {"aten::cudnn_batch_norm", Rule::kSameShape},
    {"aten::miopen_batch_norm", Rule::kSameShape},
    {"aten::threshold_backward", Rule::kSameShape},
    {"aten::gelu_backward", Rule::kSameShape},
    {"aten::silu_backward", Rule::kSameShape},
    {"aten::sigmoid_backward", Rule::kSameShape},
    {"aten::tanh_backward", Rule::kSameShape},
    {"aten::native_dropout_backward", Rule::kSameShape},
    {"aten::_softmax_backward_data", Rule::kSameShape},
    {"aten::_log_softmax_backward_data", Rule::kSameShape},
    {"aten::native_layer_norm_backward", Rule::kSameShape},
    {"aten::native_batch_norm_backward", Rule::kSameShape},
    {"aten::cudnn_batch_norm_backward", Rule::kSameShape},
    {"aten::miopen_batch_norm_backward", Rule::kSameShape},
    {"aten::embedding", Rule::kEmbedding},
};

const Entry* entry_of(std::string_view op) {
  const auto* const it = std::find_if(std::begin(kEntries), std::end(kEntries),
                                      [&](const Entry& e) { return e.op == op; });
  return it == std::end(kEntries) ? nullptr : it;
}

// Bytes an element, 0 for what is no tensor.
double size_of(std::string_view type) {
  struct Size {
    std::string_view type;
    double bytes;
  };
  constexpr Size kSizes[] = {{"float", 4},
                             {"double", 8},
                             {"c10::Half", 2},
                             {"c10::BFloat16", 2},
                             {"long int", 8},
                             {"long", 8},
                             {"long long", 8},
                             {"int", 4},
                             {"short int", 2},
                             {"short", 2},
                             {"signed char", 1},
                             {"unsigned char", 1},
                             {"char", 1},
                             {"bool", 1},
                             {"c10::complex<float>", 8},
                             {"c10::complex<double>", 16},
                             {"c10::complex<c10::Half>", 4}};
  if (type.starts_with("c10::Float8")) return 1;
  for (const Size& s : kSizes) {
    if (s.type == type) return s.bytes;
  }
  return 0;
}

Precision precision_of(std::string_view type) {
  if (type == "float") return Precision::kFp32;
  if (type == "double") return Precision::kFp64;
  if (type == "c10::Half" || type == "c10::BFloat16") return Precision::kHalf;
  return type.starts_with("c10::Float8") ? Precision::kFp8 : Precision::kUnknown;
}

double product(const Dims& dims, std::size_t from = 0) {
  double p = 1;
  for (std::size_t i = from; i < dims.size(); ++i) {
    p *= static_cast<double>(std::max<std::int64_t>(dims[i], 0));
  }
  return p;
}

class Inputs {
 public:
  Inputs(const AllDims& dims, const Texts& types, const Texts& concrete)
      : dims_(dims), types_(types), concrete_(concrete) {}

  [[nodiscard]] const Dims& dims(int i) const {
    static const Dims kNoDims;
    return i >= 0 && static_cast<std::size_t>(i) < dims_.size() ? dims_[static_cast<std::size_t>(i)]
                                                                : kNoDims;
  }
  [[nodiscard]] std::string_view type(int i) const { return text(types_, i); }
  [[nodiscard]] std::string_view concrete(int i) const { return text(concrete_, i); }
  [[nodiscard]] bool is_true(int i) const { return concrete(i) == "True" || concrete(i) == "true"; }
  // A setting as one number an axis.
  [[nodiscard]] Dims axes(int i, std::size_t count) const {
    Dims numbers = libtrace::parse_numbers(concrete(i));
    if (numbers.size() == 1) numbers.resize(count, numbers[0]);
    return numbers;
  }
  [[nodiscard]] bool has_types() const { return !types_.empty(); }
  // Of all tensors.
  [[nodiscard]] double bytes() const {
    double sum = 0;
    for (std::size_t i = 0; i < std::min(dims_.size(), types_.size()); ++i) {
      sum += product(dims_[i]) * size_of(types_[i]);
    }
    return sum;
  }
  // Elements of the inputs broadcast against each other, and bytes of the widest.
  [[nodiscard]] double broadcast(double& size) const {
    Dims out;
    for (std::size_t i = 0; i < dims_.size(); ++i) {
      const double width = i < types_.size() ? size_of(types_[i]) : 0;
      if (!types_.empty() && width == 0) continue;
      if (!dims_[i].empty()) size = std::max(size, width);
      if (dims_[i].size() > out.size()) out.insert(out.begin(), dims_[i].size() - out.size(), 1);
      for (std::size_t k = 0; k < dims_[i].size(); ++k) {
        std::int64_t& at = out[out.size() - dims_[i].size() + k];
        at = at == 1 ? dims_[i][k] : at;
      }
    }
    return out.empty() ? 0 : product(out);
  }

 private:
  static std::string_view text(const Texts& texts, int i) {
    return i >= 0 && static_cast<std::size_t>(i) < texts.size()
               ? std::string_view(texts[static_cast<std::size_t>(i)])
               : std::string_view();
  }
  const AllDims& dims_;
  const Texts &types_, &concrete_;
};

// Operations and elements of the output; 0 operations: unknown.
struct Work {
  double flops = 0, out = 0;
};

Work multiplied(Dims a, Dims b) {
  if (a.empty() || b.empty()) return {};
  if (a.size() == 1) a.insert(a.begin(), 1);
  if (b.size() == 1) b.push_back(1);
  const std::int64_t m = a[a.size() - 2], k = a.back(), n = b.back();
  if (k != b[b.size() - 2] || k <= 0 || m <= 0 || n <= 0) return {};
  double batch = 1;
  const std::size_t most = std::max(a.size(), b.size());
  for (std::size_t i = 3; i <= most; ++i) {
    const std::int64_t x = i <= a.size() ? a[a.size() - i] : 1,
                       y = i <= b.size() ? b[b.size() - i] : 1;
    batch *= static_cast<double>(x == 1 ? y : x);
  }
  const double out = batch * static_cast<double>(m) * static_cast<double>(n);
  return {2 * out * static_cast<double>(k), out};
}

Work convolved(const Inputs& in, const Entry& e) {
  const Dims &input = in.dims(0), &weight = in.dims(1);
  if (input.size() < 3 || weight.size() != input.size()) return {};
  if (in.is_true(e.at[4])) {  // each input element meets each weight of its channel
    return {2 * product(input) * product(weight, 1), 0};
  }
  const std::size_t axes = input.size() - 2;
  const Dims stride = in.axes(e.at[0], axes), padding = in.axes(e.at[1], axes),
             dilation = in.axes(e.at[2], axes);
  if (stride.size() != axes || padding.size() != axes || dilation.size() != axes) return {};
  double out = static_cast<double>(input[0]) * static_cast<double>(weight[0]);
  for (std::size_t i = 0; i < axes; ++i) {
    const auto size = static_cast<double>(input[2 + i]),
               kernel = static_cast<double>(weight[2 + i]);
    if (stride[i] <= 0 || kernel < 1) return {};
    const double room = size + 2 * static_cast<double>(padding[i]) -
                        (static_cast<double>(dilation[i]) * (kernel - 1) + 1);
    if (room < 0) return {};
    out *= std::floor(room / static_cast<double>(stride[i])) + 1;
  }
  return {2 * out * product(weight, 1), out};
}

Work convolved_back(const Inputs& in, const Entry& e) {
  const Dims &grad = in.dims(e.at[0]), &input = in.dims(e.at[1]), &weight = in.dims(e.at[2]);
  if (grad.size() < 3 || weight.size() != grad.size() || input.size() != grad.size()) return {};
  // "[True, True, False]": gradients of input, weight, bias; all when the file does not say.
  const std::string_view mask = in.concrete(e.at[3]);
  const auto wanted = [&](std::size_t i) {
    std::size_t at = 0;
    for (; i > 0 && at != std::string_view::npos; --i) at = mask.find(',', at + 1);
    if (mask.empty() || at == std::string_view::npos) return true;
    const std::size_t word = mask.find_first_of("TtFf", at);
    return word == std::string_view::npos || mask[word] == 'T' || mask[word] == 't';
  };
  const double one = 2 * product(in.is_true(e.at[4]) ? input : grad) * product(weight, 1);
  const double parts = (wanted(0) ? 1 : 0) + (wanted(1) ? 1 : 0);
  return {one * parts, (wanted(0) ? product(input) : 0) + (wanted(1) ? product(weight) : 0)};
}

Work attended(const Inputs& in, const Entry& e) {
  Dims q = in.dims(e.at[0]), k = in.dims(e.at[1]), v = in.dims(e.at[2]);
  if (q.size() < 3 || k.size() != q.size() || v.size() != q.size()) return {};
  if (e.at[4] == 1) {
    if (q.size() != 4) return {};  // packed sequences: their lengths are not in the shapes
    for (Dims* d : {&q, &k, &v}) std::swap((*d)[1], (*d)[2]);
  }
  const std::size_t n = q.size();
  const double heads = product(Dims(q.begin(), q.end() - 2));
  const auto length = static_cast<double>(q[n - 2]), size = static_cast<double>(q[n - 1]),
             keys = static_cast<double>(k[n - 2]), value = static_cast<double>(v[n - 1]);
  const double seen =
      in.is_true(e.at[3]) || (in.concrete(e.at[3]) == "1" && e.at[4] == 1) ? 0.5 : 1;
  // Two products forward; five backward, which makes the scores again.
  const double forward = 2 * heads * length * keys * (size + value) * seen;
  const bool back = e.at[5] == 5;
  return {back ? forward * 2.5 : forward,
          back ? product(q) + product(k) + product(v) : heads * length * value};
}

}  // namespace

std::string_view precision_name(Precision precision) {
  constexpr std::string_view kNames[] = {"unknown",   "fp64", "fp32",       "tf32",
                                         "fp16/bf16", "fp8",  "vector fp32"};
  return kNames[static_cast<std::size_t>(precision)];
}

bool has_cost(std::string_view op) { return entry_of(op) != nullptr; }

OpCost cost_of(std::string_view op, const AllDims& dims, const Texts& types,
               const Texts& concrete) {
  OpCost cost;
  const Entry* entry = entry_of(op);
  if (entry == nullptr || dims.empty()) return cost;
  const Entry& e = *entry;
  const Inputs in(dims, types, concrete);
  Work work;
  int operand = 0;         // whose type the output has, and whose precision counts
  bool writes_out = true;  // else the output is among the inputs, or small
  switch (e.rule) {
    case Rule::kTorch:
      operand = e.at[0];
      work = multiplied(in.dims(e.at[0]), in.dims(e.at[1]));
      work.flops = static_cast<double>(libtrace::count_flops(op, dims, concrete));
      break;
    case Rule::kMatmul:
      operand = e.at[0];
      work = multiplied(in.dims(e.at[0]), in.dims(e.at[1]));
      break;
    case Rule::kLinear: {
      Dims weight = in.dims(1);
      if (weight.size() == 2) std::swap(weight[0], weight[1]);
      work = multiplied(in.dims(0), weight);
      break;
    }
    case Rule::kConv:
      work = convolved(in, e);
      break;
    case Rule::kConvBackward:
      work = convolved_back(in, e);
      break;
    case Rule::kAttention:
      operand = e.at[0];
      work = attended(in, e);
      break;
    case Rule::kBinary: {
      double size = 0;
      const double out = in.broadcast(size);
      if (out > 0 && in.has_types()) cost.bytes = in.bytes() + out * size;
      work.flops = out;
      break;
    }
    case Rule::kInPlace:
    case Rule::kSameShape: {
      work.out = product(in.dims(0));
      if (in.dims(0).empty()) return cost;
      const bool counted =
          op == "aten::add_" || op == "aten::mul_" || op == "aten::sub_" || op == "aten::div_";
      if (counted) work.flops = work.out;
      break;
    }
    case Rule::kInputs:
      if (in.dims(0).empty()) return cost;
      writes_out = false;
      break;
    case Rule::kEmbedding: {
      if (in.dims(0).size() != 2 || !in.has_types()) return cost;
      const double rows = product(in.dims(1));
      const double row = static_cast<double>(in.dims(0)[1]) * size_of(in.type(0));
      cost.bytes = 2 * rows * row + rows * size_of(in.type(1));
      return cost;
    }
  }
  cost.matrix = e.rule <= Rule::kAttention;
  if (cost.matrix && !(work.flops > 0)) return {};
  cost.flops = std::isfinite(work.flops) ? work.flops : 0;
  cost.precision = !cost.matrix ? Precision::kVector : precision_of(in.type(operand));
  const double size = size_of(in.type(operand));
  const bool transposed = cost.matrix && work.out == 0;
  if (!cost.bytes && size > 0 && !transposed) {
    cost.bytes = in.bytes() + (writes_out ? work.out * size : 0);
  }
  if (cost.bytes && !(std::isfinite(*cost.bytes) && *cost.bytes > 0)) cost.bytes.reset();
  return cost;
}

}  // namespace traceglass
