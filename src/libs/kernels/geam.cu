// Sums of two matrices, each transposed or not: a CTA has squares of 32 x 32 of C. What is transposed comes by way of shared
// memory, so that neighbours in memory are read together. A or B may be C where it is not transposed: who writes an element has read it.
#include "elements.cuh"
#include "geam_args.h"

enum { SIDE = 32, ROWS = 8 };

template <typename T> __device__ bool is_zero(T v) { return v == 0; }
template <typename R> __device__ bool is_zero(complex_of<R> v) { return v.x == 0 && v.y == 0; }

// Element `at` of an operand: of T, or of another real type, which is converted.
template <bool MIXED, typename T> __device__ T element(const ws_geam_operand &p, int64_t at)
{
  if constexpr (MIXED) return read_as<T>(p.at, p.type, at);
  else return ((const T *)p.at)[at];
}

// What the operand gives to this thread's elements of the square from (row, col) on.
template <bool MIXED, typename T>
__device__ void add_operand(T (&sum)[SIDE / ROWS], const ws_geam_operand &p, T factor, T (&square)[SIDE][SIDE + 1], int64_t row,
                            int64_t col, int64_t m, int64_t n)
{
  const int x = threadIdx.x % SIDE, y = threadIdx.x / SIDE;
  if (is_zero(factor)) return;
  if (p.transposed) {
    __syncthreads();
    for (int i = y; i < SIDE; i += ROWS)
      if (col + x < n && row + i < m) square[i][x] = element<MIXED, T>(p, (row + i) * p.ld + col + x);
    __syncthreads();
  }
  for (int i = 0; i < SIDE / ROWS; i++) {
    const int64_t c = col + y + i * ROWS;
    if (row + x >= m || c >= n) continue;
    const T v = p.transposed ? square[x][y + i * ROWS] : element<MIXED, T>(p, c * p.ld + row + x);
    sum[i] = sum[i] + factor * (p.conj ? conjugate(v) : v);
  }
}

template <typename T, bool MIXED = false> __device__ void geam(const ws_geam_args &p)
{
  __shared__ __align__(16) unsigned char room[sizeof(T) * SIDE * (SIDE + 1)];
  T(&square)[SIDE][SIDE + 1] = *(T(*)[SIDE][SIDE + 1]) room;
  const int type = sizeof(typename traits<T>::real) == 8 ? WS_F64 : WS_F32;
  const T alpha = scalar<T>(p.a.factor, type), beta = scalar<T>(p.b.factor, type);
  const int64_t down = (p.m + SIDE - 1) / SIDE, all = down * ((p.n + SIDE - 1) / SIDE);
  for (int64_t s = blockIdx.x; s < all; s += gridDim.x) {
    const int64_t row = s % down * SIDE, col = s / down * SIDE;
    T sum[SIDE / ROWS] = {};
    add_operand<MIXED>(sum, p.a, alpha, square, row, col, p.m, p.n);
    add_operand<MIXED>(sum, p.b, beta, square, row, col, p.m, p.n);
    for (int i = 0; i < SIDE / ROWS; i++) {
      const int64_t r = row + threadIdx.x % SIDE, c = col + threadIdx.x / SIDE + i * ROWS;
      if (r >= p.m || c >= p.n) continue;
      if constexpr (MIXED) write_as<T>(p.c, p.c_type, c * p.ldc + r, sum[i]);
      else ((T *)p.c)[c * p.ldc + r] = sum[i];
    }
  }
}

#define KERNEL(l, T) \
  extern "C" __global__ void __launch_bounds__(256) warpstep_##l##geam(const __grid_constant__ ws_geam_args p) { geam<T>(p); }
KERNEL(s, float)
KERNEL(d, double)
KERNEL(c, c32)
KERNEL(z, c64)

// Of real types, in FP32.
extern "C" __global__ void __launch_bounds__(256) warpstep_geam_mixed(const __grid_constant__ ws_geam_args p) { geam<float, true>(p); }
