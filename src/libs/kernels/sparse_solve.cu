// Triangular systems: a warp per right side goes through the rows one after the other, its lanes along a row.
#include "sparse.cuh"

// Of a row: what its diagonal has, and the sum of the products with what is known.
template <typename T> __device__ void row_sums(const ws_sparse_solve &p, const T *x, int64_t i, T &diagonal, T &sum)
{
  diagonal = sum = zero<T>();
  const int64_t end = first_of_row(p.a, i + 1);
  for (int64_t k = first_of_row(p.a, i) + threadIdx.x % 32; k < end; k += 32) {
    const int64_t j = column_of(p.a, k);
    const T stored = ((const T *)p.a.values)[k], v = p.conj ? conjugate(stored) : stored;
    if (j == i) diagonal = diagonal + v;
    else if (!p.transposed && (p.upper ? j > i : j < i)) madd(sum, v, x[j * p.c_row]);
  }
  for (int by = 16; by; by /= 2) {
    diagonal = diagonal + down(diagonal, by);
    sum = sum + down(sum, by);
  }
}

// The transposed matrix: what row i has of the others goes to them.
template <typename T> __device__ void take_away(const ws_sparse_solve &p, T *x, int64_t i)
{
  const T known = x[i * p.c_row];
  const int64_t end = first_of_row(p.a, i + 1);
  for (int64_t k = first_of_row(p.a, i) + threadIdx.x % 32; k < end; k += 32) {
    const int64_t j = column_of(p.a, k);
    const T stored = ((const T *)p.a.values)[k], v = p.conj ? conjugate(stored) : stored;
    if (p.upper ? j > i : j < i) add(x + j * p.c_row, zero<T>() - v * known);
  }
}

template <typename T> __device__ void solve(const ws_sparse_solve &p)
{
  const int64_t column = (int64_t)blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
  const bool ascends = (p.upper != 0) == (p.transposed != 0);
  if (column >= p.n) return;
  T *x = (T *)p.c + column * p.c_column;
  const T *b = (const T *)p.b + column * p.b_column, alpha = scalar<T>(p.alpha, kind<T>());
  for (int64_t i = threadIdx.x % 32; i < p.a.rows; i += 32) {
    const T v = b[i * p.b_row];
    x[i * p.c_row] = alpha * (p.conj_b ? conjugate(v) : v);
  }
  for (int64_t step = 0; step < p.a.rows; step++) {
    const int64_t i = ascends ? step : p.a.rows - 1 - step;
    T diagonal, sum;
    __syncwarp();
    row_sums(p, x, i, diagonal, sum);
    if (threadIdx.x % 32 == 0) {
      const T v = x[i * p.c_row] - sum;
      x[i * p.c_row] = p.unit ? v : v / diagonal;
    }
    if (!p.transposed) continue;
    __syncwarp();
    take_away(p, x, i);
  }
}

#define SOLVE(l, T)                                                                                                \
  extern "C" __global__ void __launch_bounds__(256) warpstep_##l##sparse_solve(const __grid_constant__ ws_sparse_solve p) \
  {                                                                                                                \
    solve<T>(p);                                                                                                   \
  }
SOLVE(s, float)
SOLVE(d, double)
SOLVE(c, c32)
SOLVE(z, c64)
