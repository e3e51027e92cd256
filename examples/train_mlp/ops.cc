#include "examples/train_mlp/ops.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "libtrace/record_function.h"

namespace example {
namespace {

Tensor t(const Tensor& a) {
  LIBTRACE_OP("aten::t");
  Tensor out(a.cols, a.rows);
  for (std::size_t r = 0; r < a.rows; ++r) {
    for (std::size_t c = 0; c < a.cols; ++c) out.at(c, r) = a.at(r, c);
  }
  return out;
}

// out[i][j...] += a[i] b[..][j...], for `kWide` columns that stay in registers.
constexpr std::size_t kWide = 32;
void multiply_columns(Tensor& out, const Tensor& a, const Tensor& b, std::size_t i, std::size_t j) {
  std::array<float, kWide> sum;
  std::copy_n(out.row(i).data() + j, kWide, sum.begin());
  for (std::size_t k = 0; k < a.cols; ++k) {
    const float factor = a.at(i, k);
    const float* const from = b.row(k).data() + j;
    for (std::size_t n = 0; n < kWide; ++n) sum[n] += factor * from[n];
  }
  std::copy_n(sum.begin(), kWide, out.row(i).data() + j);
}

// out += a b
void multiply_into(Tensor& out, const Tensor& a, const Tensor& b) {
  for (std::size_t i = 0; i < a.rows; ++i) {
    std::size_t j = 0;
    for (; j + kWide <= b.cols; j += kWide) multiply_columns(out, a, b, i, j);
    for (; j < b.cols; ++j) {
      for (std::size_t k = 0; k < a.cols; ++k) out.at(i, j) += a.at(i, k) * b.at(k, j);
    }
  }
}

Tensor mm(const Tensor& a, const Tensor& b) {
  LIBTRACE_OP("aten::mm");
  Tensor out(a.rows, b.cols);
  multiply_into(out, a, b);
  return out;
}

Tensor addmm(const Tensor& bias, const Tensor& a, const Tensor& b) {
  LIBTRACE_OP("aten::addmm");
  Tensor out(a.rows, b.cols);
  for (std::size_t r = 0; r < out.rows; ++r) {
    std::copy(bias.data.begin(), bias.data.end(), out.row(r).begin());
  }
  multiply_into(out, a, b);
  return out;
}

Tensor sum_rows(const Tensor& a) {
  LIBTRACE_OP("aten::sum");
  Tensor out(1, a.cols);
  for (std::size_t r = 0; r < a.rows; ++r) {
    for (std::size_t c = 0; c < a.cols; ++c) out.data[c] += a.at(r, c);
  }
  return out;
}

std::size_t label_index(int label) { return static_cast<std::size_t>(label); }

}  // namespace

Tensor linear(const Tensor& input, const Tensor& weight, const Tensor& bias) {
  LIBTRACE_OP("aten::linear");
  return addmm(bias, input, t(weight));
}

Tensor relu(const Tensor& input) {
  LIBTRACE_OP("aten::relu");
  LIBTRACE_OP("aten::clamp_min");
  Tensor out = input;
  for (float& v : out.data) v = std::max(v, 0.0F);
  return out;
}

Tensor log_softmax(const Tensor& input) {
  LIBTRACE_OP("aten::log_softmax");
  LIBTRACE_OP("aten::_log_softmax");
  Tensor out = input;
  for (std::size_t r = 0; r < out.rows; ++r) {
    const auto row = out.row(r);
    const float most = *std::max_element(row.begin(), row.end());
    float sum = 0;
    for (const float v : row) sum += std::exp(v - most);
    for (float& v : row) v -= most + std::log(sum);
  }
  return out;
}

float nll_loss(const Tensor& log_probabilities, const std::vector<int>& labels) {
  LIBTRACE_OP("aten::nll_loss_nd");
  LIBTRACE_OP("aten::nll_loss");
  LIBTRACE_OP("aten::nll_loss_forward");
  float loss = 0;
  for (std::size_t r = 0; r < labels.size(); ++r) {
    loss -= log_probabilities.at(r, label_index(labels[r]));
  }
  return loss / static_cast<float>(labels.size());
}

float accuracy(const Tensor& scores, const std::vector<int>& labels) {
  LIBTRACE_OP("aten::argmax");
  std::size_t right = 0;
  for (std::size_t r = 0; r < labels.size(); ++r) {
    const auto row = scores.row(r);
    const auto best = std::max_element(row.begin(), row.end()) - row.begin();
    right += best == labels[r] ? 1 : 0;
  }
  return static_cast<float>(right) / static_cast<float>(labels.size());
}

Tensor nll_loss_backward(const Tensor& log_probabilities, const std::vector<int>& labels) {
  LIBTRACE_OP("autograd::engine::evaluate_function: NllLossBackward0");
  LIBTRACE_OP("NllLossBackward0");
  LIBTRACE_OP("aten::nll_loss_backward");
  Tensor grad(log_probabilities.rows, log_probabilities.cols);
  for (std::size_t r = 0; r < labels.size(); ++r) {
    grad.at(r, label_index(labels[r])) = -1.0F / static_cast<float>(labels.size());
  }
  return grad;
}

Tensor log_softmax_backward(const Tensor& grad, const Tensor& output) {
  LIBTRACE_OP("autograd::engine::evaluate_function: LogSoftmaxBackward0");
  LIBTRACE_OP("LogSoftmaxBackward0");
  LIBTRACE_OP("aten::_log_softmax_backward_data");
  Tensor out(grad.rows, grad.cols);
  for (std::size_t r = 0; r < grad.rows; ++r) {
    float sum = 0;
    for (const float g : grad.row(r)) sum += g;
    for (std::size_t c = 0; c < grad.cols; ++c) {
      out.at(r, c) = grad.at(r, c) - std::exp(output.at(r, c)) * sum;
    }
  }
  return out;
}

Tensor threshold_backward(const Tensor& grad, const Tensor& input) {
  LIBTRACE_OP("autograd::engine::evaluate_function: ReluBackward0");
  LIBTRACE_OP("ReluBackward0");
  LIBTRACE_OP("aten::threshold_backward");
  Tensor out = grad;
  for (std::size_t i = 0; i < out.data.size(); ++i) {
    if (input.data[i] <= 0) out.data[i] = 0;
  }
  return out;
}

LinearGrads linear_backward(const Tensor& grad, const Tensor& input, const Tensor& weight) {
  LIBTRACE_OP("autograd::engine::evaluate_function: AddmmBackward0");
  LIBTRACE_OP("AddmmBackward0");
  LinearGrads grads;
  grads.input = mm(grad, weight);
  grads.weight = mm(t(grad), input);
  grads.bias = sum_rows(grad);
  return grads;
}

void zero_(Tensor& t) {
  LIBTRACE_OP("aten::zero_");
  std::fill(t.data.begin(), t.data.end(), 0.0F);
}

void mul_(Tensor& t, float factor) {
  LIBTRACE_OP("aten::mul_");
  for (float& v : t.data) v *= factor;
}

void add_(Tensor& t, const Tensor& other, float alpha) {
  LIBTRACE_OP("aten::add_");
  for (std::size_t i = 0; i < t.data.size(); ++i) t.data[i] += alpha * other.data[i];
}

}  // namespace example
