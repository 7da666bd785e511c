// Incomplete factors of compressed rows whose columns ascend: LU, and Cholesky's L of A = L L^H, each with the places of
// the matrix alone. Rows of a level need only those of levels before it (sparse_solve.cu). A row is a thread's, or a warp's, whose
// lanes share the elements of a row that it is combined with. What a row has where the matrix has nothing is dropped.
#include "sparse.cuh"

// Where column `j` is among the elements from `low` to `end`, or -1.
__device__ inline int64_t place_of(const ws_sparse_factor &p, int64_t low, int64_t end, int64_t j)
{
  int64_t high = end;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (column_of(p.a, middle) < j) low = middle + 1;
    else high = middle;
  }
  return low < end && column_of(p.a, low) == j ? low : -1;
}

__device__ inline void say_pivot(const ws_sparse_factor &p, int64_t i)
{
  atomicMin((unsigned *)p.position, (unsigned)i + p.a.base); // -1: none so far
}

__device__ inline float size_of(float v) { return fabsf(v); }
__device__ inline double size_of(double v) { return fabs(v); }
template <typename R> __device__ inline R size_of(complex_of<R> v) { return (R)hypot((double)v.x, (double)v.y); }

template <typename T> __device__ inline T pivot_of(const T *values, int64_t at) { return at < 0 ? zero<T>() : values[at]; }

// Of row i: without a place on the diagonal there is a zero for good; else a small one may be replaced.
template <typename T> __device__ void lu_pivot(const ws_sparse_factor &p, T *values, int64_t i)
{
  const int64_t at = p.diagonal[i];
  if (at >= 0 && p.boost && (p.tol.device ? *(const double *)p.tol.device : p.tol.re) >= (double)size_of(values[at]))
    values[at] = scalar<T>(p.boost_value, kind<T>());
  if (at < 0 || is_zero(values[at])) say_pivot(p, i);
}

template <int LANES> __device__ inline int lane_of_row() { return threadIdx.x % LANES; }
template <int LANES> __device__ inline void together()
{
  if constexpr (LANES > 1) __syncwarp();
}

template <typename T, int LANES> __device__ void lu(const ws_sparse_factor &p, T *values, int64_t i)
{
  const int lane = lane_of_row<LANES>();
  const int64_t end = first_of_row(p.a, i + 1);
  for (int64_t k = first_of_row(p.a, i); k < end; k++) {
    const int64_t j = column_of(p.a, k);
    if (j >= i) break;
    const T factor = values[k] / pivot_of(values, p.diagonal[j]);
    const int64_t end_j = first_of_row(p.a, j + 1);
    together<LANES>();
    if (lane == 0) values[k] = factor;
    for (int64_t t = first_of_row(p.a, j) + lane; t < end_j; t += LANES) {
      const int64_t c = column_of(p.a, t), at = c > j ? place_of(p, k + 1, end, c) : -1;
      if (at >= 0) values[at] = values[at] - factor * values[t];
    }
    together<LANES>();
  }
  if (lane == 0) lu_pivot(p, values, i);
}

// The sum of l[i][c] conj(l[j][c]) over the columns c below j that both rows have, in lane 0.
template <typename T, int LANES>
__device__ T common(const ws_sparse_factor &p, const T *values, int64_t first, int64_t k, int64_t j)
{
  T sum = zero<T>();
  const int64_t end_j = first_of_row(p.a, j + 1);
  for (int64_t t = first_of_row(p.a, j) + lane_of_row<LANES>(); t < end_j; t += LANES) {
    const int64_t c = column_of(p.a, t), at = c < j ? place_of(p, first, k, c) : -1;
    if (at >= 0) madd(sum, values[at], conjugate(values[t]));
  }
  for (int by = LANES / 2; by; by /= 2) sum = sum + down(sum, by);
  return sum;
}

template <typename R> __device__ inline R real_part(R v) { return v; }
template <typename R> __device__ inline R real_part(complex_of<R> v) { return v.x; }
template <typename T, typename R> __device__ inline T from_real(R v)
{
  if constexpr (traits<T>::complex) return {v, 0};
  else return v;
}

template <typename T, int LANES> __device__ void cholesky(const ws_sparse_factor &p, T *values, int64_t i)
{
  const int lane = lane_of_row<LANES>();
  const int64_t first = first_of_row(p.a, i), end = first_of_row(p.a, i + 1);
  for (int64_t k = first; k < end; k++) {
    const int64_t j = column_of(p.a, k);
    if (j > i) break;
    const T left = values[k] - common<T, LANES>(p, values, first, k, j);
    if (lane == 0 && j < i) values[k] = left / pivot_of(values, p.diagonal[j]);
    if (lane == 0 && j == i) {
      if (!(real_part(left) > 0)) say_pivot(p, i);
      values[k] = from_real<T>(sqrt(real_part(left)));
    }
    together<LANES>();
  }
}

// The levels of a launch, row by row.
template <int LANES, typename Row> __device__ void by_levels(const ws_sparse_factor &p, Row row)
{
  const int rows = blockDim.x / LANES, mine = threadIdx.x / LANES;
  for (int level = p.from; level < p.to; level++) {
    const int end = p.order.level[level + 1];
    for (int64_t r = p.order.level[level] + (int64_t)blockIdx.y * rows + mine; r < end; r += (int64_t)gridDim.y * rows)
      row(p.order.row[r]);
    __syncthreads(); // a launch of several levels has one CTA
  }
}

// Where diagonals are, and the first row that has no place for one.
extern "C" __global__ void __launch_bounds__(256) warpstep_sparse_diagonal(const __grid_constant__ ws_sparse_factor p)
{
  AT(i, p.a.rows)
  {
    const int64_t at = place_of(p, first_of_row(p.a, i), first_of_row(p.a, i + 1), i);
    p.diagonal[i] = (int)at;
    if (at < 0) atomicMin((unsigned *)p.position, (unsigned)i + p.a.base); // -1: none so far
  }
}

#define FACTOR(name, T, what)                                                                                        \
  extern "C" __global__ void __launch_bounds__(1024) name(const __grid_constant__ ws_sparse_factor p)               \
  {                                                                                                                  \
    T *values = (T *)p.a.values;                                                                                     \
    if (p.lanes == 1) by_levels<1>(p, [&](int i) { what<T, 1>(p, values, i); });                                     \
    else by_levels<32>(p, [&](int i) { what<T, 32>(p, values, i); });                                                \
  }
#define FACTORS(l, T)                                                                                                \
  FACTOR(warpstep_##l##sparse_lu, T, lu)                                                                             \
  FACTOR(warpstep_##l##sparse_cholesky, T, cholesky)
FACTORS(s, float)
FACTORS(d, double)
FACTORS(c, c32)
FACTORS(z, c64)
