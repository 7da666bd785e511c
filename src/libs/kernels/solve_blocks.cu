// Between the blocks of large dense matrices: rows change places, reflectors become matrices that products take.
#include "solve_moves.cuh"

enum { BLOCK = WS_SOLVE_BLOCK };

// A CTA has four columns at a time.
template <typename T> __device__ void exchange(const ws_exchange_args &p)
{
  __shared__ moves s;
  const int place = threadIdx.x % PLACES;
  const int64_t blocks = (p.count + BLOCK - 1) / BLOCK;
#pragma unroll 1
  for (int64_t u = 0; u < blocks; u++) {
    const int64_t at = (p.backwards ? blocks - 1 - u : u) * BLOCK;
    __syncthreads();
    if (threadIdx.x < 32) plan(p, s, p.first + at, (int)min((int64_t)BLOCK, p.count - at));
    __syncthreads();
    const int64_t to = s.row[place], from = to < 0 ? 0 : s.row[s.from[place]];
#pragma unroll 1
    for (int64_t c = (int64_t)blockIdx.x * 4; c < p.columns; c += (int64_t)gridDim.x * 4) {
      const int64_t mine = c + threadIdx.x / PLACES;
      T *b = (T *)p.b + (mine < p.gap_at ? mine : mine + p.gap) * p.ldb;
      const bool moving = to >= 0 && to != from && mine < p.columns;
      const T v = moving ? b[from] : zero<T>();
      __syncthreads();
      if (moving) b[to] = v;
    }
  }
}

template <typename T> __device__ void reflectors(const ws_reflectors_args &p)
{
  T *a = (T *)p.a, *v = (T *)p.v;
  const T one = number<T>(1, 0);
  const int64_t columns = p.clear ? p.n : p.k, rows = p.m + p.above;
#pragma unroll 1
  for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < columns * rows; i += (int64_t)gridDim.x * blockDim.x) {
    const int64_t r = i % rows - p.above, c = i / rows;
    if (r >= 0 && c < p.k) v[c * p.ldv + r] = r > c ? a[c * p.lda + r] : r == c ? one : zero<T>();
    if (p.clear) a[c * p.lda + r] = r == c ? one : zero<T>();
  }
}

// By one warp; lane i has row i.
template <typename T> __device__ void block(const ws_block_args &p)
{
  __shared__ T t[BLOCK][BLOCK + 1];
  const T *g = (const T *)p.products, *tau = (const T *)p.tau;
  const int i = threadIdx.x;
#pragma unroll 1
  for (int j = 0; j < p.k; j++) {
    T sum = zero<T>();
#pragma unroll 1
    for (int l = i; l < j; l++) madd(sum, t[l][i], g[j * BLOCK + l]);
    t[j][i] = i < j ? zero<T>() - tau[j] * sum : i == j ? tau[j] : zero<T>();
    ((T *)p.t)[j * BLOCK + i] = t[j][i];
  }
}

#define KERNEL(name, args, call, threads) \
  extern "C" __global__ void __launch_bounds__(threads) warpstep_##name(const __grid_constant__ args p) { call(p); }
#define SOLVE(l, T)                                                          \
  KERNEL(l##solve_exchange, ws_exchange_args, exchange<T>, 256)              \
  KERNEL(l##solve_reflectors, ws_reflectors_args, reflectors<T>, 256)        \
  KERNEL(l##solve_block, ws_block_args, block<T>, 32)
SOLVE(s, float)
SOLVE(d, double)
SOLVE(c, c32)
SOLVE(z, c64)
