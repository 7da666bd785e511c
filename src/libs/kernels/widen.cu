// Complex numbers of two bytes as complex numbers in FP32, a thread for each in its turn.
#include "elements.cuh"
#include "widen_args.h"

extern "C" __global__ void __launch_bounds__(256) warpstep_widen_bytes(const __grid_constant__ ws_widen_args p)
{
  const int64_t n = p.rows * p.cols;
  for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (int64_t)gridDim.x * blockDim.x) {
    const int8_t *at = (const int8_t *)p.from + 2 * (i / p.rows * p.ld + i % p.rows); // of any alignment
    ((c32 *)p.to)[i] = {(float)at[0], (float)at[1]};
  }
}
