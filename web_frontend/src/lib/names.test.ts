import { describe, expect, it } from 'vitest';
import { dimensions, fold_name, fold_names } from './names';

const kAdd =
  'void at::native::vectorized_elementwise_kernel<4, at::native::AddFunctor<float>, at::detail::Array<char*, 3> >(int, at::native::AddFunctor<float>, at::detail::Array<char*, 3>)';

describe('fold_name', () => {
  it.each([
    [kAdd, 'vectorized_elementwise_kernel<… Add …>'],
    [
      'void at::native::elementwise_kernel<128, 4, at::native::gpu_kernel_impl_nocast<at::native::CUDAFunctor_add<c10::BFloat16> >(at::TensorIteratorBase&, at::native::CUDAFunctor_add<c10::BFloat16> const&)::{lambda(int)#1}>(int, at::native::gpu_kernel_impl_nocast<at::native::CUDAFunctor_add<c10::BFloat16> >)',
      'elementwise_kernel<… add …>',
    ],
    [
      'void at::native::vectorized_elementwise_kernel<4, at::native::BUnaryFunctor<at::native::MulFunctor<long> >, at::detail::Array<char*, 2> >(int)',
      'vectorized_elementwise_kernel<… Mul …>',
    ],
    [
      'void at::native::vectorized_elementwise_kernel<4, at::native::threshold_kernel_impl<float>(at::TensorIteratorBase&, float, float)::{lambda(float, float)#1}, at::detail::Array<char*, 3> >(int)',
      'vectorized_elementwise_kernel<… threshold …>',
    ],
    [
      'void at::native::unrolled_elementwise_kernel<at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda()#3}::operator()() const::{lambda(long)#1}, std::array<char*, 2ul>, 4>(int)',
      'unrolled_elementwise_kernel<… direct_copy …>',
    ],
    [
      'void at::native::reduce_kernel<128, 4, at::native::ReduceOp<float, at::native::func_wrapper_t<float, at::native::sum_functor<float, float, float>::operator()(at::TensorIterator&)::{lambda(float, float)#1}>, unsigned int, float, 4> >(x)',
      'reduce_kernel<… sum …>',
    ],
    [
      'void (anonymous namespace)::softmax_warp_forward<float, float, float, 10, true>(float*, int)',
      'softmax_warp_forward<…>',
    ],
    ['void cudnn::detail::dgrad_engine<float, 512, 6, 5, 3, 3, 3, false>(int, int, int)', 'dgrad_engine<…>'],
    [
      'void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_64x64_nn_align4>(Params)',
      'Kernel<… cutlass_80_tensorop_s1688ge… …>',
    ],
    [
      'cask_cudnn::computeWgradBOffsetsKernel(cask_cudnn::ComputeWgradBOffsetsParams)',
      'computeWgradBOffsetsKernel',
    ],
    ['ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)', 'ncclDevKernel_AllGather_RING_LL'],
    [
      '_ZN2ck16tensor_operation6device12_GLOBAL__N_117kernel_batched_v3INS_4GridEEEvT_',
      'kernel_batched_v3<…>',
    ],
  ])('%s', (name, expected) => {
    expect(fold_name(name)).toBe(expected);
  });

  it.each([
    'enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__',
    'Memcpy HtoD (Pageable -> Device)',
    'Memset (Device)',
    'volta_scudnn_128x64_stridedB_interior_nn_v1',
    'aten::add_',
    'triton_poi_fused_add_bitwise_and_0',
    'Optimizer.step#SGD.step',
    'ProfilerStep#5',
    '',
    '<',
    'a<b',
  ])('leaves %s alone', (name) => {
    expect(fold_name(name)).toBe(name);
  });

  it('folds generated names after their tile', () => {
    expect(
      fold_name(
        'Cijk_Ailk_Bljk_BBS_BH_MT32x32x64_MI16x16x16x1_SN_1LDSB0_APM1_ABV0_ACED0_AF0EM1_AF1EM1_AMAS0',
      ),
    ).toBe('Cijk_Ailk_Bljk_BBS_BH_MT32x32x64_…');
  });

  it('survives anything', () => {
    for (const odd of ['void <>>>(', 'a::b<<<(((', '_Z', '_ZN9999x', '::', 'void f<a,>(', '\u0000<\u202e>']) {
      expect(typeof fold_name(odd)).toBe('string');
    }
  });
});

describe('fold_names', () => {
  it('shows the arguments in which two names differ', () => {
    const engines = [
      'void cudnn::cnn::wgrad_alg0_engine<float, 128, 5, 5, 3, 3, 3, false, 512>(int)',
      'void cudnn::cnn::wgrad_alg0_engine<float, 512, 6, 5, 3, 3, 3, true, 512>(int)',
    ];
    const folded = fold_names(engines);
    expect(engines.map((name) => folded.get(name))).toEqual([
      'wgrad_alg0_engine<… 128, 5, false …>',
      'wgrad_alg0_engine<… 512, 6, true …>',
    ]);
  });

  it('keeps unlike names short', () => {
    expect(fold_names([kAdd, 'aten::mm']).get(kAdd)).toBe('vectorized_elementwise_kernel<… Add …>');
  });
});

it('writes dimensions without what says nothing', () => {
  expect([undefined, '', '[128, 1, 1]', '[1,1,1]', '[5,16,16]', '[1,2,1]'].map(dimensions)).toEqual([
    undefined,
    undefined,
    '128',
    '1',
    '5 × 16 × 16',
    '1 × 2',
  ]);
});
