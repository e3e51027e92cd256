// Shapes as a trace writes them, and FLOPs from them.
#include "libtrace/model/flops.h"

#include <gtest/gtest.h>

#include "libtrace/model/shapes.h"

namespace libtrace {
namespace {

std::int64_t flops(std::string_view op, std::string_view dims, std::string_view concrete = "[]") {
  return count_flops(op, parse_shapes(dims), parse_strings(concrete));
}

TEST(Shapes, PrintAsPythonDoes) {
  const auto text = [](std::string_view json) { return shapes_text(parse_shapes(json)); };
  EXPECT_EQ(text("[]"), "[]");
  EXPECT_EQ(text("[[]]"), "[[]]");
  EXPECT_EQ(text("[[8,3,224,224],[],[1]]"), "[[8, 3, 224, 224], [], [1]]");
  EXPECT_EQ(text(" [ [ 8 , 3 ] , [ ] ] "), "[[8, 3], []]");
  EXPECT_EQ(text("[[[2,3],[4]],[5]]"), "[[], [5]]");  // a list of tensors
}

TEST(Shapes, WhatIsNoShapeIsNone) {
  const auto text = [](std::string_view json) { return shapes_text(parse_shapes(json)); };
  EXPECT_EQ(text(""), "[]");
  EXPECT_EQ(text("null"), "[]");
  EXPECT_EQ(text("[[\"a,]\"],7,{\"x\":[1,2]},[99999999999999999999],[1.5]]"),
            "[[], [], [], [], []]");
  EXPECT_EQ(text("[[1,2"), "[]");
  EXPECT_EQ(text("[\"\\\"]\",[3]]"), "[[], [3]]");
}

TEST(Flops, MultiplicationsCountTwoPerElementOfTheInnerDimension) {
  EXPECT_EQ(flops("aten::mm", "[[4,8],[8,2]]"), 2 * 4 * 8 * 2);
  EXPECT_EQ(flops("aten::addmm", "[[2],[4,8],[8,2],[],[]]"), 2 * 4 * 8 * 2);
  EXPECT_EQ(flops("aten::bmm", "[[10,4,8],[10,8,2]]"), 10 * 2 * 4 * 8 * 2);
  EXPECT_EQ(flops("aten::baddbmm", "[[10,4,2],[10,4,8],[10,8,2]]"), 10 * 2 * 4 * 8 * 2);
  EXPECT_EQ(flops("aten::mm", "[[4,8]]"), 0);
  EXPECT_EQ(flops("aten::mm", "[[4,0],[0,2]]"), 0);
  EXPECT_EQ(flops("aten::mm", "[[],[8,2]]"), 0);
}

TEST(Flops, ElementwiseCountTheFirstOperand) {
  EXPECT_EQ(flops("aten::add", "[[3],[1],[]]"), 3);
  EXPECT_EQ(flops("aten::mul", "[[2,3,4],[2,3,4]]"), 24);
  EXPECT_EQ(flops("aten::mul", "[[],[]]"), 1);
  EXPECT_EQ(flops("aten::mul", "[]"), 0);
  EXPECT_EQ(flops("aten::sub", "[[3],[3]]"), 0);
}

TEST(Flops, ConvolutionsCountTheirOutput) {
  // 32×32, kernel 3, padding 1, stride 2: (32 + 2 - 2 - 1) / 2 + 1 = 16 a side.
  const char* const dims = "[[8,4,32,32],[6,4,3,3],[6],[],[],[],[]]";
  EXPECT_EQ(flops("aten::conv2d", dims, R"(["","","","[2, 2]","[1, 1]","[1, 1]","1"])"),
            2 * 8 * 16 * 16 * 3 * 3 * 4 * 6);
  EXPECT_EQ(flops("aten::conv2d", "[[8,4,32,32],[6,2,3,3],[6],[],[],[],[]]",
                  R"(["","","","[2, 2]","[1, 1]","[1, 1]","2"])"),
            8 * 16 * 16 * 3 * 3 * 4 * 6);
  // Dilation 2 covers 5: (32 - 4 - 1) / 1 + 1 = 28.
  EXPECT_EQ(flops("aten::conv2d", dims, R"(["","","","[1, 1]","[0, 0]","[2, 2]","1"])"),
            2 * 8 * 28 * 28 * 3 * 3 * 4 * 6);
  for (const char* wrong :
       {R"(["","","","[0, 0]","[1, 1]","[1, 1]","1"])",
        R"(["","","","[1, 1]","[1, 1]","[1, 1]","0"])", R"(["","","","[1, 1]","[1, 1]","[1, 1]"])",
        R"(["","","","same","[1, 1]","[1, 1]","1"])", "[]"}) {
    EXPECT_EQ(flops("aten::conv2d", dims, wrong), 0) << wrong;
  }
  EXPECT_EQ(flops("aten::conv2d", "[[4,32,32],[6,4,3,3],[6],[],[],[],[]]",
                  R"(["","","","[1, 1]","[1, 1]","[1, 1]","1"])"),
            0);
}

TEST(Flops, WhatDoesNotFitIsNotCounted) {
  EXPECT_EQ(flops("aten::mul", "[[9223372036854775807,2]]"), 0);
  EXPECT_EQ(flops("aten::mul", "[[-3,-2]]"), 0);
  EXPECT_EQ(flops("aten::mm", "[[4611686018427387904,1],[1,4]]"), 0);
  EXPECT_EQ(flops("aten::conv2d",
                  "[[1,1,9223372036854775807,1],[1,1,9223372036854775807,1],[],[],[],[],[]]",
                  R"(["","","","[1, 1]","[9223372036854775807, 1]","[1, 1]","1"])"),
            0);
}

}  // namespace
}  // namespace libtrace
