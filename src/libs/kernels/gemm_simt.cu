// Products on the ordinary pipes, of every type.
#include "gemm_simt.cuh"

SIMT_KERNEL(warpstep_sgemm_128x128, float, float, float, 128, 128, 8, 8, 8)
SIMT_KERNEL(warpstep_sgemm_64x64, float, float, float, 64, 64, 16, 4, 4)
SIMT_KERNEL(warpstep_dgemm_64x64, double, double, double, 64, 64, 16, 4, 4)
SIMT_KERNEL(warpstep_hgemm_simt_64x64, __half, float, float, 64, 64, 16, 4, 4)
SIMT_KERNEL(warpstep_bgemm_simt_64x64, __nv_bfloat16, float, float, 64, 64, 16, 4, 4)
SIMT_KERNEL(warpstep_igemm_simt_64x64, int8_t, int, int, 64, 64, 16, 4, 4)
SIMT_KERNEL(warpstep_igemm_float_64x64, int8_t, int, float, 64, 64, 16, 4, 4)
SIMT_KERNEL(warpstep_cgemm_32x32, c32, c32, c32, 32, 32, 8, 4, 4)
SIMT_KERNEL(warpstep_zgemm_32x32, c64, c64, c64, 32, 32, 8, 4, 4)

// The sums of the splits of k, in their order.
template <typename C, typename S> __device__ void reduce(const ws_gemm_args &p)
{
  const int64_t z = blockIdx.z + p.batch0, cells = (int64_t)p.m * p.n;
  const int64_t i = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= cells) return;
  C sum = zero<C>();
  for (int s = 0; s < p.splits; s++) sum = sum + ((const C *)p.partial)[(z * p.splits + s) * cells + i];
  ender<S, C, 1>(p, z).put(p, (int)(i / p.n), (int)(i % p.n), &sum);
}
extern "C" __global__ void warpstep_gemm_reduce_f32(const __grid_constant__ ws_gemm_args p) { reduce<float, float>(p); }
extern "C" __global__ void warpstep_gemm_reduce_f64(const __grid_constant__ ws_gemm_args p)
{
  reduce<double, double>(p);
}
