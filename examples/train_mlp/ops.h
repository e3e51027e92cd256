// The operators of a small network, under the names that PyTorch's own have, each recorded.
#pragma once

#include <vector>

#include "examples/train_mlp/tensor.h"

namespace example {

// ---- forward ----
Tensor linear(const Tensor& input, const Tensor& weight, const Tensor& bias);  // x Wᵀ + b
Tensor relu(const Tensor& input);
Tensor log_softmax(const Tensor& input);  // along rows
float nll_loss(const Tensor& log_probabilities, const std::vector<int>& labels);
float accuracy(const Tensor& scores, const std::vector<int>& labels);

// ---- backward ----
Tensor nll_loss_backward(const Tensor& log_probabilities, const std::vector<int>& labels);
Tensor log_softmax_backward(const Tensor& grad, const Tensor& output);
Tensor threshold_backward(const Tensor& grad, const Tensor& input);
struct LinearGrads {
  Tensor input, weight, bias;
};
LinearGrads linear_backward(const Tensor& grad, const Tensor& input, const Tensor& weight);

// ---- in place ----
void zero_(Tensor& t);
void mul_(Tensor& t, float factor);
void add_(Tensor& t, const Tensor& other, float alpha = 1.0F);  // t += alpha · other

}  // namespace example
