#include "examples/libtorch_resnet/training.h"

#include <torch/optim/sgd.h>
#include <torch/types.h>
#include <torch/utils.h>

#include "examples/libtorch_resnet/resnet.h"
#include "libtrace/record_function.h"

namespace example {
namespace {

constexpr std::int64_t kClasses = 10;

}  // namespace

struct Training::Impl {
  Impl(std::int64_t batch_size, std::int64_t pixels) : batch(batch_size) {
    torch::manual_seed(1);
    patterns = torch::randn({kClasses, 3, pixels, pixels});
    model = ResNet(kClasses);
    optimizer = std::make_unique<torch::optim::SGD>(
        model->parameters(), torch::optim::SGDOptions(0.05).momentum(0.9).weight_decay(1e-4));
  }

  std::int64_t batch;
  torch::Tensor patterns;  // what a class looks like, under noise
  ResNet model{nullptr};
  std::unique_ptr<torch::optim::SGD> optimizer;
};

Training::Training(std::int64_t batch, std::int64_t pixels)
    : impl_(std::make_unique<Impl>(batch, pixels)) {}
Training::~Training() = default;

float Training::step() {
  torch::Tensor pictures, labels;
  {
    LIBTRACE_SCOPE("load_batch");
    labels = torch::randint(kClasses, {impl_->batch}, torch::kLong);
    pictures = impl_->patterns.index_select(0, labels);
    pictures = pictures + torch::randn_like(pictures) / 2;
  }
  torch::Tensor loss;
  {
    LIBTRACE_SCOPE("forward");
    loss = torch::nll_loss(torch::log_softmax(impl_->model->forward(pictures), 1), labels);
  }
  {
    LIBTRACE_SCOPE("backward");
    impl_->optimizer->zero_grad();
    loss.backward();
  }
  {
    LIBTRACE_SCOPE("optimizer");
    impl_->optimizer->step();
  }
  return loss.item<float>();
}

}  // namespace example
