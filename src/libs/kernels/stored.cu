// Vectors and matrices of which a part is stored: a band, a triangle in full, band or packed storage. Storages differ only in
// where a column begins (ws_stored), so that one kernel serves all of them.
#include "elements.cuh"
#include "stored_args.h"

enum { SIDE = 32, WARPS = 8 }; // a CTA has 256 threads

template <typename T> __device__ inline bool is_zero(T v) { return v == 0; }
template <typename R> __device__ inline bool is_zero(complex_of<R> v) { return v.x == 0 && v.y == 0; }
template <typename T> __device__ inline T real_part(T v) { return v; }
template <typename R> __device__ inline complex_of<R> real_part(complex_of<R> v) { return {v.x, 0}; }
template <typename T> __device__ inline T one() { return 1; }
template <> __device__ inline c32 one() { return {1, 0}; }
template <> __device__ inline c64 one() { return {1, 0}; }
template <typename T> __device__ inline T from_lane(T v, int lane) { return __shfl_sync(~0u, v, lane); }
template <typename R> __device__ inline complex_of<R> from_lane(complex_of<R> v, int lane)
{
  return {__shfl_sync(~0u, v.x, lane), __shfl_sync(~0u, v.y, lane)};
}
// The sum over a warp, in each of its lanes.
template <typename T> __device__ inline T over_warp(T v)
{
  for (int step = 16; step; step /= 2) v = v + from_lane(v, threadIdx.x % 32 ^ step);
  return v;
}
template <typename T> __device__ inline T factor(const ws_scalar &s)
{
  return scalar<T>(s, sizeof(typename traits<T>::real) == 8 ? WS_F64 : WS_F32);
}

// Column c, by row numbers.
template <typename T> __device__ inline T *column(const ws_stored &m, int64_t c)
{
  T *a = (T *)m.a;
  switch (m.storage) {
  case WS_BAND: return a + c * (m.ld - 1) + m.above;
  case WS_PACKED_LOWER: return a + c * (2 * m.columns - c - 1) / 2;
  case WS_PACKED_UPPER: return a + c * (c + 1) / 2;
  default: return a + c * m.ld;
  }
}
__device__ inline bool is_stored(const ws_stored &m, int64_t r, int64_t c)
{
  return r < m.rows && c < m.columns && r - c <= m.below && c - r <= m.above;
}

// What row i without its diagonal gives, of every eighth column from this warp's on.
template <typename T> __device__ T part_of_row(const ws_stored_product_args &p, int64_t i)
{
  const T *x = (const T *)p.x;
  const int64_t first = max((int64_t)0, i - p.a.below), last = min(p.a.columns - 1, i + p.a.above);
  T s = zero<T>();
  for (int64_t c = first + threadIdx.x / 32; c <= last; c += WARPS)
    if (c != i) madd(s, (T)column<T>(p.a, c)[i], x[c * p.incx]);
  return s;
}
// The sum of elements of column c from row `first` to `last` by those of x, but for the diagonal, by a warp.
template <typename T>
__device__ T sum_of_column(const ws_stored &m, int64_t c, int64_t first, int64_t last, const T *x, int64_t incx, int conj)
{
  const T *a = column<T>(m, c);
  T s = zero<T>();
  for (int64_t r = first + threadIdx.x % 32; r <= last; r += 32)
    if (r != c) madd(s, conj ? conjugate(a[r]) : a[r], x[r * incx]);
  return over_warp(s);
}
template <typename T> __device__ T diagonal(const ws_stored_product_args &p, int64_t i)
{
  if (p.unit) return one<T>();
  if (!is_stored(p.a, i, i)) return zero<T>();
  const T v = column<T>(p.a, i)[i];
  if (!p.conj) return v;
  return p.by_rows ? real_part(v) : conjugate(v); // of a Hermitian matrix it is real, whatever is stored
}

// A CTA has 32 elements of y: rows by a thread of each warp, columns by a warp in turn.
template <typename T> __device__ void product(const ws_stored_product_args &p)
{
  __shared__ __align__(16) char room[SIDE * WARPS * sizeof(T)];
  T *part = (T *)room;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int64_t first = (int64_t)blockIdx.x * SIDE, i = first + lane;
  const T alpha = factor<T>(p.alpha), beta = factor<T>(p.beta), *x = (const T *)p.x;
  const bool reads = !is_zero(alpha);
  T s = zero<T>();
  if (reads && p.by_rows && i < p.outputs) s = part_of_row<T>(p, i);
  if (reads && p.by_columns)
    for (int64_t c = first + warp; c < min(first + SIDE, p.outputs); c += WARPS) {
      const int64_t top = max((int64_t)0, c - p.a.above), bottom = min(p.a.rows - 1, c + p.a.below);
      const T sum = sum_of_column(p.a, c, top, bottom, x, p.incx, p.conj);
      if (c == i) s = s + sum;
    }
  part[threadIdx.x] = s;
  __syncthreads();
  if (warp || i >= p.outputs) return;
  for (int w = 1; w < WARPS; w++) s = s + part[w * SIDE + lane];
  if (reads && i < min(p.a.rows, p.a.columns)) madd(s, diagonal<T>(p, i), x[i * p.incx]);
  T *y = (T *)p.y + i * p.incy, v = alpha * s;
  if (!is_zero(beta)) v = v + beta * *y;
  *y = v;
}

