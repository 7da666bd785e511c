// Sparse matrices times vectors and dense matrices; conversions.
#include "sparse.cuh"

// Elements of a dense product where the sparse matrix has some: a[i][j] = alpha * sum over k of b[i][k] c[k][j] + beta * a[i][j]. A
// warp per row, its lanes along k.
template <typename T> __device__ void sampled(const ws_sparse_product &p)
{
  const int lane = threadIdx.x % 32;
  const int64_t warps = (int64_t)gridDim.x * (blockDim.x / 32);
  const T alpha = scalar<T>(p.alpha, kind<T>()), beta = scalar<T>(p.beta, kind<T>());
  for (int64_t row = (int64_t)blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32; row < p.a.rows; row += warps) {
    const int64_t end = first_of_row(p.a, row + 1);
    for (int64_t at = first_of_row(p.a, row); at < end; at++) {
      const T *b = (const T *)p.b + row * p.b_row, *c = (const T *)p.c + column_of(p.a, at) * p.c_column;
      T sum = zero<T>();
#pragma unroll 1
      for (int64_t k = lane; k < p.n; k += 32) {
        const T u = b[k * p.b_column], v = c[k * p.c_row];
        madd(sum, p.conj_b ? conjugate(u) : u, p.conj ? conjugate(v) : v);
      }
      for (int by = 16; by; by /= 2) sum = sum + down(sum, by);
      if (lane) continue;
      T *to = (T *)p.a.values + at;
      T v = alpha * sum;
      if (!is_zero(beta)) v = v + beta * *to;
      *to = v;
    }
  }
}

// A warp per row; its sums are added in a fixed order.
template <typename V, typename T> __device__ void vector_rows(const ws_sparse_product &p)
{
  const int lane = threadIdx.x % 32;
  const int64_t warps = (int64_t)gridDim.x * (blockDim.x / 32);
  for (int64_t row = (int64_t)blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32; row < p.m; row += warps) {
    const int64_t end = first_of_row(p.a, row + 1);
    T sum = zero<T>();
    for (int64_t k = first_of_row(p.a, row) + lane; k < end; k += 32) {
      const T b = from<T>(((const V *)p.b)[column_of(p.a, k) * p.b_row]);
      madd(sum, from<T>(((const V *)p.a.values)[k]), p.conj_b ? conjugate(b) : b);
    }
    for (int by = 16; by; by /= 2) sum = sum + down(sum, by);
    if (lane == 0) leave<V>(p, row, 0, sum);
  }
}

// A warp per row and 32 columns of C, one for each lane.
template <typename V, typename T> __device__ void matrix_rows(const ws_sparse_product &p)
{
  const int64_t parts = (p.n + 31) / 32, warps = (int64_t)gridDim.x * (blockDim.x / 32);
  for (int64_t w = (int64_t)blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32; w < p.m * parts; w += warps) {
    const int64_t row = w / parts, j = w % parts * 32 + threadIdx.x % 32, end = first_of_row(p.a, row + 1);
    if (j >= p.n) continue;
    T sum = zero<T>();
    for (int64_t k = first_of_row(p.a, row); k < end; k++) {
      const T b = from<T>(((const V *)p.b)[column_of(p.a, k) * p.b_row + j * p.b_column]);
      madd(sum, from<T>(((const V *)p.a.values)[k]), p.conj_b ? conjugate(b) : b);
    }
    leave<V>(p, row, j, sum);
  }
}

// A thread for each element of C.
template <typename T> __device__ void block_rows(const ws_sparse_blocks &s)
{
  const ws_sparse_product &p = s.product;
  const int64_t down = s.by_columns ? 1 : s.side, along = s.by_columns ? s.side : 1;
  AT(i, p.m * p.n)
  {
    const int64_t row = i % p.m, j = i / p.m, end = first_of_row(p.a, row / s.side + 1);
    T sum = zero<T>();
#pragma unroll 1
    for (int64_t k = first_of_row(p.a, row / s.side); k < end; k++) {
      const T *a = (const T *)p.a.values + k * s.side * s.side + row % s.side * down;
      const T *b = (const T *)p.b + column_of(p.a, k) * s.side * p.b_row + j * p.b_column;
#pragma unroll 1
      for (int64_t c = 0; c < s.side; c++) madd(sum, a[c * along], p.conj_b ? conjugate(b[c * p.b_row]) : b[c * p.b_row]);
    }
    leave<T>(p, row, j, sum);
  }
}

