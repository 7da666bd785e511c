// Systems of five diagonals, a thread for each: R of a QR factorisation by Givens' rotations, which turn the right side with it.
#include "sparse.cuh"

enum { SPAN = WS_PENTADIAGONAL_ROOM }; // elements of a row of R: its diagonal and four more

__device__ inline float length(float a, float b) { return hypotf(a, b); }
__device__ inline double length(double a, double b) { return hypot(a, b); }
template <typename R> __device__ inline R size_of(R v) { return fabs(v); }
template <typename R> __device__ inline R size_of(complex_of<R> v) { return length(v.x, v.y); }
template <typename R> __device__ inline R times(R v, R by) { return v * by; }
template <typename R> __device__ inline complex_of<R> times(complex_of<R> v, R by) { return {v.x * by, v.y * by}; }

// Rows a and b, with their right sides behind them, so that b's first element becomes 0: [conj(c) conj(s); -s c] of unitary numbers.
template <typename T> __device__ inline void rotate(T *a, T *b)
{
  const auto norm = length(size_of(a[0]), size_of(b[0]));
  if (norm == 0) return;
  const T c = times(a[0], 1 / norm), s = times(b[0], 1 / norm);
#pragma unroll
  for (int k = 0; k <= SPAN; k++) {
    const T u = a[k], v = b[k];
    a[k] = conjugate(c) * u + conjugate(s) * v;
    b[k] = c * v - s * u;
  }
}

// Row i of the matrix from the column of its first element below the diagonal on, `skip` columns behind that; nothing outside of the matrix.
template <typename T> __device__ inline void load(const ws_pentadiagonal &p, int64_t i, int64_t system, int skip, T *row)
{
#pragma unroll
  for (int k = 0; k <= SPAN; k++) row[k] = zero<T>();
  if (i >= p.m) return;
#pragma unroll
  for (int k = 0; k < 5; k++) {
    const int64_t column = i + k - 2;
    if (k >= skip && column >= 0 && column < p.m) row[k - skip] = ((const T *)p.diagonal[k])[i * p.batch + system];
  }
  row[SPAN] = ((const T *)p.x)[i * p.batch + system];
}

template <typename T> __device__ void pentadiagonal(const ws_pentadiagonal &p)
{
  T *const x = (T *)p.x, *const work = (T *)p.work;
  AT(system, p.batch)
  {
    T first[SPAN + 1], second[SPAN + 1], third[SPAN + 1];
    load(p, 0, system, 2, first);
    load(p, 1, system, 1, second);
#pragma unroll 1
    for (int64_t i = 0; i < p.m; i++) {
      load(p, i + 2, system, 0, third);
      rotate(first, second);
      rotate(first, third);
#pragma unroll
      for (int k = 0; k < SPAN; k++) work[(i * SPAN + k) * p.batch + system] = first[k];
      x[i * p.batch + system] = first[SPAN];
#pragma unroll
      for (int k = 0; k < SPAN; k++) {
        first[k] = k + 1 < SPAN ? second[k + 1] : zero<T>();
        second[k] = k + 1 < SPAN ? third[k + 1] : zero<T>();
      }
      first[SPAN] = second[SPAN], second[SPAN] = third[SPAN];
    }
#pragma unroll 1
    for (int64_t i = p.m; i-- > 0;) {
      T sum = x[i * p.batch + system];
#pragma unroll 1
      for (int k = 1; k < SPAN && i + k < p.m; k++)
        sum = sum - work[(i * SPAN + k) * p.batch + system] * x[(i + k) * p.batch + system];
      x[i * p.batch + system] = sum / work[i * SPAN * p.batch + system];
    }
  }
}

#define PENTADIAGONAL(l, T)                                                                                               \
  extern "C" __global__ void __launch_bounds__(128) warpstep_##l##pentadiagonal(const __grid_constant__ ws_pentadiagonal p) \
  {                                                                                                                       \
    pentadiagonal<T>(p);                                                                                                  \
  }
PENTADIAGONAL(s, float)
PENTADIAGONAL(d, double)
PENTADIAGONAL(c, c32)
PENTADIAGONAL(z, c64)