// Of op(A) rows and columns [first, first + SIDE), 0 where nothing is stored.
template <typename T>
__device__ void load_block(T (&block)[SIDE][SIDE + 1], const ws_stored_solve_args &p, int64_t first)
{
  const int lane = threadIdx.x % 32;
  const int64_t r = first + lane;
  for (int t = threadIdx.x / 32; t < SIDE; t += WARPS) {
    T v = is_stored(p.a, r, first + t) ? column<T>(p.a, first + t)[r] : zero<T>();
    if (p.conj) v = conjugate(v);
    (p.transposed ? block[t][lane] : block[lane][t]) = v;
  }
}
// The unknowns of one block, each in its turn, by a warp whose lane has one of them.
template <typename T>
__device__ T solve_block(const T (&block)[SIDE][SIDE + 1], const ws_stored_solve_args &p, int size, T v)
{
  const int lane = threadIdx.x % 32;
  for (int s = 0; s < size; s++) {
    const int t = p.forward ? s : size - 1 - s;
    if (lane == t && !p.unit) v = v / block[t][t];
    const T x = from_lane(v, t);
    if (p.forward ? lane > t : lane < t) v = v - block[lane][t] * x;
  }
  return v;
}
// What the rows of op(A) still to come have of this block's unknowns: rows are down memory, a thread has one.
template <typename T>
__device__ void spread(const ws_stored_solve_args &p, const T *known, int64_t first, int size)
{
  T *x = (T *)p.x;
  const int64_t from = p.forward ? first + size : max((int64_t)0, first - p.a.above);
  const int64_t to = p.forward ? min(p.a.rows, first + size + p.a.below) : first;
  for (int64_t r = from + threadIdx.x; r < to; r += blockDim.x) {
    T s = zero<T>();
    for (int t = 0; t < size; t++)
      if (is_stored(p.a, r, first + t)) madd(s, (T)column<T>(p.a, first + t)[r], known[t]);
    x[r * p.incx] = x[r * p.incx] - s;
  }
}
// What this block's rows of op(A) have of all unknowns before: they are columns of A, a warp has one.
template <typename T> __device__ void gather(const ws_stored_solve_args &p, int64_t first, int size)
{
  T *x = (T *)p.x;
  for (int t = threadIdx.x / 32; t < size; t += WARPS) {
    const int64_t c = first + t;
    const int64_t from = p.forward ? max((int64_t)0, c - p.a.above) : first + size;
    const int64_t to = p.forward ? first - 1 : min(p.a.rows - 1, c + p.a.below);
    const T s = sum_of_column(p.a, c, from, to, (const T *)x, p.incx, p.conj);
    if (threadIdx.x % 32 == 0) x[c * p.incx] = x[c * p.incx] - s;
  }
}

// One CTA: a block of unknowns after the other.
template <typename T> __device__ void solve(const ws_stored_solve_args &p)
{
  __shared__ __align__(16) char room[(SIDE * (SIDE + 1) + SIDE) * sizeof(T)];
  T(&block)[SIDE][SIDE + 1] = *(T(*)[SIDE][SIDE + 1]) room;
  T *known = (T *)room + SIDE * (SIDE + 1), *x = (T *)p.x;
  const int64_t n = p.a.rows, blocks = (n + SIDE - 1) / SIDE;
  for (int64_t b = 0; b < blocks; b++) {
    const int64_t first = (p.forward ? b : blocks - 1 - b) * SIDE;
    const int size = (int)min((int64_t)SIDE, n - first);
    load_block(block, p, first);
    if (p.transposed) gather<T>(p, first, size);
    __syncthreads();
    if (threadIdx.x < 32) {
      T *mine = x + (first + threadIdx.x) * p.incx;
      const T v = solve_block(block, p, size, threadIdx.x < size ? *mine : zero<T>());
      known[threadIdx.x] = v;
      if (threadIdx.x < size) *mine = v;
    }
    __syncthreads();
    if (!p.transposed) spread(p, known, first, size);
  }
}

// A thread has a row, a CTA every so many columns.
template <typename T> __device__ void update(const ws_stored_update_args &p)
{
  T alpha = zero<T>();
  if constexpr (traits<T>::complex) {
    if (p.real) alpha.x = factor<typename traits<T>::real>(p.alpha);
    else alpha = factor<T>(p.alpha);
  } else alpha = factor<T>(p.alpha);
  const int64_t r = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  const T *x = (const T *)p.x, *y = (const T *)p.y;
  if (is_zero(alpha)) return;
  for (int64_t c = blockIdx.y; c < p.a.columns; c += gridDim.y) {
    if (!is_stored(p.a, r, c)) continue;
    const T yc = y[c * p.incy];
    T *a = column<T>(p.a, c) + r, v = *a + alpha * (x[r * p.incx] * (p.conj ? conjugate(yc) : yc));
    if (p.two) {
      const T xc = x[c * p.incx];
      v = v + (p.conj ? conjugate(alpha) : alpha) * (y[r * p.incy] * (p.conj ? conjugate(xc) : xc));
    }
    *a = p.conj && r == c ? real_part(v) : v;
  }
}

template <typename T> __device__ void repack(const ws_stored_copy_args &p)
{
  const int64_t r = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  for (int64_t c = blockIdx.y; c < p.to.columns; c += gridDim.y)
    if (is_stored(p.to, r, c)) column<T>(p.to, c)[r] = column<T>(p.from, c)[r];
}

#define KERNEL(name, args, call) \
  extern "C" __global__ void __launch_bounds__(256) warpstep_##name(const __grid_constant__ args p) { call(p); }
#define STORED(l, T)                                                  \
  KERNEL(l##stored_product, ws_stored_product_args, product<T>)       \
  KERNEL(l##stored_solve, ws_stored_solve_args, solve<T>)             \
  KERNEL(l##stored_update, ws_stored_update_args, update<T>)          \
  KERNEL(l##stored_copy, ws_stored_copy_args, repack<T>)
STORED(s, float)
STORED(d, double)
STORED(c, c32)
STORED(z, c64)
