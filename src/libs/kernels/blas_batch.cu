// Copies of a batch of square matrices that are given by pointers, one after the other, and pointers to the copies.
#include "batch_args.h"
#include "elements.cuh"

template <typename T> __device__ void copy(const ws_batch_args &p)
{
  const T *from = ((const T *const *)p.from)[blockIdx.x];
  T *to = (T *)p.to + (int64_t)blockIdx.x * p.n * p.n;
  for (int i = threadIdx.x; i < p.n * p.n; i += blockDim.x) to[i] = from[(int64_t)(i / p.n) * p.ld + i % p.n];
  if (threadIdx.x == 0) ((T **)p.pointers)[blockIdx.x] = to;
}

#define KERNEL(l, T) \
  extern "C" __global__ void warpstep_##l##batch_copy(const __grid_constant__ ws_batch_args p) { copy<T>(p); }
KERNEL(s, float)
KERNEL(d, double)
KERNEL(c, c32)
KERNEL(z, c64)
