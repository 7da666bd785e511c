// Numbers as the kernels of our libraries handle them: conversion to what is computed with, complex numbers, and
// the end of a product (scale, add, bias, activation, store).
#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "gemm_args.h"

template <typename R> struct complex_of {
  R x, y;
};
using c32 = complex_of<float>;
using c64 = complex_of<double>;

template <typename R> __device__ inline complex_of<R> operator+(complex_of<R> a, complex_of<R> b)
{
  return {a.x + b.x, a.y + b.y};
}
template <typename R> __device__ inline complex_of<R> operator-(complex_of<R> a, complex_of<R> b)
{
  return {a.x - b.x, a.y - b.y};
}
template <typename R> __device__ inline complex_of<R> operator*(complex_of<R> a, complex_of<R> b)
{
  return {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x};
}
template <typename R> __device__ inline complex_of<R> operator/(complex_of<R> a, complex_of<R> b)
{
  const R s = 1 / (b.x * b.x + b.y * b.y);
  return {(a.x * b.x + a.y * b.y) * s, (a.y * b.x - a.x * b.y) * s};
}

template <typename T> struct traits {
  using real = T;
  static constexpr bool complex = false;
};
template <typename R> struct traits<complex_of<R>> {
  using real = R;
  static constexpr bool complex = true;
};

template <typename To> __device__ inline To from(float v) { return (To)v; }
template <typename To> __device__ inline To from(double v) { return (To)v; }
template <typename To> __device__ inline To from(int v) { return (To)v; }
template <typename To> __device__ inline To from(int8_t v) { return (To)v; }
template <typename To> __device__ inline To from(__half v) { return (To)__half2float(v); }
template <typename To> __device__ inline To from(__nv_bfloat16 v) { return (To)__bfloat162float(v); }
template <typename To> __device__ inline To from(c32 v) { return {v.x, v.y}; }
template <typename To> __device__ inline To from(c64 v) { return {v.x, v.y}; }

template <typename T> __device__ inline T zero() { return T{}; }
template <typename T> __device__ inline T conjugate(T v) { return v; }
template <typename R> __device__ inline complex_of<R> conjugate(complex_of<R> v) { return {v.x, -v.y}; }

template <typename A> __device__ inline void madd(A &acc, A a, A b) { acc += a * b; }
template <typename R> __device__ inline void madd(complex_of<R> &s, complex_of<R> a, complex_of<R> b)
{
  s.x += a.x * b.x;
  s.x -= a.y * b.y;
  s.y += a.x * b.y;
  s.y += a.y * b.x;
}

// A scalar in the type the sum is scaled in.
template <typename S> __device__ inline S scalar(const ws_scalar &v, int type)
{
  if constexpr (traits<S>::complex) {
    if (!v.device) return {(typename traits<S>::real)v.re, (typename traits<S>::real)v.im};
    return *(const S *)v.device;
  } else {
    if (!v.device) return (S)v.re;
    switch (type) {
    case WS_F16: return (S)__half2float(*(const __half *)v.device);
    case WS_BF16: return (S)__bfloat162float(*(const __nv_bfloat16 *)v.device);
    case WS_F64: return (S) * (const double *)v.device;
    case WS_I32: return (S) * (const int *)v.device;
    default: return (S) * (const float *)v.device;
    }
  }
}

template <typename S> __device__ inline S read_as(const void *p, int type, int64_t at)
{
  if constexpr (traits<S>::complex) {
    return ((const S *)p)[at];
  } else {
    switch (type) {
    case WS_F16: return (S)__half2float(((const __half *)p)[at]);
    case WS_BF16: return (S)__bfloat162float(((const __nv_bfloat16 *)p)[at]);
    case WS_F64: return (S)((const double *)p)[at];
    case WS_I32: return (S)((const int *)p)[at];
    case WS_I8: return (S)((const int8_t *)p)[at];
    default: return (S)((const float *)p)[at];
    }
  }
}

