#include "examples/train_mlp/model.h"

#include <cmath>
#include <utility>

#include "examples/train_mlp/ops.h"
#include "libtrace/record_function.h"

namespace example {
namespace {

void accumulate(Parameter& parameter, const Tensor& grad) {
  LIBTRACE_OP("autograd::engine::evaluate_function: torch::autograd::AccumulateGrad");
  LIBTRACE_OP("torch::autograd::AccumulateGrad");
  add_(parameter.grad, grad);
}

}  // namespace

Mlp::Mlp(const std::vector<std::size_t>& sizes, std::mt19937& random) {
  for (std::size_t i = 0; i + 1 < sizes.size(); ++i) {
    Layer layer;
    layer.name = "nn.Module: Linear_" + std::to_string(i);
    layer.activation_name = "nn.Module: ReLU_" + std::to_string(i);
    layer.weight = {Tensor(sizes[i + 1], sizes[i]), Tensor(sizes[i + 1], sizes[i])};
    layer.bias = {Tensor(1, sizes[i + 1]), Tensor(1, sizes[i + 1])};
    const float bound = 1.0F / std::sqrt(static_cast<float>(sizes[i]));
    std::uniform_real_distribution<float> uniform(-bound, bound);
    for (float& v : layer.weight.value.data) v = uniform(random);
    for (float& v : layer.bias.value.data) v = uniform(random);
    layers_.push_back(std::move(layer));
  }
}

Tensor Mlp::forward(const Tensor& input) {
  LIBTRACE_SCOPE("nn.Module: MLP_0");
  Tensor x = input;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    Layer& layer = layers_[i];
    layer.input = std::move(x);
    {
      LIBTRACE_RECORD_USER_SCOPE(layer.name);
      layer.output = linear(layer.input, layer.weight.value, layer.bias.value);
    }
    if (i + 1 == layers_.size()) break;
    LIBTRACE_RECORD_USER_SCOPE(layer.activation_name);
    x = relu(layer.output);
  }
  log_probabilities_ = log_softmax(layers_.back().output);
  return log_probabilities_;
}

void Mlp::backward(const std::vector<int>& labels) {
  Tensor grad = nll_loss_backward(log_probabilities_, labels);
  grad = log_softmax_backward(grad, log_probabilities_);
  for (std::size_t i = layers_.size(); i-- > 0;) {
    Layer& layer = layers_[i];
    LinearGrads grads = linear_backward(grad, layer.input, layer.weight.value);
    accumulate(layer.bias, grads.bias);
    accumulate(layer.weight, grads.weight);
    if (i > 0) grad = threshold_backward(grads.input, layers_[i - 1].output);
  }
}

std::vector<Parameter*> Mlp::parameters() {
  std::vector<Parameter*> out;
  for (Layer& layer : layers_) out.insert(out.end(), {&layer.weight, &layer.bias});
  return out;
}

}  // namespace example
