// Stochastic gradient descent with momentum.
#pragma once

#include <vector>

#include "examples/train_mlp/model.h"

namespace example {

class Sgd {
 public:
  Sgd(std::vector<Parameter*> parameters, float learning_rate, float momentum);
  void zero_grad();
  void step();

 private:
  std::vector<Parameter*> parameters_;
  std::vector<Tensor> velocity_;
  float learning_rate_, momentum_;
};

}  // namespace example
