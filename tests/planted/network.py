"""The layers: their shapes, what the kernels of each are called and how long they take."""

from simulation import Kernel

STAGES = [(64, 56), (128, 28), (256, 14), (512, 7)]  # channels, height and width
LAYERS_A_STAGE = 4
CLASSES = 1000
FP32_TFLOPS = 12.5  # of 19.5: what cudnn reaches without tensor cores; twice that with
BYTES_PER_US = 1_400_000  # of 2 TB/s

GATE = "void at::native::vectorized_elementwise_kernel<4, at::native::gate_functor<float> >(int)"
FILL = "void at::native::fill_kernel<float>(float*, float)"
COUNT = "void at::native::add_scalar_kernel<long>(long*, long)"
SOFTMAX = "void (anonymous namespace)::softmax_warp_forward<float, float, float, 10, true, false>"
NLL = "void at::native::nll_loss_forward_reduce_cuda_kernel_2d<float>"
NORM = "cudnn::bn_fw_tr_1C11_kernel_NCHW<float, float, int, 512, true, 1, true>"
NORM_BACKWARD = "cudnn::bn_bw_1C11_kernel_new<float, float, float2, 512, true, 1>"
FOREACH = "void at::native::multi_tensor_apply_kernel<TensorListMetadata<2> >"
ALL_REDUCE = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevComm*, unsigned long, ncclWork*)"


class Layer:
    def __init__(self, index, batch, fp32_layers, tf32):
        self.index = index
        self.channels, self.size = STAGES[index // LAYERS_A_STAGE]
        self.batch = batch
        self.fp32 = index < fp32_layers
        self.tensor_cores = tf32 or not self.fp32
        self.shape = [self.batch, self.channels, self.size, self.size]
        self.weight = [self.channels, self.channels, 3, 3]
        self.elements = self.batch * self.channels * self.size**2
        self.flops = 2 * self.elements * self.channels * 9
        self.type = "float" if self.fp32 else "c10::BFloat16"
        self.bytes = self.elements * (4 if self.fp32 else 2)

    def convolution(self, pass_name):
        """On tensor cores, in bf16 or TF32, in half the time."""
        us = 3 + self.flops / (FP32_TFLOPS * 1e6) / (2 if self.tensor_cores else 1)
        if not self.tensor_cores:
            name = {
                "fprop": "implicit_convolve_sgemm<float, float, 1024, 5, 5, 3, 3, 3, 1, false>",
                "dgrad": "cudnn::detail::dgrad_engine<float, 512, 6, 5, 3, 3, 3, false>",
                "wgrad": "cudnn::detail::wgrad_alg0_engine<float, 128, 6, 7, 3, 3, 5, false, 512>",
            }[pass_name]
        else:
            types = "tf32f32_tf32f32" if self.fp32 else "bf16bf16_bf16f32"
            shape = "tensor16x8x8" if self.fp32 else "tensor16x8x16"
            name = (
                f"sm80_xmma_{pass_name}_implicit_gemm_{types}_f32_nhwckrsc_nhwc_"
                f"tilesize128x128x32_stage4_warpsize2x2x1_g1_{shape}_kernel_cudnn"
            )
        tiles = max(108, self.elements // (128 * 128))
        return Kernel(name, us, (tiles, 1, 1), (256, 1, 1), 168, 81_920, 25)

    def elementwise(self, functor, passes):
        """A kernel that reads and writes the activations `passes` times altogether."""
        short = "float" if self.fp32 else "c10::BFloat16"
        name = (
            f"void at::native::vectorized_elementwise_kernel<4, at::native::{functor}<{short}>, "
            "at::detail::Array<char*, 2> >(int, at::native::"
            f"{functor}<{short}>, at::detail::Array<char*, 2>)"
        )
        us = 1.8 + passes * self.bytes / BYTES_PER_US
        return Kernel(name, us, (max(1, self.elements // 512), 1, 1), (128, 1, 1), 24, 0, 90)

    def norm(self, name, passes):
        us = 3.5 + passes * self.bytes / BYTES_PER_US
        return Kernel(name, us, (self.channels, 4, 1), (512, 1, 1), 40, 2_048, 70)


def gemm(flops):
    name = "ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_stages_32x6_tn"
    return Kernel(name, 4 + flops / 60e6, (64, 2, 1), (128, 1, 1), 122, 73_728, 25)


def small(name, us, elements=1):
    """A kernel that is too short to be worth more than its name."""
    return Kernel(name, us, (max(1, elements // 512), 1, 1), (128, 1, 1), 20)


def element_wise(op, count, passes):
    name = f"void at::native::vectorized_elementwise_kernel<4, {op}_functor<float> >"
    return small(name, 1.8 + passes * count * 4 / BYTES_PER_US, count)


def shapes(*tensors, types=None):
    return {"Input Dims": list(tensors), "Input type": types or ["c10::BFloat16"] * len(tensors)}
