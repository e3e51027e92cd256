// Operators by the Python frames around them.
#include "tb_backend/analysis/stacks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tb_backend/analysis/operators.h"
#include "tests/tb_backend/analysis/rows.h"

namespace traceglass {
namespace {

using ::testing::ElementsAre;
using testing::Rows;

TEST(Stacks, WhereAnObjectLiesMakesNoOtherCaller) {
  Rows r;
  const auto frame = [&](std::string_view name, std::int64_t ts, std::int64_t dur) {
    r.add("python_function", name, "13721", "1", ts, dur);
  };
  frame("train.py(3): step", 0, 200);
  frame("<built-in method add_ of Tensor object at 0x7f72dcff59a0>", 10, 20);
  r.op("aten::add_", 1, 12, 10);
  frame("<built-in method add_ of Tensor object at 0x7f72dcff0000>", 40, 20);
  r.op("aten::add_", 1, 42, 10);
  frame("eval.py(9): run", 300, 50);
  r.op("aten::add_", 1, 310, 30);
  const auto trace = r.trace();
  const auto rows =
      find_operators(*trace, DeviceTimes(*trace), Selection::everything(find_steps(*trace)),
                     libtrace::Kind::kOp, OperatorGroup::kStack);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_THAT(rows[0].stack, ElementsAre("eval.py(9): run"));
  EXPECT_THAT(rows[1].stack,
              ElementsAre("<built-in method add_ of Tensor object>", "train.py(3): step"));
  EXPECT_EQ(rows[1].calls, 2);
  EXPECT_EQ(rows[1].host_self_ns, 20);
}

}  // namespace
}  // namespace traceglass
