// Products of a matrix and a diagonal one; A may be C.
#include "diagonal_args.h"
#include "elements.cuh"

template <typename T> __device__ void diagonal(const ws_diagonal_args &p)
{
  const T *a = (const T *)p.a, *x = (const T *)p.x;
  T *c = (T *)p.c;
  for (int64_t i = blockIdx.x * 256ll + threadIdx.x; i < p.m * p.n; i += gridDim.x * 256ll) {
    const int64_t row = i % p.m, col = i / p.m;
    c[col * p.ldc + row] = a[col * p.lda + row] * x[(p.by_rows ? row : col) * p.incx];
  }
}

#define KERNEL(l, T) \
  extern "C" __global__ void __launch_bounds__(256) warpstep_##l##dgmm(const __grid_constant__ ws_diagonal_args p) { diagonal<T>(p); }
KERNEL(s, float)
KERNEL(d, double)
KERNEL(c, c32)
KERNEL(z, c64)
