#include "tb_backend/analysis/tensor_cores.h"

#include <gtest/gtest.h>

namespace traceglass {
namespace {

TEST(TensorCores, NamesThatSayIt) {
  for (const char* name :
       {"ampere_fp16_s16816gemm_fp16_128x64_ldg8_f2f_nn", "sm90_xmma_gemm_bf16bf16_bf16f32",
        "nvjet_hsh_128x256_64x4", "ampere_sgemm_s1688_tf32", "Cijk_Alik_Bljk_HHS_BH_MT128x128"}) {
    EXPECT_EQ(tensor_cores_of_kernel(name), TensorCores::kYes) << name;
  }
  for (const char* name :
       {"volta_sgemm_128x64_nn", "volta_scudnn_128x128_relu_interior_nn_v1",
        "void cudnn::detail::dgrad_engine<float, 512, 6, 5, 3, 3, 3, false>",
        "void conv2d_grouped_direct_kernel<float, float, float, float, float, true>",
        "void at::native::vectorized_elementwise_kernel<4, at::native::AddFunctor>"}) {
    EXPECT_EQ(tensor_cores_of_kernel(name), TensorCores::kNo) << name;
  }
  for (const char* name :
       {"void cutlass::Kernel<cutlass_80_wmma_op<float>>", "flash_fwd_kernel", "triton_mm",
        "void cudnn::detail::dgrad_engine<__half, 512, 6, 5, 3, 3, 3, false>"}) {
    EXPECT_EQ(tensor_cores_of_kernel(name), TensorCores::kUnknown) << name;
  }
}

TEST(TensorCores, SinglePrecisionOnThem) {
  EXPECT_TRUE(runs_tf32("cutlass_tensorop_s1688gemm_128x128"));
  EXPECT_TRUE(runs_tf32("sm80_xmma_gemm_f32f32_tf32f32_f32"));
  EXPECT_FALSE(runs_tf32("ampere_fp16_s16816gemm"));
  EXPECT_FALSE(runs_tf32("volta_sgemm_128x64_nn"));
}

}  // namespace
}  // namespace traceglass
