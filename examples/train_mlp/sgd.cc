#include "examples/train_mlp/sgd.h"

#include <utility>

#include "examples/train_mlp/ops.h"
#include "libtrace/record_function.h"

namespace example {

Sgd::Sgd(std::vector<Parameter*> parameters, float learning_rate, float momentum)
    : parameters_(std::move(parameters)), learning_rate_(learning_rate), momentum_(momentum) {
  for (const Parameter* p : parameters_) velocity_.emplace_back(p->value.rows, p->value.cols);
}

void Sgd::zero_grad() {
  LIBTRACE_SCOPE("Optimizer.zero_grad#SGD.zero_grad");
  for (Parameter* p : parameters_) zero_(p->grad);
}

void Sgd::step() {
  LIBTRACE_SCOPE("Optimizer.step#SGD.step");
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    mul_(velocity_[i], momentum_);
    add_(velocity_[i], parameters_[i]->grad);
    add_(parameters_[i]->value, velocity_[i], -learning_rate_);
  }
}

}  // namespace example
