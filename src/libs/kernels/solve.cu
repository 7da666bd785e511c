// Dense systems: LU, Cholesky, QR by reflectors, and solving with the first two. One CTA for each matrix, straight from memory:
// right for small matrices, slow for large ones.
#include "elements.cuh"
#include "solve_args.h"

template <typename R> __device__ inline R size_of(R v) { return v < 0 ? -v : v; }
template <typename R> __device__ inline R size_of(complex_of<R> v) { return size_of(v.x) + size_of(v.y); }
template <typename R> __device__ inline R square(R v) { return v * v; }
template <typename R> __device__ inline R square(complex_of<R> v) { return v.x * v.x + v.y * v.y; }
template <typename R> __device__ inline R real(R v) { return v; }
template <typename R> __device__ inline R real(complex_of<R> v) { return v.x; }
template <typename R> __device__ inline R imaginary(R) { return 0; }
template <typename R> __device__ inline R imaginary(complex_of<R> v) { return v.y; }
template <typename T> __device__ inline T number(typename traits<T>::real x, typename traits<T>::real y)
{
  if constexpr (traits<T>::complex) return {x, y};
  else return x;
}
template <typename R> __device__ inline R down(R v, int by) { return __shfl_down_sync(~0u, v, by); }
template <typename R> __device__ inline complex_of<R> down(complex_of<R> v, int by) { return {down(v.x, by), down(v.y, by)}; }
template <typename R> __device__ inline R first(R v) { return __shfl_sync(~0u, v, 0); }
template <typename R> __device__ inline complex_of<R> first(complex_of<R> v) { return {first(v.x), first(v.y)}; }
template <typename T> __device__ inline T over_warp(T v)
{
  for (int by = 16; by; by /= 2) v = v + down(v, by);
  return first(v);
}

template <typename T> __device__ inline T *matrix(void *p, const ws_solve_args &s)
{
  return s.pointers ? ((T **)p)[blockIdx.x] : (T *)p;
}

// The largest of a column from row j on: its row, the first among equals.
template <typename T> __device__ int64_t pivot_of(const T *column, int64_t j, int64_t m)
{
  using R = typename traits<T>::real;
  __shared__ double size[256];
  __shared__ int64_t place[256];
  R best = -1;
  int64_t at = j;
  for (int64_t i = j + threadIdx.x; i < m; i += 256)
    if (size_of(column[i]) > best) best = size_of(column[i]), at = i;
  size[threadIdx.x] = (double)best;
  place[threadIdx.x] = at;
  for (int step = 128; step; step /= 2) {
    __syncthreads();
    if (threadIdx.x < step) {
      const int other = threadIdx.x + step;
      if (size[other] > size[threadIdx.x] || (size[other] == size[threadIdx.x] && place[other] < place[threadIdx.x]))
        size[threadIdx.x] = size[other], place[threadIdx.x] = place[other];
    }
  }
  __syncthreads();
  const int64_t found = place[0];
  __syncthreads();
  return found;
}

template <typename T> __device__ void lu(const ws_solve_args &p)
{
  T *a = matrix<T>(p.a, p);
  int info = 0;
  for (int64_t j = 0; j < min(p.m, p.n); j++) {
    T *column = a + j * p.lda;
    if (p.pivots) {
      const int64_t r = pivot_of(column, j, p.m);
      if (threadIdx.x == 0) p.pivots[j] = (int)r + 1;
      for (int64_t c = threadIdx.x; c < p.n && r != j; c += 256) {
        const T t = a[c * p.lda + j];
        a[c * p.lda + j] = a[c * p.lda + r];
        a[c * p.lda + r] = t;
      }
      __syncthreads();
    }
    const T pivot = column[j];
    if (size_of(pivot) == 0) {
      if (!info) info = (int)j + 1;
      continue; // nothing but zeros below
    }
    for (int64_t i = j + 1 + threadIdx.x; i < p.m; i += 256) column[i] = column[i] / pivot;
    __syncthreads();
    for (int64_t c = j + 1 + threadIdx.x / 32; c < p.n; c += 8) {
      const T f = a[c * p.lda + j];
      for (int64_t i = j + 1 + threadIdx.x % 32; i < p.m; i += 32) a[c * p.lda + i] = a[c * p.lda + i] - column[i] * f;
    }
    __syncthreads();
  }
  if (threadIdx.x == 0 && p.info) p.info[blockIdx.x] = info;
}

// Element (i, j), i >= j, of the lower factor, which an upper matrix holds as its conjugate transposed.
template <typename T> struct lower_part {
  T *a;
  int64_t lda;
  bool upper;
  __device__ T get(int64_t i, int64_t j) const { return upper ? conjugate(a[i * lda + j]) : a[j * lda + i]; }
  __device__ void put(int64_t i, int64_t j, T v) const { (upper ? a[i * lda + j] : a[j * lda + i]) = upper ? conjugate(v) : v; }
};

