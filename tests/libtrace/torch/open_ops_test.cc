// Which operator an end means.
#include "libtrace/torch/open_ops.h"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <thread>

namespace libtrace::torch_adapter {
namespace {

// Ranges that nobody looks into.
OpenRange* range(std::size_t number) {
  static std::array<char, 512> places;
  return reinterpret_cast<OpenRange*>(&places[number]);
}

class OpenOpsTest : public ::testing::Test {
 protected:
  // The range that a pop finds; null: none.
  OpenRange* pop(int key) {
    OpenOp op;
    return ops_.pop(&keys_[static_cast<std::size_t>(key)], op) ? op.range : nullptr;
  }
  bool push(int key) {
    const auto k = static_cast<std::size_t>(key);
    return ops_.push(&keys_[k], {range(k + 1), false});
  }
  std::array<char, 300> keys_{};
  OpenOps& ops_ = *OpenOps::of_this_thread();
};

TEST_F(OpenOpsTest, NestedOnesEndInTurn) {
  push(0);
  push(1);
  EXPECT_EQ(pop(1), range(2));
  push(2);
  EXPECT_EQ(pop(2), range(3));
  EXPECT_EQ(pop(0), range(1));
  EXPECT_EQ(pop(0), nullptr);
}

TEST_F(OpenOpsTest, TheyMayEndInAnyOrder) {
  for (int i = 0; i < 4; ++i) push(i);
  EXPECT_EQ(pop(1), range(2));
  EXPECT_EQ(pop(3), range(4));
  EXPECT_EQ(pop(1), nullptr);
  push(4);
  EXPECT_EQ(pop(0), range(1));
  EXPECT_EQ(pop(4), range(5));
  EXPECT_EQ(pop(2), range(3));
}

TEST_F(OpenOpsTest, TooDeepIsSaid) {
  int kept = 0;
  while (kept < 300 && push(kept)) ++kept;
  EXPECT_EQ(kept, 256);
  for (int i = kept - 1; i >= 0; --i) EXPECT_NE(pop(i), nullptr);
  EXPECT_TRUE(push(0));
  pop(0);
}

TEST_F(OpenOpsTest, AnotherThreadMayEndThem) {
  push(0);
  push(1);
  OpenOp op;
  std::thread([&] { ASSERT_TRUE(OpenOps::take_elsewhere(&keys_[0], op)); }).join();
  EXPECT_EQ(op.range, range(1));
  EXPECT_FALSE(OpenOps::take_elsewhere(&keys_[0], op));
  EXPECT_EQ(pop(1), range(2));
  EXPECT_EQ(pop(0), nullptr);
}

TEST_F(OpenOpsTest, AnAsynchronousOneMayOutliveItsThread) {
  std::thread([&] {
    OpenOps& there = *OpenOps::of_this_thread();
    there.push(&keys_[0], {range(1), true});
    there.push(&keys_[1], {range(2), false});
    there.push(&keys_[2], {range(3), true});
  }).join();
  OpenOp op;
  ASSERT_TRUE(OpenOps::take_elsewhere(&keys_[2], op));
  EXPECT_EQ(op.range, range(3));
  EXPECT_TRUE(op.is_async);
  ASSERT_TRUE(OpenOps::take_elsewhere(&keys_[0], op));
  EXPECT_EQ(op.range, range(1));
  // With its last one it is gone, and what only its own thread could end.
  EXPECT_FALSE(OpenOps::take_elsewhere(&keys_[1], op));
}

// For the thread sanitizer: a thread works on, while another ends what it began.
TEST_F(OpenOpsTest, EndsMeet) {
  for (int round = 0; round < 200; ++round) {
    push(0);
    std::thread other([&] {
      OpenOp op;
      EXPECT_TRUE(OpenOps::take_elsewhere(&keys_[0], op));
      EXPECT_EQ(op.range, range(1));
    });
    for (int i = 0; i < 50; ++i) {
      push(1);
      push(2);
      EXPECT_EQ(pop(2), range(3));
      EXPECT_EQ(pop(1), range(2));
    }
    other.join();
  }
}

}  // namespace
}  // namespace libtrace::torch_adapter
