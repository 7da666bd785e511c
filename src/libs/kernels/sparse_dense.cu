// Sparse matrices of dense ones: what is not zero, line by line, in the order of the line. Not a number is not zero.
#include "sparse.cuh"

template <typename T> __device__ inline T element(const ws_sparse_dense &p, int64_t line, int64_t i)
{
  return ((const T *)p.from)[line * p.line_step + i * p.step];
}

template <typename T> __device__ void count(const ws_sparse_dense &p)
{
  ROWS(line, p.lines)
  {
    int64_t n = 0;
#pragma unroll 1
    for (int64_t i = lane; i < p.length + lane; i += 32)
      n += __popc(__ballot_sync(~0u, i < p.length && !is_zero(element<T>(p, line, i))));
    if (lane == 0 && p.counts) p.counts[line] = (int)n;
    else if (lane == 0) p.first[line] = n;
  }
}

template <typename T> __device__ void place(const ws_sparse_dense &p)
{
  ROWS(line, p.lines)
  {
    int64_t to = p.first[line];
#pragma unroll 1
    for (int64_t i = lane; i < p.length + lane; i += 32) {
      const T v = i < p.length ? element<T>(p, line, i) : zero<T>();
      const unsigned some = __ballot_sync(~0u, !is_zero(v));
      if (some >> lane & 1) {
        const int64_t at = to + __popc(some & ((1u << lane) - 1));
        put(p.minor, p.wide_indices, at, i + p.base);
        if (p.major) put(p.major, p.wide_indices, at, line + p.base);
        ((T *)p.values)[at] = v;
      }
      to += __popc(some);
    }
  }
}

extern "C" __global__ void __launch_bounds__(256) warpstep_sparse_starts(const __grid_constant__ ws_sparse_dense p)
{
  AT(i, p.lines + 1) put(p.offsets, p.wide_offsets, i, p.first[i] + p.base);
}

#define DENSE(l, T)                                                                                                     \
  extern "C" __global__ void __launch_bounds__(256) warpstep_##l##sparse_count(const __grid_constant__ ws_sparse_dense p) \
  {                                                                                                                     \
    count<T>(p);                                                                                                        \
  }                                                                                                                     \
  extern "C" __global__ void __launch_bounds__(256) warpstep_##l##sparse_place(const __grid_constant__ ws_sparse_dense p) \
  {                                                                                                                     \
    place<T>(p);                                                                                                        \
  }
DENSE(s, float)
DENSE(d, double)
DENSE(c, c32)
DENSE(z, c64)
