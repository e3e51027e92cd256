// A small residual network for pictures of any size (a multiple of 4): a stem, three stages of one
// block each that halve the picture, a classifier.
#pragma once

#include <torch/nn/module.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/pimpl.h>
#include <torch/types.h>

#include <cstdint>

#include "libtrace/range.h"

namespace example {

inline torch::nn::Conv2d conv3x3(std::int64_t in, std::int64_t out, std::int64_t stride) {
  return torch::nn::Conv2d(
      torch::nn::Conv2dOptions(in, out, 3).stride(stride).padding(1).bias(false));
}

struct BlockImpl final : torch::nn::Module {
  BlockImpl(std::int64_t in, std::int64_t out, std::int64_t stride)
      : conv1(register_module("conv1", conv3x3(in, out, stride))),
        bn1(register_module("bn1", torch::nn::BatchNorm2d(out))),
        conv2(register_module("conv2", conv3x3(out, out, 1))),
        bn2(register_module("bn2", torch::nn::BatchNorm2d(out))),
        shortcut(register_module(
            "shortcut",
            torch::nn::Conv2d(torch::nn::Conv2dOptions(in, out, 1).stride(stride).bias(false)))) {}

  torch::Tensor forward(const torch::Tensor& x) {
    torch::Tensor y = torch::relu(bn1->forward(conv1->forward(x)));
    y = bn2->forward(conv2->forward(y));
    return torch::relu(y + shortcut->forward(x));
  }

  torch::nn::Conv2d conv1;
  torch::nn::BatchNorm2d bn1;
  torch::nn::Conv2d conv2;
  torch::nn::BatchNorm2d bn2;
  torch::nn::Conv2d shortcut;
};
TORCH_MODULE(Block);

struct ResNetImpl final : torch::nn::Module {
  explicit ResNetImpl(std::int64_t classes)
      : stem(register_module("stem", conv3x3(3, 16, 1))),
        stage1(register_module("stage1", Block(16, 16, 1))),
        stage2(register_module("stage2", Block(16, 32, 2))),
        stage3(register_module("stage3", Block(32, 64, 2))),
        head(register_module("head", torch::nn::Linear(64, classes))) {}

  torch::Tensor forward(torch::Tensor x) {
    const libtrace::ModuleScope whole("ResNet");
    {
      const libtrace::ModuleScope module("stem");
      x = torch::relu(stem->forward(x));
    }
    {
      const libtrace::ModuleScope module("stage1");
      x = stage1->forward(x);
    }
    {
      const libtrace::ModuleScope module("stage2");
      x = stage2->forward(x);
    }
    {
      const libtrace::ModuleScope module("stage3");
      x = stage3->forward(x);
    }
    const libtrace::ModuleScope module("head");
    return head->forward(torch::adaptive_avg_pool2d(x, {1, 1}).flatten(1));
  }

  torch::nn::Conv2d stem;
  Block stage1, stage2, stage3;
  torch::nn::Linear head;
};
TORCH_MODULE(ResNet);

}  // namespace example
