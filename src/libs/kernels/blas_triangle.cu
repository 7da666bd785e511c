// Blocks on the diagonal of symmetric, Hermitian and triangular matrices (libcublas' level 3): made whole, so that products can read
// them, and products put into the half of a matrix that is stored.
#include "dense.cuh"
#include "triangle_args.h"

enum { THREADS = 256 };

template <typename T> __device__ inline bool is_zero(T v) { return real(v) == 0 && imaginary(v) == 0; }

// What stands at row r, column c.
template <typename T> __device__ T whole_element(const ws_triangle_args &p, int64_t r, int64_t c)
{
  const T *a = (const T *)p.matrix;
  if (r == c) {
    if (p.unit) return number<T>(1, 0);
    return p.kind == WS_HERMITIAN ? number<T>(real(a[c * p.ld + r]), 0) : a[c * p.ld + r];
  }
  if ((r < c) == (p.upper != 0)) return a[c * p.ld + r];
  if (p.kind == WS_TRIANGULAR) return zero<T>();
  return p.kind == WS_HERMITIAN ? conjugate(a[r * p.ld + c]) : a[r * p.ld + c];
}

// Calls f(element of the block, row, column) for this CTA's part of a block, as far as the matrix goes.
template <typename F> __device__ void over_block(const ws_triangle_args &p, F f)
{
  const int64_t first = (int64_t)blockIdx.x * p.side;
  for (int i = threadIdx.x; i < p.side * WS_TRIANGLE_COLUMNS; i += THREADS) {
    const int r = i % p.side, c = blockIdx.y * WS_TRIANGLE_COLUMNS + i / p.side;
    if (first + r < p.n && first + c < p.n) f((first + c) * p.side + r, first + r, first + c);
  }
}

template <typename T> __device__ void expand(const ws_triangle_args &p)
{
  over_block(p, [&](int64_t at, int64_t r, int64_t c) { ((T *)p.blocks)[at] = whole_element<T>(p, r, c); });
}

// The stored half of matrix = block + beta * matrix; the diagonal of a Hermitian one is real.
template <typename T> __device__ void merge(const ws_triangle_args &p)
{
  const bool hermitian = p.kind == WS_HERMITIAN;
  const T beta = scalar<T>(p.beta, sizeof(typename traits<T>::real) == 8 ? WS_F64 : WS_F32);
  const bool add = !is_zero(beta);
  over_block(p, [&](int64_t at, int64_t r, int64_t c) {
    if (r != c && (r < c) != (p.upper != 0)) return;
    T v = ((const T *)p.blocks)[at], &to = ((T *)p.matrix)[c * p.ld + r];
    if (add) v = v + beta * (hermitian && r == c ? number<T>(real(to), 0) : to);
    to = hermitian && r == c ? number<T>(real(v), 0) : v;
  });
}

template <typename T> __device__ T factor(const void *at, bool is_real)
{
  using R = typename traits<T>::real;
  if (!at) return zero<T>();
  return is_real ? number<T>(*(const R *)at, 0) : *(const T *)at;
}

template <typename T> __device__ void factors(const ws_factors_args &p)
{
  T *to = (T *)p.to;
  to[WS_ALPHA] = factor<T>(p.alpha, p.real_alpha);
  to[WS_CONJ_ALPHA] = conjugate(to[WS_ALPHA]);
  to[WS_BETA] = factor<T>(p.beta, p.real_beta);
  to[WS_ONE] = number<T>(1, 0);
  to[WS_ZERO] = zero<T>();
}

#define KERNELS(l, T)                                                                                     \
  extern "C" __global__ void __launch_bounds__(THREADS)                                                   \
    warpstep_##l##triangle_expand(const __grid_constant__ ws_triangle_args p) { expand<T>(p); }           \
  extern "C" __global__ void __launch_bounds__(THREADS)                                                   \
    warpstep_##l##triangle_merge(const __grid_constant__ ws_triangle_args p) { merge<T>(p); }             \
  extern "C" __global__ void warpstep_##l##triangle_factors(const __grid_constant__ ws_factors_args p) { factors<T>(p); }
KERNELS(s, float)
KERNELS(d, double)
KERNELS(c, c32)
KERNELS(z, c64)
