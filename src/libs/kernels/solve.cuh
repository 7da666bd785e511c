// What kernels on dense systems share: quotients, what is said of a matrix, rows that change places, Cholesky of a small block.
#pragma once
#include "dense.cuh"
#include "solve_args.h"

// Divides by what LAPACK multiplies with the inverse of, where that is a number.
template <typename T> struct quotient {
  using R = typename traits<T>::real;
  T by, inverse;
  bool quick;
  __device__ quotient(T v) : by(v), inverse(number<T>(1, 0) / v)
  {
    quick = size_of(v) >= (sizeof(R) == 4 ? R(0x1p-126) : R(0x1p-1022));
  }
  __device__ T of(T v) const { return quick ? v * inverse : v / by; }
};

// What matrices before this one, of the same whole, have said stays.
__device__ inline void say(const ws_solve_args &p, int info)
{
  if (threadIdx.x || !p.info || (p.first && p.info[blockIdx.x])) return;
  p.info[blockIdx.x] = info ? info + (int)p.first : 0;
}

// Element (i, j), i >= j, of the lower factor, which an upper matrix holds as its conjugate transposed.
template <typename T> struct lower_part {
  T *a;
  int64_t lda;
  bool upper;
  __device__ T get(int64_t i, int64_t j) const { return upper ? conjugate(a[i * lda + j]) : a[j * lda + i]; }
  __device__ void put(int64_t i, int64_t j, T v) const { (upper ? a[i * lda + j] : a[j * lda + i]) = upper ? conjugate(v) : v; }
};

// sum += a b. As one operation: where a comes from either side of a branch the compiler would else put the products there.
template <typename R> __device__ inline void add_product(R &sum, R a, R b) { sum = fma(a, b, sum); }
template <typename R> __device__ inline void add_product(complex_of<R> &sum, complex_of<R> a, complex_of<R> b)
{
  sum.x = fma(-a.y, b.y, fma(a.x, b.x, sum.x));
  sum.y = fma(a.y, b.x, fma(a.x, b.y, sum.y));
}

// Moves all on by eight places, the first eight to the end.
template <typename T, int N> __device__ inline void turn(T (&a)[N])
{
  T first[8];
  for (int c = 0; c < 8; c++) first[c] = a[c];
  for (int c = 8; c < N; c++) a[c - 8] = a[c];
  for (int c = 0; c < 8; c++) a[N - 8 + c] = first[c];
}

// Of a matrix of one block, by a warp: lane i has row i, of which each step moves the numbers on by one, so that the column at hand
// is the first, and a finished one goes to memory: products with zeros behind the block would make it NaN where its factor is not
// finite. Returns the first column whose pivot is not positive, from 1 on; those from there on stay as they are.
template <typename T> __device__ int cholesky_warp(const lower_part<T> &l, int n)
{
  using R = typename traits<T>::real;
  enum { BLOCK = WS_SOLVE_BLOCK };
  __shared__ __align__(16) T columns[2][2 * BLOCK]; // zeros behind
  if (n <= 0) return 0;
  const int i = threadIdx.x;
  const int64_t step = l.upper ? 1 : l.lda; // from column to column; what is behind the last is that again
  T v[BLOCK], *row = l.a + min(i, n - 1) * (l.upper ? l.lda : 1);
#pragma unroll 1
  for (int c0 = 0; c0 < BLOCK; c0 += 8) {
    turn(v);
    for (int c = 0; c < 8; c++) {
      const T u = row[min(c0 + c, n - 1) * step];
      v[BLOCK - 8 + c] = l.upper ? conjugate(u) : u;
    }
  }
  columns[0][BLOCK + i] = columns[1][BLOCK + i] = zero<T>();
  int info = 0;
#pragma unroll 1
  for (int k = 0; k < n; k++) {
    const R d = __shfl_sync(~0u, real(v[0]), k);
    if (!info && !(d > 0)) info = k + 1; // also of NaN
    const bool counts = i >= k && !info;
    const R root = sqrt(d), inverse = 1 / root;
    const T found = i == k ? number<T>(root, 0) : v[0] * number<T>(inverse, 0);
    const T mine = counts ? found : zero<T>(), less = zero<T>() - mine, kept = counts ? found : v[0];
    T *column = columns[k % 2];
    column[i] = mine;
    if (k <= i && i < n) *row = l.upper ? conjugate(kept) : kept;
    row += step;
    __syncwarp();
    for (int c = 1; c < BLOCK; c++) {
      v[c - 1] = v[c];
      add_product(v[c - 1], less, conjugate(column[k + c]));
    }
  }
  return info;
}
