// Triangular systems, level by level: rows of a level do not need each other. A column of the right sides is a column of
// the grid.
#include "sparse.cuh"

// The sum over the lanes that share a row, in the first of them.
template <typename T> __device__ T over_lanes(T v, int lanes)
{
  for (int by = lanes / 2; by; by /= 2) v = v + down(v, by);
  return v;
}

template <typename T> __device__ void solve_row(const ws_sparse_solve &p, const T *b, T *x, int r, bool there, T alpha)
{
  const int lane = threadIdx.x % p.lanes, i = there ? p.order.row[r] : 0;
  T diagonal = zero<T>(), sum = zero<T>();
  for (int k = there ? p.order.first[r] + lane : 0, end = there ? p.order.first[r + 1] : 0; k < end; k += p.lanes) {
    const int j = p.order.unknown[k];
    const T stored = ((const T *)p.values)[p.order.place[k]], v = p.conj ? conjugate(stored) : stored;
    if (j == i) diagonal = diagonal + v;
    else madd(sum, v, x[j * p.c_row]);
  }
  diagonal = over_lanes(diagonal, p.lanes);
  sum = over_lanes(sum, p.lanes);
  if (!there || lane) return;
  const T right = b[i * p.b_row], v = alpha * (p.conj_b ? conjugate(right) : right) - sum;
  x[i * p.c_row] = p.unit ? v : v / diagonal;
}

template <typename T> __device__ void solve(const ws_sparse_solve &p)
{
  const int rows = blockDim.x / p.lanes, mine = threadIdx.x / p.lanes;
  const T *b = (const T *)p.b + blockIdx.x * p.b_column, alpha = scalar<T>(p.alpha, kind<T>());
  T *x = (T *)p.c + blockIdx.x * p.c_column;
  for (int level = p.from; level < p.to; level++) {
    const int end = p.order.level[level + 1];
    for (int64_t r = p.order.level[level] + (int64_t)blockIdx.y * rows; r < end; r += (int64_t)gridDim.y * rows)
      solve_row(p, b, x, (int)r + mine, r + mine < end, alpha);
    __syncthreads(); // where a launch has several levels, a column has one CTA
  }
}

#define SOLVE(l, T)                                                                                                \
  extern "C" __global__ void __launch_bounds__(1024) warpstep_##l##sparse_solve(const __grid_constant__ ws_sparse_solve p) \
  {                                                                                                                \
    solve<T>(p);                                                                                                   \
  }
SOLVE(s, float)
SOLVE(d, double)
SOLVE(c, c32)
SOLVE(z, c64)
