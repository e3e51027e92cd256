// Operations and bytes of operators, worked out by hand.
#include "tb_backend/analysis/op_cost.h"

#include <gtest/gtest.h>

#include <cmath>

#include "libtrace/model/shapes.h"
#include "tb_backend/analysis/op_work.h"
#include "tests/tb_backend/analysis/rows.h"

namespace traceglass {
namespace {

using testing::Rows;
using testing::Value;

OpCost cost(std::string_view op, std::string_view dims, std::string_view types = "[]",
            std::string_view concrete = "[]") {
  return cost_of(op, libtrace::parse_shapes(dims), libtrace::parse_strings(types),
                 libtrace::parse_strings(concrete));
}

TEST(OpCost, Products) {
  const OpCost mm = cost("aten::mm", "[[8,16],[16,4]]", R"(["float","float"])");
  EXPECT_EQ(mm.flops, 2 * 8 * 16 * 4);
  EXPECT_EQ(mm.bytes, 4 * (8 * 16 + 16 * 4 + 8 * 4));
  EXPECT_EQ(mm.precision, Precision::kFp32);
  const OpCost addmm = cost("aten::addmm", "[[4],[8,16],[16,4],[],[]]",
                            R"(["c10::Half","c10::Half","c10::Half","Scalar","Scalar"])");
  EXPECT_EQ(addmm.flops, 2 * 8 * 16 * 4);
  EXPECT_EQ(addmm.bytes, 2 * (4 + 8 * 16 + 16 * 4 + 8 * 4));
  EXPECT_EQ(addmm.precision, Precision::kHalf);
  const OpCost bmm = cost("aten::bmm", "[[3,8,16],[3,16,4]]", R"(["double","double"])");
  EXPECT_EQ(bmm.flops, 3 * 2 * 8 * 16 * 4);
  EXPECT_EQ(bmm.bytes, 8 * 3 * (8 * 16 + 16 * 4 + 8 * 4));
  EXPECT_EQ(cost("aten::baddbmm", "[[3,8,4],[3,8,16],[3,16,4]]").flops, 3 * 2 * 8 * 16 * 4);
  EXPECT_EQ(cost("aten::linear", "[[2,5,16],[4,16],[4]]").flops, 2 * 10 * 16 * 4);
  EXPECT_EQ(cost("aten::matmul", "[[3,1,8,16],[5,16,4]]").flops, 15 * 2 * 8 * 16 * 4);
  EXPECT_EQ(cost("aten::matmul", "[[16],[16]]").flops, 2 * 16);
}

TEST(OpCost, Convolutions) {
  // 2 images of 3 × 10 × 10, 6 filters of 3 × 3, stride 2, padding 1: 5 × 5 out.
  const double out = 2 * 6 * 5 * 5, flops = 2 * out * 3 * 9;
  const std::string shapes = "[[2,3,10,10],[6,3,3,3],[]";
  EXPECT_EQ(cost("aten::conv2d", shapes + ",[],[],[],[]]", "[]",
                 R"(["","","","[2, 2]","[1, 1]","[1, 1]","1"])")
                .flops,
            flops);
  const OpCost conv =
      cost("aten::convolution", shapes + ",[],[],[],[],[],[]]",
           R"(["float","float","","ScalarList","ScalarList","ScalarList","Scalar","","Scalar"])",
           R"(["","","","[2, 2]","[1, 1]","[1, 1]","False","[0, 0]","1"])");
  EXPECT_EQ(conv.flops, flops);
  EXPECT_EQ(conv.bytes, 4 * (600 + 162 + out));
  EXPECT_EQ(cost("aten::miopen_convolution", shapes + "]", "[]",
                 R"(["","","","[1, 1]","[2, 2]","[1, 1]","1"])")
                .flops,
            flops);
  EXPECT_EQ(cost("aten::cudnn_convolution", "[[2,3,10,10],[6,3,3,3]]", "[]",
                 R"(["","","[1, 1]","[2, 2]","[1, 1]","1"])")
                .flops,
            flops);
  // Settings that the file does not have.
  EXPECT_EQ(cost("aten::cudnn_convolution", "[[2,3,10,10],[6,3,3,3]]").flops, 0);
  // 3 groups: each filter sees one channel.
  EXPECT_EQ(cost("aten::conv2d", "[[2,3,10,10],[6,1,3,3],[]]", "[]",
                 R"(["","","","[2]","[1]","[1]","3"])")
                .flops,
            2 * out * 9);
  // Transposed: each input element meets each weight of its channel.
  EXPECT_EQ(cost("aten::convolution", "[[2,6,5,5],[6,3,3,3],[]]", "[]",
                 R"(["","","","[2, 2]","[1, 1]","[1, 1]","True","[1, 1]","1"])")
                .flops,
            2 * (2 * 6 * 25) * (3 * 9));
}

TEST(OpCost, BackwardOfConvolutions) {
  const std::string shapes = "[[2,6,5,5],[2,3,10,10],[6,3,3,3],[],[],[],[],[],[],[],[]]";
  const double one = 2 * (2 * 6 * 25) * (3 * 9);
  const auto masked = [&](std::string_view mask) {
    return cost("aten::convolution_backward", shapes, "[]",
                R"(["","","","[0]","[2, 2]","[1, 1]","[1, 1]","False","[0, 0]","1",")" +
                    std::string(mask) + "\"]")
        .flops;
  };
  EXPECT_EQ(masked("[True, True, False]"), 2 * one);
  EXPECT_EQ(masked("[False, True, True]"), one);
  EXPECT_EQ(cost("aten::convolution_backward", shapes).flops, 2 * one);
  EXPECT_EQ(cost("aten::cudnn_convolution_backward", "[[2,3,10,10],[2,6,5,5],[6,3,3,3]]").flops,
            2 * one);
}

TEST(OpCost, Attention) {
  const std::string heads_first = "[[2,4,10,8],[2,4,20,8],[2,4,20,8],[],[],[],[],[]]";
  const double flops = 2.0 * 8 * 10 * 20 * (8 + 8);
  const auto causal = [&](std::string_view yes) {
    return R"(["","","","","0.",")" + std::string(yes) + R"(","",""])";
  };
  EXPECT_EQ(cost("aten::scaled_dot_product_attention", heads_first, "[]", causal("False")).flops,
            flops);
  EXPECT_EQ(cost("aten::scaled_dot_product_attention", heads_first, "[]", causal("True")).flops,
            flops / 2);
  EXPECT_EQ(
      cost("aten::_flash_attention_forward", "[[2,10,4,8],[2,20,4,8],[2,20,4,8],[],[]]").flops,
      flops);
  EXPECT_EQ(cost("aten::_flash_attention_forward", "[[20,4,8],[40,4,8],[40,4,8],[3],[3]]").flops,
            0);  // packed: lengths unknown
  EXPECT_EQ(cost("aten::_scaled_dot_product_flash_attention_backward",
                 "[[2,4,10,8],[2,4,10,8],[2,4,20,8],[2,4,20,8]]")
                .flops,
            flops * 2.5);
}

TEST(OpCost, BytesAlone) {
  EXPECT_EQ(cost("aten::add", "[[8,1,4],[3,1],[]]", R"(["float","c10::Half","Scalar"])").bytes,
            4 * 32 + 2 * 3 + 4 * 96);
  EXPECT_EQ(cost("aten::add", "[[8,1,4],[3,1],[]]").flops, 96);
  EXPECT_EQ(cost("aten::relu", "[[10]]", R"(["float"])").bytes, 80);
  EXPECT_EQ(cost("aten::copy_", "[[10],[10],[]]", R"(["float","c10::Half","Scalar"])").bytes, 60);
  EXPECT_EQ(cost("aten::embedding", "[[1000,16],[2,3]]", R"(["float","long int"])").bytes,
            2 * 6 * 64 + 6 * 8);
}

TEST(OpCost, WhatDoesNotFitIsUnknownAndFinite) {
  for (const std::string_view dims : {"", "[]", "[[]]", "[[],[]]", "nonsense", "[[[1],[2]],[[3]]]",
                                      "[[0,0],[0,0]]", "[[-1,2],[2,3]]", "[[2,3],[4,5]]",
                                      "[[9223372036854775807,9223372036854775807],"
                                      "[9223372036854775807,9223372036854775807]]"}) {
    for (const std::string_view op :
         {"aten::mm", "aten::matmul", "aten::linear", "aten::bmm", "aten::conv2d",
          "aten::convolution_backward", "aten::scaled_dot_product_attention", "aten::add",
          "aten::relu", "aten::copy_", "aten::embedding", "aten::nothing"}) {
      const OpCost c = cost(op, dims, R"(["float","float"])", R"(["[","x","[1, ]"])");
      EXPECT_TRUE(std::isfinite(c.flops)) << op << dims;
      EXPECT_GE(c.flops, 0) << op << dims;
      if (c.bytes) {
        EXPECT_TRUE(std::isfinite(*c.bytes)) << op << dims;
      }
    }
  }
}

TEST(OpWork, NestedOperatorsCountOnce) {
  Rows r;
  const auto op = [&](std::string_view name, std::string_view dims, std::int64_t ts,
                      std::int64_t dur) {
    r.arg("Input Dims", Value::json(dims)).op(name, 1, ts, dur);
  };
  op("aten::linear", "[[8,16],[4,16],[4]]", 0, 100);
  op("aten::addmm", "[[4],[8,16],[16,4]]", 10, 50);
  op("aten::linear", "[[8,16],[4,16],[4]]", 200, 100);  // into a library of its own
  op("aten::add_", "[[8,4],[4]]", 250, 10);
  const auto trace = r.trace();
  const OpWork work(*trace);
  double sum = 0;
  for (libtrace::EventId e = 0; e < trace->size(); ++e) {
    sum += work.flops(e);
    EXPECT_EQ(work.flops(e) > 0, trace->start(e) != 0) << trace->name(e);
  }
  EXPECT_EQ(sum, 2 * (2 * 8 * 16 * 4) + 32);
}

}  // namespace
}  // namespace traceglass