template <typename T> __device__ void scale(const ws_sparse_product &p)
{
  AT(i, p.m * p.n)
  {
    T *c = (T *)p.c + i / p.n * p.c_row + i % p.n * p.c_column;
    const T beta = scalar<T>(p.beta, kind<T>());
    *c = is_zero(beta) ? zero<T>() : beta * *c;
  }
}

// A transposed: a warp per row of A adds to rows of C, which `scale` has prepared.
template <typename V, typename T> __device__ void scatter(const ws_sparse_product &p)
{
  const T alpha = scalar<T>(p.alpha, kind<T>());
  const int64_t warps = (int64_t)gridDim.x * (blockDim.x / 32);
  for (int64_t row = (int64_t)blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32; row < p.a.rows; row += warps) {
    const int64_t first = first_of_row(p.a, row), all = (first_of_row(p.a, row + 1) - first) * p.n;
    for (int64_t i = threadIdx.x % 32; i < all; i += 32) {
      const int64_t k = first + i / p.n, j = i % p.n;
      const T v = from<T>(((const V *)p.a.values)[k]), b = from<T>(((const V *)p.b)[row * p.b_row + j * p.b_column]);
      const T product = (p.conj ? conjugate(v) : v) * (p.conj_b ? conjugate(b) : b);
      add((T *)p.c + column_of(p.a, k) * p.c_row + j * p.c_column, alpha * product);
    }
  }
}

// Sums in FP32, row by row at p.b, to C of 16 bits.
extern "C" __global__ void __launch_bounds__(256) warpstep_sparse_settle(const __grid_constant__ ws_sparse_product p)
{
  AT(i, p.m * p.n) leave<__half>(p, i / p.n, i % p.n, ((const float *)p.b)[i]);
}

// Coordinates may come in any order.
template <typename T> __device__ void to_dense(const ws_sparse_convert &p)
{
  if (p.a.row) {
#pragma unroll 1
    AT(k, p.a.count)
    {
      const int64_t row = number(p.a.row, p.a.wide_indices, k) - p.a.base;
      ((T *)p.to)[row * p.to_row + column_of(p.a, k) * p.to_column] = ((const T *)p.a.values)[k];
    }
    return;
  }
  AT(row, p.a.rows)
#pragma unroll 1
  for (int64_t k = first_of_row(p.a, row), end = first_of_row(p.a, row + 1); k < end; k++)
    ((T *)p.to)[row * p.to_row + column_of(p.a, k) * p.to_column] = ((const T *)p.a.values)[k];
}

extern "C" __global__ void __launch_bounds__(256) warpstep_sparse_offsets(const __grid_constant__ ws_sparse_convert p)
{
  AT(row, p.a.rows + 1)((int *)p.to)[row] = (int)first_of_row(p.a, row) + p.a.base;
}
extern "C" __global__ void __launch_bounds__(256) warpstep_sparse_row_numbers(const __grid_constant__ ws_sparse_convert p)
{
  AT(row, p.a.rows)
#pragma unroll 1
  for (int64_t k = first_of_row(p.a, row), end = first_of_row(p.a, row + 1); k < end; k++) ((int *)p.to)[k] = (int)row + p.a.base;
}

#define KERNEL(name, args, call) \
  extern "C" __global__ void __launch_bounds__(256) warpstep_##name(const __grid_constant__ args p) { call(p); }
#define ROWS_OF(l, V, T)                                             \
  KERNEL(l##sparse_vector, ws_sparse_product, (vector_rows<V, T>))  \
  KERNEL(l##sparse_matrix, ws_sparse_product, (matrix_rows<V, T>))  \
  KERNEL(l##sparse_scatter, ws_sparse_product, (scatter<V, T>))
#define SPARSE(l, T)                                                \
  ROWS_OF(l, T, T)                                                  \
  KERNEL(l##sparse_blocks, ws_sparse_blocks, block_rows<T>)         \
  KERNEL(l##sparse_scale, ws_sparse_product, scale<T>)              \
  KERNEL(l##sparse_to_dense, ws_sparse_convert, to_dense<T>)        \
  KERNEL(l##sparse_sampled, ws_sparse_product, sampled<T>)
SPARSE(s, float)
SPARSE(d, double)
SPARSE(c, c32)
SPARSE(z, c64)
ROWS_OF(h, __half, float)
ROWS_OF(b, __nv_bfloat16, float)
