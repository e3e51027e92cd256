#include "tb_backend/analysis/bandwidth.h"

#include <gtest/gtest.h>

namespace traceglass {
namespace {

TEST(Bandwidth, OneNameForOneThing) {
  const auto name = [](std::string_view text) {
    return std::string(collective_op_name(collective_op(text)));
  };
  for (const char* text :
       {"allreduce", "nccl:all_reduce", "gloo:all_reduce", "allreduce_coalesced",
        "c10d::allreduce_",
        "ncclKernel_AllReduce_RING_LL_Sum_float(ncclDevComm*, unsigned long, ncclWork*)",
        "ncclDevKernel_AllReduce_Sum_bf16_TREE_LL(ncclDevKernelArgsStorage<4096ul>)",
        "rcclGenericKernel_AllReduce"}) {
    EXPECT_EQ(name(text), "all_reduce") << text;
  }
  EXPECT_EQ(name("_allgather_base"), "all_gather");
  EXPECT_EQ(name("nccl:_all_gather_base"), "all_gather");
  EXPECT_EQ(name("ncclDevKernel_AllGather_RING_LL(x)"), "all_gather");
  EXPECT_EQ(name("_reduce_scatter_base"), "reduce_scatter");
  EXPECT_EQ(name("all_to_allv"), "all_to_all");
  EXPECT_EQ(name("ncclDevKernel_SendRecv(x)"), "send_recv");
  EXPECT_EQ(name("ncclDevKernel_Reduce_Sum_f32_RING_LL(x)"), "reduce");
  EXPECT_EQ(name("nccl:send 0->1"), "send");
  EXPECT_EQ(name("nccl:recv 0<-1"), "recv");
  EXPECT_EQ(name("void deep_ep::internode::dispatch<true, 8>(int*)"), "dispatch");
  EXPECT_EQ(name("deep_ep::intranode::combine"), "combine");
  EXPECT_EQ(name("nvshmemi_barrier_threadgroup"), "barrier");
  EXPECT_EQ(name("nvshmem_float_fcollect_on_stream"), "all_gather");
  EXPECT_EQ(name("ncclDevKernel_Generic(x)"), "collective");
  EXPECT_EQ(name(""), "collective");
}

TEST(Bandwidth, FactorsAreThoseOfNcclTests) {
  EXPECT_DOUBLE_EQ(bus_factor(CollectiveOp::kAllReduce, 8), 1.75);
  EXPECT_DOUBLE_EQ(bus_factor(CollectiveOp::kAllGather, 8), 0.875);
  EXPECT_DOUBLE_EQ(bus_factor(CollectiveOp::kReduceScatter, 4), 0.75);
  EXPECT_DOUBLE_EQ(bus_factor(CollectiveOp::kAllToAll, 2), 0.5);
  EXPECT_DOUBLE_EQ(bus_factor(CollectiveOp::kBroadcast, 8), 1);
  EXPECT_DOUBLE_EQ(bus_factor(CollectiveOp::kSend, 2), 1);
  EXPECT_DOUBLE_EQ(bus_factor(CollectiveOp::kAllReduce, 1), 0);
  EXPECT_DOUBLE_EQ(bus_factor(CollectiveOp::kAllReduce, 0), 1);  // unknown
}

TEST(Bandwidth, TypesOfElements) {
  EXPECT_EQ(find_dtype("Float")->bytes, 4);
  EXPECT_EQ(find_dtype("c10::BFloat16")->name, "bfloat16");
  EXPECT_EQ(find_dtype("long int")->bytes, 8);
  EXPECT_EQ(find_dtype("Byte")->name, "uint8");
  EXPECT_EQ(find_dtype("Float8_e4m3fn")->bytes, 1);
  EXPECT_FALSE(find_dtype("Scalar").has_value());
  EXPECT_FALSE(find_dtype("").has_value());
}

TEST(Bandwidth, AnAllGatherCountsWhatItReceives) {
  EXPECT_EQ(counted_elements(CollectiveOp::kAllGather, 10, 80), 80);
  EXPECT_EQ(counted_elements(CollectiveOp::kReduceScatter, 80, 10), 80);
  EXPECT_EQ(counted_elements(CollectiveOp::kAllReduce, 5, 5), 5);
  EXPECT_EQ(counted_elements(CollectiveOp::kRecv, 0, 7), 7);
}

}  // namespace
}  // namespace traceglass