template <typename T> __device__ void cholesky(const ws_solve_args &p)
{
  using R = typename traits<T>::real;
  const lower_part<T> l = {matrix<T>(p.a, p), p.lda, p.upper != 0};
  int info = 0;
  for (int64_t j = 0; j < p.n; j++) {
    const R d = real(l.get(j, j));
    if (!(d > 0)) { // also of NaN
      info = (int)j + 1;
      break;
    }
    const R root = sqrt(d);
    __syncthreads();
    if (threadIdx.x == 0) l.put(j, j, number<T>(root, 0));
    for (int64_t i = j + 1 + threadIdx.x; i < p.n; i += 256) l.put(i, j, l.get(i, j) / number<T>(root, 0));
    __syncthreads();
    for (int64_t c = j + 1 + threadIdx.x / 32; c < p.n; c += 8) {
      const T f = conjugate(l.get(c, j));
      for (int64_t i = c + threadIdx.x % 32; i < p.n; i += 32) l.put(i, c, l.get(i, c) - l.get(i, j) * f);
    }
    __syncthreads();
  }
  if (threadIdx.x == 0 && p.info) p.info[blockIdx.x] = info;
}

// x -= factor * v (v^H x), by a warp; v has a 1 in front that is not stored, x and v `step` elements apart.
template <typename T> __device__ void reflect(const T *v, T *x, int64_t n, int64_t step, T factor, bool conj_v)
{
  T sum = zero<T>();
  for (int64_t i = threadIdx.x % 32; i < n; i += 32) {
    const T w = i ? v[i] : number<T>(1, 0);
    sum = sum + (conj_v ? w : conjugate(w)) * x[i * step];
  }
  sum = factor * over_warp(sum);
  for (int64_t i = threadIdx.x % 32; i < n; i += 32) {
    const T w = i ? v[i] : number<T>(1, 0);
    x[i * step] = x[i * step] - (conj_v ? conjugate(w) : w) * sum;
  }
}

template <typename T> __device__ void qr(const ws_solve_args &p)
{
  using R = typename traits<T>::real;
  __shared__ R part[8];
  T *a = (T *)p.a, *tau = (T *)p.tau;
  for (int64_t j = 0; j < min(p.m, p.n); j++) {
    T *v = a + j * p.lda + j;
    const int64_t rows = p.m - j;
    R squares = 0;
    for (int64_t i = 1 + threadIdx.x; i < rows; i += 256) squares += square(v[i]);
    squares = over_warp(squares);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = squares;
    __syncthreads();
    squares = 0;
    for (int w = 0; w < 8; w++) squares += part[w];
    const T alpha = v[0];
    __syncthreads();
    T t = zero<T>();
    if (squares != 0 || imaginary(alpha) != 0) {
      R beta = sqrt(square(alpha) + squares);
      if (real(alpha) >= 0) beta = -beta;
      t = number<T>((beta - real(alpha)) / beta, -imaginary(alpha) / beta);
      const T scale = number<T>(1, 0) / (alpha - number<T>(beta, 0));
      for (int64_t i = 1 + threadIdx.x; i < rows; i += 256) v[i] = v[i] * scale;
      if (threadIdx.x == 0) v[0] = number<T>(beta, 0);
    }
    if (threadIdx.x == 0) tau[j] = t;
    __syncthreads();
    for (int64_t c = 1 + threadIdx.x / 32; c < p.n - j; c += 8) reflect(v, v + c * p.lda, rows, 1, conjugate(t), false);
    __syncthreads();
  }
  if (threadIdx.x == 0 && p.info) *p.info = 0;
}

// The first n columns of the product of k reflectors, in their place.
template <typename T> __device__ void form_q(const ws_solve_args &p)
{
  T *a = (T *)p.a;
  for (int64_t c = p.k; c < p.n; c++)
    for (int64_t i = threadIdx.x; i < p.m; i += 256) a[c * p.lda + i] = number<T>(i == c, 0);
  __syncthreads();
  for (int64_t j = p.k - 1; j >= 0; j--) {
    T *v = a + j * p.lda + j;
    const T t = ((const T *)p.tau)[j];
    for (int64_t c = 1 + threadIdx.x / 32; c < p.n - j; c += 8) reflect(v, v + c * p.lda, p.m - j, 1, t, false);
    __syncthreads();
    for (int64_t i = 1 + threadIdx.x; i < p.m - j; i += 256) v[i] = zero<T>() - t * v[i];
    for (int64_t i = threadIdx.x; i < j; i += 256) a[j * p.lda + i] = zero<T>();
    if (threadIdx.x == 0) v[0] = number<T>(1, 0) - t;
    __syncthreads();
  }
  if (threadIdx.x == 0 && p.info) *p.info = 0;
}

