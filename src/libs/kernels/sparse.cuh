// What kernels on sparse matrices share: indices of either width, rows of either format, sums over the lanes of a warp.
#pragma once
#include "elements.cuh"
#include "sparse_args.h"

#define AT(i, n) for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (int64_t)gridDim.x * blockDim.x)

// A warp for each.
#define ROWS(row, n)                                                                                   \
  for (int64_t row = (int64_t)blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32; row < n; \
       row += (int64_t)gridDim.x * (blockDim.x / 32))

__device__ inline int64_t number(const void *p, int wide, int64_t i)
{
  return wide ? ((const int64_t *)p)[i] : ((const int *)p)[i];
}
__device__ inline void put(void *p, int wide, int64_t i, int64_t v)
{
  if (wide) ((int64_t *)p)[i] = v;
  else ((int *)p)[i] = (int)v;
}
__device__ inline int64_t column_of(const ws_sparse &a, int64_t k) { return number(a.column, a.wide_indices, k) - a.base; }

// The first place whose row is not below `row`.
__device__ inline int64_t first_of_row(const ws_sparse &a, int64_t row)
{
  if (a.offsets) return number(a.offsets, a.wide_offsets, row) - a.base;
  int64_t low = 0, high = a.count;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (number(a.row, a.wide_indices, middle) - a.base < row) low = middle + 1;
    else high = middle;
  }
  return low;
}

template <typename T> __device__ inline int kind() { return sizeof(typename traits<T>::real) == 8 ? WS_F64 : WS_F32; }
template <typename T> __device__ inline bool is_zero(T v) { return v == 0; }
template <typename R> __device__ inline bool is_zero(complex_of<R> v) { return v.x == 0 && v.y == 0; }

template <typename T> __device__ inline T down(T v, int by) { return __shfl_down_sync(~0u, v, by); }
template <typename R> __device__ inline complex_of<R> down(complex_of<R> v, int by)
{
  return {__shfl_down_sync(~0u, v.x, by), __shfl_down_sync(~0u, v.y, by)};
}

template <typename R> __device__ inline void add(R *c, R v) { atomicAdd(c, v); }
template <typename R> __device__ inline void add(complex_of<R> *c, complex_of<R> v)
{
  atomicAdd(&c->x, v.x);
  atomicAdd(&c->y, v.y);
}

// Values of type V, sums of type T. What has 16 bits is left as p.c_type says.
template <typename V, typename T> __device__ inline void leave(const ws_sparse_product &p, int64_t i, int64_t j, T sum)
{
  const int64_t at = i * p.c_row + j * p.c_column;
  const T beta = scalar<T>(p.beta, kind<T>());
  T v = scalar<T>(p.alpha, kind<T>()) * sum;
  // With beta 0 nothing is read, as documented.
  if constexpr (sizeof(V) == 2) {
    if (!is_zero(beta)) v = v + beta * read_as<T>(p.c, p.c_type, at);
    write_as<T>(p.c, p.c_type, at, v);
  } else {
    T *c = (T *)p.c + at;
    if (!is_zero(beta)) v = v + beta * *c;
    *c = v;
  }
}
