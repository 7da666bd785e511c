// Sparse matrices whose elements have their places by a rule: blocked and sliced ELL, rows of blocks of any two sizes.
#include "sparse.cuh"

__device__ inline int64_t offset_of(const ws_sparse &a, uint32_t i) { return number(a.offsets, a.wide_offsets, i) - a.base; }

// Elements of a row, with those that are none.
__device__ inline uint32_t length_of(const ws_sparse_ell &s, uint32_t row)
{
  const ws_sparse &a = s.product.a;
  if (s.format == WS_BLOCKED_ELL) return s.width;
  const uint32_t group = row / s.block_rows, n = (uint32_t)(offset_of(a, group + 1) - offset_of(a, group));
  return s.format == WS_BSR ? n * s.block_cols : n / s.block_rows;
}

// Where element e of a row lies among the values; *column: negative where there is none.
__device__ inline int64_t place_of(const ws_sparse_ell &s, uint32_t row, uint32_t e, int64_t *column)
{
  const ws_sparse &a = s.product.a;
  const uint32_t group = row / s.block_rows, r = row % s.block_rows;
  if (s.format == WS_SLICED_ELL) {
    const int64_t at = offset_of(a, group) + (int64_t)e * s.block_rows + r;
    *column = column_of(a, at);
    return at;
  }
  const uint32_t block = e / s.block_cols, c = e % s.block_cols;
  const bool ell = s.format == WS_BLOCKED_ELL;
  const int64_t k = block + (ell ? (int64_t)group * (s.width / s.block_cols) : offset_of(a, group));
  const int64_t across = column_of(a, k);
  *column = across < 0 ? -1 : across * s.block_cols + c;
  if (ell) return (int64_t)row * s.width + e;
  return k * s.block_rows * s.block_cols + (s.by_columns ? (int64_t)c * s.block_rows + r : (int64_t)r * s.block_cols + c);
}

// A thread for each element of C, neighbours along a column.
template <typename V, typename T> __device__ void rows(const ws_sparse_ell &s)
{
  const ws_sparse_product &p = s.product;
  AT(i, p.m * p.n)
  {
    const uint32_t row = (uint32_t)(i % p.m), length = length_of(s, row);
    const int64_t j = i / p.m;
    T sum = zero<T>();
#pragma unroll 1
    for (uint32_t e = 0; e < length; e++) {
      int64_t column;
      const int64_t at = place_of(s, row, e, &column);
      if (column < 0) continue;
      const T b = from<T>(((const V *)p.b)[column * p.b_row + j * p.b_column]);
      madd(sum, from<T>(((const V *)p.a.values)[at]), p.conj_b ? conjugate(b) : b);
    }
    leave<V>(p, row, j, sum);
  }
}

// A transposed: a thread for each row of A and column of C adds to a column of C, which has been scaled.
template <typename T> __device__ void scatter(const ws_sparse_ell &s)
{
  const ws_sparse_product &p = s.product;
  const T alpha = scalar<T>(p.alpha, kind<T>());
  AT(i, p.a.rows * p.n)
  {
    const uint32_t row = (uint32_t)(i % p.a.rows), length = length_of(s, row);
    const int64_t j = i / p.a.rows;
    const T b = ((const T *)p.b)[row * p.b_row + j * p.b_column], with = alpha * (p.conj_b ? conjugate(b) : b);
#pragma unroll 1
    for (uint32_t e = 0; e < length; e++) {
      int64_t column;
      const int64_t at = place_of(s, row, e, &column);
      if (column < 0) continue;
      const T v = ((const T *)p.a.values)[at];
      add((T *)p.c + column * p.c_row + j * p.c_column, (p.conj ? conjugate(v) : v) * with);
    }
  }
}

// Elements of a dense product where the matrix of blocks has some (see `sampled` of sparse.cu): a warp for each row.
template <typename T> __device__ void sampled(const ws_sparse_ell &s)
{
  const ws_sparse_product &p = s.product;
  const T alpha = scalar<T>(p.alpha, kind<T>()), beta = scalar<T>(p.beta, kind<T>());
  ROWS(row, p.a.rows)
  {
    const uint32_t length = length_of(s, (uint32_t)row);
#pragma unroll 1
    for (uint32_t e = 0; e < length; e++) {
      int64_t column;
      T *to = (T *)p.a.values + place_of(s, (uint32_t)row, e, &column);
      const T *b = (const T *)p.b + row * p.b_row, *c = (const T *)p.c + column * p.c_column;
      T sum = zero<T>();
#pragma unroll 1
      for (int64_t k = lane; k < p.n; k += 32) {
        const T u = b[k * p.b_column], v = c[k * p.c_row];
        madd(sum, p.conj_b ? conjugate(u) : u, p.conj ? conjugate(v) : v);
      }
      for (int by = 16; by; by /= 2) sum = sum + down(sum, by);
      if (lane) continue;
      T v = alpha * sum;
      if (!is_zero(beta)) v = v + beta * *to;
      *to = v;
    }
  }
}

// Between the matrix and a dense one, C: its elements to C, or the elements that it has from C (`conj`), 0 where it has none.
template <typename T> __device__ void copy(const ws_sparse_ell &s)
{
  const ws_sparse_product &p = s.product;
  AT(row, p.a.rows)
  {
    const uint32_t length = length_of(s, (uint32_t)row);
#pragma unroll 1
    for (uint32_t e = 0; e < length; e++) {
      int64_t column;
      T *mine = (T *)p.a.values + place_of(s, (uint32_t)row, e, &column);
      T *dense = (T *)p.c + row * p.c_row + column * p.c_column;
      if (p.conj) *mine = column < 0 ? zero<T>() : *dense;
      else if (column >= 0) *dense = *mine;
    }
  }
}

#define KERNEL(name, call) \
  extern "C" __global__ void __launch_bounds__(256) warpstep_##name(const __grid_constant__ ws_sparse_ell p) { call(p); }
#define OF_TYPE(l, T)                        \
  KERNEL(l##sparse_ell_rows, (rows<T, T>))   \
  KERNEL(l##sparse_ell_scatter, scatter<T>)  \
  KERNEL(l##sparse_ell_sampled, sampled<T>)  \
  KERNEL(l##sparse_ell_copy, copy<T>)
OF_TYPE(s, float)
OF_TYPE(d, double)
OF_TYPE(c, c32)
OF_TYPE(z, c64)
KERNEL(hsparse_ell_rows, (rows<__half, float>))
KERNEL(bsparse_ell_rows, (rows<__nv_bfloat16, float>))