// b[m][n] = op(Q) b, or b op(Q), of k reflectors in a.
template <typename T> __device__ void apply_q(const ws_solve_args &p)
{
  T *b = (T *)p.b;
  const bool backwards = (p.op == WS_SOLVE_N) != (p.right != 0);
  for (int64_t u = 0; u < p.k; u++) {
    const int64_t j = backwards ? p.k - 1 - u : u;
    const T *v = (const T *)p.a + j * p.lda + j;
    T t = ((const T *)p.tau)[j];
    if (p.op != WS_SOLVE_N) t = conjugate(t);
    if (p.right)
      for (int64_t i = threadIdx.x / 32; i < p.m; i += 8) reflect(v, b + j * p.ldb + i, p.n - j, p.ldb, t, true);
    else
      for (int64_t c = threadIdx.x / 32; c < p.n; c += 8) reflect(v, b + c * p.ldb + j, p.m - j, 1, t, false);
    __syncthreads();
  }
  if (threadIdx.x == 0 && p.info) *p.info = 0;
}

// op(triangle) x = x
template <typename T>
__device__ void triangle(const T *a, int64_t lda, int64_t n, bool upper, int op, bool unit, T *x)
{
  const bool forward = upper == (op != WS_SOLVE_N);
  auto element = [&](int64_t i, int64_t j) {
    const T v = op == WS_SOLVE_N ? a[j * lda + i] : a[i * lda + j];
    return op == WS_SOLVE_C ? conjugate(v) : v;
  };
  for (int64_t u = 0; u < n; u++) {
    const int64_t j = forward ? u : n - 1 - u;
    if (!unit && threadIdx.x == 0) x[j] = x[j] / element(j, j);
    __syncthreads();
    const T f = x[j];
    for (int64_t w = threadIdx.x; w < n - 1 - u; w += 256) {
      const int64_t i = forward ? j + 1 + w : j - 1 - w;
      x[i] = x[i] - element(i, j) * f;
    }
    __syncthreads();
  }
}

template <typename T> __device__ void exchange(const ws_solve_args &p, T *x, bool backwards)
{
  if (threadIdx.x == 0 && p.pivots)
    for (int64_t u = 0; u < p.n; u++) {
      const int64_t i = backwards ? p.n - 1 - u : u, r = p.pivots[i] - 1;
      const T t = x[i];
      x[i] = x[r];
      x[r] = t;
    }
  __syncthreads();
}

// With the factors of lu; blockIdx.y: the right side.
template <typename T> __device__ void lu_solve(const ws_solve_args &p)
{
  const T *a = matrix<T>(p.a, p);
  T *x = matrix<T>(p.b, p) + blockIdx.y * p.ldb;
  if (p.op == WS_SOLVE_N) {
    exchange(p, x, false);
    triangle(a, p.lda, p.n, false, p.op, true, x);
    triangle(a, p.lda, p.n, true, p.op, false, x);
  } else {
    triangle(a, p.lda, p.n, true, p.op, false, x);
    triangle(a, p.lda, p.n, false, p.op, true, x);
    exchange(p, x, true);
  }
  if (threadIdx.x == 0 && blockIdx.y == 0 && p.info) p.info[blockIdx.x] = 0;
}

template <typename T> __device__ void cholesky_solve(const ws_solve_args &p)
{
  const T *a = matrix<T>(p.a, p);
  T *x = matrix<T>(p.b, p) + blockIdx.y * p.ldb;
  triangle(a, p.lda, p.n, p.upper, p.upper ? WS_SOLVE_C : WS_SOLVE_N, false, x);
  triangle(a, p.lda, p.n, p.upper, p.upper ? WS_SOLVE_N : WS_SOLVE_C, false, x);
  if (threadIdx.x == 0 && blockIdx.y == 0 && p.info) p.info[blockIdx.x] = 0;
}

#define KERNEL(name, call) \
  extern "C" __global__ void __launch_bounds__(256) warpstep_##name(const __grid_constant__ ws_solve_args p) { call(p); }
#define SOLVE(l, T)                           \
  KERNEL(l##solve_lu, lu<T>)                  \
  KERNEL(l##solve_cholesky, cholesky<T>)      \
  KERNEL(l##solve_qr, qr<T>)                  \
  KERNEL(l##solve_form_q, form_q<T>)          \
  KERNEL(l##solve_apply_q, apply_q<T>)        \
  KERNEL(l##solve_with_lu, lu_solve<T>)       \
  KERNEL(l##solve_with_cholesky, cholesky_solve<T>)
SOLVE(s, float)
SOLVE(d, double)
SOLVE(c, c32)
SOLVE(z, c64)