template <typename S> __device__ inline void write_as(void *p, int type, int64_t at, S v)
{
  if constexpr (traits<S>::complex) {
    if (type == WS_C32) ((c32 *)p)[at] = {(float)v.x, (float)v.y};
    else ((c64 *)p)[at] = {(double)v.x, (double)v.y};
  } else {
    switch (type) {
    case WS_F16: ((__half *)p)[at] = __float2half((float)v); break;
    case WS_BF16: ((__nv_bfloat16 *)p)[at] = __float2bfloat16((float)v); break;
    case WS_F64: ((double *)p)[at] = (double)v; break;
    case WS_I32: ((int *)p)[at] = (int)v; break;
    case WS_I8: ((int8_t *)p)[at] = (int8_t)max(-128, min(127, __float2int_rn((float)v))); break;
    default: ((float *)p)[at] = (float)v;
    }
  }
}

__device__ inline float gelu(float x)
{
  return 0.5f * x * (1.0f + tanhf(0.7978845608f * (x + 0.044715f * x * x * x)));
}
__device__ inline float gelu_slope(float x)
{
  const float t = tanhf(0.7978845608f * (x + 0.044715f * x * x * x));
  return 0.5f * (1.0f + t) + 0.5f * x * (1.0f - t * t) * 0.7978845608f * (1.0f + 3.0f * 0.044715f * x * x);
}

// The matrix of one product of a batch.
template <typename T> __device__ inline T *of_batch(const void *p, int64_t stride, int pointers, int64_t z)
{
  return pointers ? ((T *const *)p)[z] : (T *)p + stride * z;
}
// Of pointers that the host has not seen, too.
__device__ inline bool on_border(const void *p) { return ((unsigned long long)p & 15) == 0; }
__device__ inline char *bytes_of_batch(const void *p, int64_t stride, int pointers, int64_t z, int type)
{
  if (pointers) return ((char *const *)p)[z];
  const int64_t size = type == WS_C64 ? 16 : type == WS_F64 || type == WS_C32 ? 8
                       : type == WS_F32 || type == WS_I32                     ? 4
                       : type == WS_I8                                        ? 1
                                                                              : 2;
  return (char *)p + stride * z * size;
}

// Bias, activation, what is kept of it, for one element.
__device__ inline float finish(const ws_gemm_args &p, int64_t z, int row, int col, float v)
{
  if (p.epilogue & WS_BIAS) v += read_as<float>(p.bias, p.bias_type, z * p.stride_bias + col);
  if (!(p.epilogue & ~WS_BIAS)) return v;
  const int64_t at = z * p.stride_aux + row * p.ldaux + col;
  if (p.epilogue & WS_RELU) {
    if (p.epilogue & WS_AUX) {
      unsigned *word = (unsigned *)p.aux + at / 32;
      if (v > 0)
        atomicOr(word, 1u << (at & 31));
      else
        atomicAnd(word, ~(1u << (at & 31)));
    }
    return v > 0 || v != v ? v : 0; // not a number stays that
  }
  if (p.epilogue & WS_GELU) {
    if (p.epilogue & WS_AUX) write_as<float>(p.aux, p.aux_type, at, v);
    return gelu(v);
  }
  if (p.epilogue & WS_DRELU) return ((const unsigned *)p.aux)[at / 32] >> (at & 31) & 1 ? v : 0;
  return v * gelu_slope(read_as<float>(p.aux, p.aux_type, at));
}

template <typename T, int N> struct alignas(sizeof(T) * N > 16 ? 16 : sizeof(T) * N) group {
  T v[N];
};

