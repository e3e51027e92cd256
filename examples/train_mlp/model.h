// A multi-layer perceptron: linear layers with ReLU between them, log-softmax at the end.
#pragma once

#include <cstddef>
#include <random>
#include <string>
#include <vector>

#include "examples/train_mlp/tensor.h"

namespace example {

struct Parameter {
  Tensor value, grad;
};

class Mlp {
 public:
  // `sizes`: inputs, hidden layers, classes.
  Mlp(const std::vector<std::size_t>& sizes, std::mt19937& random);

  Tensor forward(const Tensor& input);  // log probabilities; keeps what backward needs
  // Adds the gradients of the last forward's loss to the parameters'.
  void backward(const std::vector<int>& labels);
  std::vector<Parameter*> parameters();

 private:
  struct Layer {
    std::string name, activation_name;  // as torch numbers modules: "nn.Module: Linear_0"
    Parameter weight, bias;
    Tensor input, output;  // of the last forward
  };
  std::vector<Layer> layers_;
  Tensor log_probabilities_;
};

}  // namespace example