// What D gets of one thread's N neighbours in a row.
template <typename S, typename C, int N> struct ender {
  S alpha, beta;
  const char *c;
  char *d;
  int64_t z;
  bool vector, plain; // plain: D = alpha * sum, in groups

  __device__ ender(const ws_gemm_args &p, int64_t batch) : z(batch)
  {
    alpha = scalar<S>(p.alpha, p.scale);
    beta = scalar<S>(p.beta, p.scale);
    if constexpr (!traits<S>::complex) {
      if (p.scale_a) alpha *= (S)*p.scale_a;
      if (p.scale_b) alpha *= (S)*p.scale_b;
    }
    c = bytes_of_batch(p.c, p.stride_c, p.pointers, z, p.c_type);
    d = bytes_of_batch(p.d, p.stride_d, p.pointers, z, p.d_type);
    vector = p.d_vector && on_border(d);
    plain = vector && !adds() && !p.epilogue;
  }
  __device__ bool adds() const
  {
    if constexpr (traits<S>::complex) return beta.x != 0 || beta.y != 0;
    else return beta != 0;
  }
  // The same where `plain` holds and all four are D's.
  __device__ void put_plain(const ws_gemm_args &p, int row, int col, float4 sum) const
  {
    const float v[4] = {alpha * sum.x, alpha * sum.y, alpha * sum.z, alpha * sum.w};
    store(p, row, col, v, 4);
  }
  __device__ void put(const ws_gemm_args &p, int row, int col, const C *sum) const
  {
    if (row >= p.m || col >= p.n) return;
    S v[N];
    if constexpr (sizeof(S) == 4 && !traits<S>::complex)
      if (plain && col + N <= p.n) {
#pragma unroll
        for (int i = 0; i < N; i++) v[i] = alpha * (S)sum[i];
        return store(p, row, col, v, N);
      }
    const bool add = adds();
    const int valid = min(N, p.n - col);
#pragma unroll
    for (int i = 0; i < N; i++) {
      if constexpr (traits<S>::complex) v[i] = alpha * sum[i];
      else v[i] = alpha * (S)sum[i];
      if (i >= valid) continue;
      if (add) v[i] = v[i] + beta * read_as<S>(c, p.c_type, (int64_t)row * p.ldc + col + i);
      if constexpr (sizeof(S) == 4 && !traits<S>::complex)
        if (p.epilogue) v[i] = (S)finish(p, z, row, col + i, (float)v[i]);
    }
    store(p, row, col, v, valid);
  }
  __device__ void store(const ws_gemm_args &p, int row, int col, const S *v, int valid) const
  {
    const int64_t at = (int64_t)row * p.ldd + col;
    if (valid == N && vector) {
      if (p.d_type == WS_F32 && sizeof(S) == 4) {
        group<float, N> g;
        for (int i = 0; i < N; i++) g.v[i] = from<float>(*(const float *)&v[i]);
        if constexpr (sizeof(S) == 4) *(group<float, N> *)((float *)d + at) = g;
        return;
      }
      if constexpr (!traits<S>::complex) {
        if (p.d_type == WS_F16) {
          group<__half, N> g;
          for (int i = 0; i < N; i++) g.v[i] = __float2half((float)v[i]);
          *(group<__half, N> *)((__half *)d + at) = g;
          return;
        }
        if (p.d_type == WS_BF16) {
          group<__nv_bfloat16, N> g;
          for (int i = 0; i < N; i++) g.v[i] = __float2bfloat16((float)v[i]);
          *(group<__nv_bfloat16, N> *)((__nv_bfloat16 *)d + at) = g;
          return;
        }
      }
    }
    for (int i = 0; i < N; i++)
      if (i < valid) write_as<S>(d, p.d_type, at + i, v[i]);
  }
};

// Where a tile lies: bands of eight rows of tiles, so that neighbours in time share operands in L2.
__device__ inline void place_of_tile(unsigned tile, int rows, int cols, int &row, int &col)
{
  enum { BAND = 8 };
  const int per_band = BAND * cols, band = tile / per_band, in = tile % per_band;
  const int height = min(BAND, rows - band * BAND);
  row = band * BAND + in % height;
  col = in / height;
}
// Which tile a CTA has where none is split in k, or all are over blockIdx.y.
__device__ inline void tile_of(int rows, int cols, int &row, int &col)
{
  place_of_tile(blockIdx.x, rows, cols, row, col);
}
