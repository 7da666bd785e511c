// Dense systems: LU, Cholesky, QR by reflectors, LDL, and solving with them. One CTA for each matrix, or for each block of columns
// of a large one (cusolver/solver_blocks.c), straight from memory.
#include "solve.cuh"

template <typename T> __device__ inline T *matrix(void *p, const ws_solve_args &s)
{
  return s.pointers ? ((T **)p)[blockIdx.x] : (T *)p;
}

// The factors of a matrix's reflectors: by pointers, too, or one after the other.
template <typename T> __device__ inline T *factors(const ws_solve_args &s)
{
  if (!s.tau_stride) return matrix<T>(s.tau, s);
  return (T *)s.tau + blockIdx.x * s.tau_stride;
}

__device__ inline int32_t *pivots_of(const ws_solve_args &s)
{
  return s.pivots ? s.pivots + blockIdx.x * s.pivot_stride : nullptr;
}

// The largest of a column from row `from` on: its row, the first among equals. By a warp.
template <typename T> __device__ void seek(const T *column, int64_t from, int64_t m, int &found)
{
  using R = typename traits<T>::real;
  R best = -1;
  int at = (int)from;
#pragma unroll 4
  for (int64_t i = from + threadIdx.x % 32; i < m; i += 32) {
    const R v = size_of(column[i]);
    if (v > best) best = v, at = (int)i;
  }
#pragma unroll 1
  for (int by = 16; by; by /= 2) {
    const R other = __shfl_xor_sync(~0u, best, by);
    const int there = __shfl_xor_sync(~0u, at, by);
    if (other > best || (other == best && there < at)) best = other, at = there;
  }
  if (threadIdx.x % 32 == 0) found = at;
}

template <typename T> __device__ void exchange_rows(const ws_solve_args &p, T *a, int64_t j, int64_t r)
{
  for (int64_t c = threadIdx.x; c < p.n && r != j; c += blockDim.x) {
    const T t = a[c * p.lda + j];
    a[c * p.lda + j] = a[c * p.lda + r];
    a[c * p.lda + r] = t;
  }
  __syncthreads();
}

// The lower factor's columns are divided by their pivots at the end, so that a column is one step: the warp that takes from the
// next one looks for its pivot, too.
template <typename T> __device__ void lu(const ws_solve_args &p)
{
  __shared__ int found;
  T *a = matrix<T>(p.a, p);
  int32_t *pivots = pivots_of(p);
  const int warp = threadIdx.x / 32, warps = blockDim.x / 32;
  const int64_t steps = min(p.m, p.n);
  int info = 0;
  if (pivots && warp == 0) seek(a, 0, p.m, found);
  for (int64_t j = 0; j < steps; j++) {
    const T *__restrict__ column = a + j * p.lda;
    __syncthreads();
    if (pivots) {
      const int64_t r = found;
      if (threadIdx.x == 0) pivots[j] = (int)(r + 1 + p.first);
      exchange_rows(p, a, j, r);
    }
    const T pivot = column[j];
    const bool nothing = size_of(pivot) == 0; // but zeros below
    if (nothing && !info) info = (int)j + 1;
    const quotient<T> share(pivot);
    for (int64_t c = j + 1 + warp; c < p.n; c += warps) {
      T *__restrict__ to = a + c * p.lda;
      const T f = to[j];
#pragma unroll 4
      for (int64_t i = j + 1 + threadIdx.x % 32; i < p.m && !nothing; i += 32) to[i] = to[i] - share.of(column[i]) * f;
      if (pivots && c == j + 1) seek(to, c, p.m, found);
    }
  }
  __syncthreads();
  for (int64_t j = warp; j < steps; j += warps) {
    T *column = a + j * p.lda;
    const quotient<T> share(column[j]);
    if (size_of(column[j]) == 0) continue;
#pragma unroll 1
    for (int64_t i = j + 1 + threadIdx.x % 32; i < p.m; i += 32) column[i] = share.of(column[i]);
  }
  say(p, info);
}

template <typename T> __device__ int cholesky_far(const lower_part<T> &l, int64_t n)
{
  using R = typename traits<T>::real;
  for (int64_t j = 0; j < n; j++) {
    const R d = real(l.get(j, j));
    if (!(d > 0)) return (int)j + 1;
    const R root = sqrt(d);
    __syncthreads();
    if (threadIdx.x == 0) l.put(j, j, number<T>(root, 0));
    for (int64_t i = j + 1 + threadIdx.x; i < n; i += 256) l.put(i, j, l.get(i, j) / number<T>(root, 0));
    __syncthreads();
    for (int64_t c = j + 1 + threadIdx.x / 32; c < n; c += 8) {
      const T f = conjugate(l.get(c, j));
#pragma unroll 1
      for (int64_t i = c + threadIdx.x % 32; i < n; i += 32) l.put(i, c, l.get(i, c) - l.get(i, j) * f);
    }
    __syncthreads();
  }
  return 0;
}

template <typename T> __device__ void cholesky(const ws_solve_args &p)
{
  const lower_part<T> l = {matrix<T>(p.a, p), p.lda, p.upper != 0};
  if (p.n > WS_SOLVE_BLOCK) say(p, cholesky_far(l, p.n));
  else if (threadIdx.x < 32) say(p, cholesky_warp(l, (int)p.n));
}

// x -= factor * v (v^H x), by a warp; v has a 1 in front that is not stored, x and v `step` elements apart.
template <typename T>
__device__ void reflect(const T *__restrict__ v, T *__restrict__ x, int64_t n, int64_t step, T factor, bool conj_v)
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
  __shared__ R part[32];
  const int warps = blockDim.x / 32;
  T *a = matrix<T>(p.a, p), *tau = factors<T>(p);
  for (int64_t j = 0; j < min(p.m, p.n); j++) {
    T *v = a + j * p.lda + j;
    const int64_t rows = p.m - j;
    R squares = 0;
    for (int64_t i = 1 + threadIdx.x; i < rows; i += blockDim.x) squares += square(v[i]);
    squares = over_warp(squares);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = squares;
    __syncthreads();
    squares = 0;
    for (int w = 0; w < warps; w++) squares += part[w];
    const T alpha = v[0];
    __syncthreads();
    T t = zero<T>();
    if (squares != 0 || imaginary(alpha) != 0) {
      R beta = sqrt(square(alpha) + squares);
      if (real(alpha) >= 0) beta = -beta;
      t = number<T>((beta - real(alpha)) / beta, -imaginary(alpha) / beta);
      const T scale = number<T>(1, 0) / (alpha - number<T>(beta, 0));
      for (int64_t i = 1 + threadIdx.x; i < rows; i += blockDim.x) v[i] = v[i] * scale;
      if (threadIdx.x == 0) v[0] = number<T>(beta, 0);
    }
    if (threadIdx.x == 0) tau[j] = t;
    __syncthreads();
    for (int64_t c = 1 + threadIdx.x / 32; c < p.n - j; c += warps) reflect(v, v + c * p.lda, rows, 1, conjugate(t), false);
    __syncthreads();
  }
  if (threadIdx.x == 0 && blockIdx.x == 0 && p.info) *p.info = 0;
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
  T *b = matrix<T>(p.b, p);
  const T *a = matrix<T>(p.a, p), *tau = factors<T>(p);
  const bool backwards = (p.op == WS_SOLVE_N) != (p.right != 0);
  for (int64_t u = 0; u < p.k; u++) {
    const int64_t j = backwards ? p.k - 1 - u : u;
    const T *v = a + j * p.lda + j;
    T t = tau[j];
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
#pragma unroll 1
  for (int64_t u = 0; u < n; u++) {
    const int64_t j = forward ? u : n - 1 - u;
    if (!unit && threadIdx.x == 0) x[j] = x[j] / element(j, j);
    __syncthreads();
    const T f = x[j];
#pragma unroll 1
    for (int64_t w = threadIdx.x; w < n - 1 - u; w += 256) {
      const int64_t i = forward ? j + 1 + w : j - 1 - w;
      x[i] = x[i] - element(i, j) * f;
    }
    __syncthreads();
  }
}

template <typename T> __device__ void exchange(const ws_solve_args &p, T *x, bool backwards)
{
  const int32_t *pivots = pivots_of(p);
  if (threadIdx.x == 0 && pivots)
#pragma unroll 1
    for (int64_t u = 0; u < p.n; u++) {
      const int64_t i = backwards ? p.n - 1 - u : u, r = pivots[i] - 1;
      const T t = x[i];
      x[i] = x[r];
      x[r] = t;
    }
  __syncthreads();
}

// Which number on the diagonal is the first that is 0, counted from 1; 0: none.
template <typename T> __device__ int first_zero(const T *a, int64_t lda, int64_t n)
{
#pragma unroll 1
  for (int64_t i = 0; i < n; i++)
    if (size_of(a[i * lda + i]) == 0) return (int)i + 1;
  return 0;
}

// With the factors of lu; blockIdx.y: the right side, or the column of the inverse.
template <typename T> __device__ void lu_solve(const ws_solve_args &p)
{
  const T *a = matrix<T>(p.a, p);
  T *x = matrix<T>(p.b, p) + blockIdx.y * p.ldb;
  // Of a singular matrix the inverse is what division by its zero pivot gives.
  const int none = p.invert ? first_zero(a, p.lda, p.n) : 0;
  if (p.invert) {
#pragma unroll 1
    for (int64_t i = threadIdx.x; i < p.n; i += 256) x[i] = number<T>(i == blockIdx.y, 0);
    __syncthreads();
  }
  if (p.op == WS_SOLVE_N) {
    exchange(p, x, false);
    triangle(a, p.lda, p.n, false, p.op, true, x);
    triangle(a, p.lda, p.n, true, p.op, false, x);
  } else {
    triangle(a, p.lda, p.n, true, p.op, false, x);
    triangle(a, p.lda, p.n, false, p.op, true, x);
    exchange(p, x, true);
  }
  if (threadIdx.x == 0 && blockIdx.y == 0 && p.info) p.info[blockIdx.x] = none;
}

// With the upper triangle of qr.
template <typename T> __device__ void upper_solve(const ws_solve_args &p)
{
  const T *a = matrix<T>(p.a, p);
  T *x = matrix<T>(p.b, p) + blockIdx.y * p.ldb;
  const int none = first_zero(a, p.lda, p.n);
  if (!none) triangle(a, p.lda, p.n, true, WS_SOLVE_N, false, x);
  if (threadIdx.x == 0 && blockIdx.y == 0 && p.info) p.info[blockIdx.x] = none;
}

template <typename T> __device__ void cholesky_solve(const ws_solve_args &p)
{
  const T *a = matrix<T>(p.a, p);
  T *x = matrix<T>(p.b, p) + blockIdx.y * p.ldb;
  triangle(a, p.lda, p.n, p.upper, p.upper ? WS_SOLVE_C : WS_SOLVE_N, false, x);
  triangle(a, p.lda, p.n, p.upper, p.upper ? WS_SOLVE_N : WS_SOLVE_C, false, x);
  if (threadIdx.x == 0 && blockIdx.y == 0 && p.info) p.info[blockIdx.x] = 0;
}

// Symmetric, not Hermitian, matrices: P A P^T = L D L^T with blocks of 1 and 2 (Bunch and Kaufman 1977, algorithm A). Of an upper
// matrix rows and columns are counted from the end, so that it is a lower one.
template <typename T> struct symmetric {
  T *a;
  int64_t lda, n;
  bool upper;
  __device__ T &at(int64_t i, int64_t j) const // i >= j
  {
    return upper ? a[(n - 1 - j) * lda + n - 1 - i] : a[j * lda + i];
  }
  __device__ T get(int64_t i, int64_t j) const { return i >= j ? at(i, j) : at(j, i); }
  __device__ int pivot(int64_t i) const { return (int)(upper ? n - i : i + 1); } // as LAPACK counts
};

// The row of the largest of column j among rows from `from` on but row `but`.
template <typename T> __device__ int64_t largest(const symmetric<T> &s, int64_t j, int64_t from, int64_t but)
{
  double best = -1;
  int64_t at = from;
#pragma unroll 1
  for (int64_t i = from + threadIdx.x % 32; i < s.n; i += 32) {
    const double v = i == but ? -1. : (double)size_of(s.get(i, j));
    if (v > best) best = v, at = i;
  }
#pragma unroll 1
  for (int by = 16; by; by /= 2) {
    const double other = __shfl_xor_sync(~0u, best, by);
    const int64_t place = __shfl_xor_sync(~0u, at, by);
    if (other > best || (other == best && place < at)) best = other, at = place;
  }
  return at; // all warps find the same
}

// Exchanges rows and columns k and r > k of what is left, and rows of the factor's column k - 1 where the block has two.
template <typename T> __device__ void exchange_symmetric(const symmetric<T> &s, int64_t k, int64_t r)
{
#pragma unroll 1
  for (int64_t i = k + 1 + threadIdx.x; i < s.n; i += 256) {
    if (i == r) continue;
    T &x = s.at(i, k), &y = i < r ? s.at(r, i) : s.at(i, r);
    const T t = x;
    x = y, y = t;
  }
  if (threadIdx.x == 0) {
    const T t = s.at(k, k);
    s.at(k, k) = s.at(r, r), s.at(r, r) = t;
  }
  __syncthreads();
}

// Takes a block of 1 or 2 at k out of what is left. All that a column needs of the block's columns is read before they become
// the factor's.
template <typename T> __device__ void eliminate(const symmetric<T> &s, int64_t k, int size)
{
  const T one = number<T>(1, 0), d11 = s.at(k, k);
  if (size == 1) {
#pragma unroll 1
    for (int64_t j = k + 1 + threadIdx.x / 32; j < s.n; j += 8) {
      const T f = s.at(j, k) / d11;
#pragma unroll 1
      for (int64_t i = j + threadIdx.x % 32; i < s.n; i += 32) s.at(i, j) = s.at(i, j) - s.at(i, k) * f;
    }
    __syncthreads();
#pragma unroll 1
    for (int64_t i = k + 1 + threadIdx.x; i < s.n; i += 256) s.at(i, k) = s.at(i, k) / d11;
  } else {
    const T d21 = s.at(k + 1, k), d22 = s.at(k + 1, k + 1);
    const T p = d22 / d21, q = d11 / d21, scale = one / (d21 * (p * q - one));
#pragma unroll 1
    for (int64_t j = k + 2 + threadIdx.x / 32; j < s.n; j += 8) {
      const T x = s.at(j, k), y = s.at(j, k + 1), f = (p * x - y) * scale, g = (q * y - x) * scale;
#pragma unroll 1
      for (int64_t i = j + threadIdx.x % 32; i < s.n; i += 32)
        s.at(i, j) = s.at(i, j) - s.at(i, k) * f - s.at(i, k + 1) * g;
    }
    __syncthreads();
#pragma unroll 1
    for (int64_t i = k + 2 + threadIdx.x; i < s.n; i += 256) {
      const T x = s.at(i, k), y = s.at(i, k + 1);
      s.at(i, k) = (p * x - y) * scale, s.at(i, k + 1) = (q * y - x) * scale;
    }
  }
  __syncthreads();
}

template <typename T> __device__ void ldl(const ws_solve_args &p)
{
  const symmetric<T> s = {matrix<T>(p.a, p), p.lda, p.n, p.upper != 0};
  const double alpha = (1 + 4.12310562561766054982) / 8; // (1 + sqrt 17) / 8
  int info = 0;
#pragma unroll 1
  for (int64_t k = 0, size; k < s.n; k += size) {
    const double diagonal = size_of(s.at(k, k));
    const int64_t r = k + 1 < s.n ? largest(s, k, k + 1, -1) : k;
    const double column = k + 1 < s.n ? (double)size_of(s.at(r, k)) : 0;
    int64_t with = k; // the row that comes to the block's last place
    size = 1;
    if (diagonal == 0 && column == 0) {
      if (!info) info = s.pivot(k);
    } else if (p.pivots && diagonal < alpha * column) {
      const int64_t c = largest(s, r, k, r);
      const double row = size_of(s.get(c, r)); // of row r beside its diagonal
      if (diagonal >= alpha * column * (column / row)) with = k;
      else if (size_of(s.at(r, r)) >= alpha * row) with = r;
      else with = r, size = 2;
    }
    const bool singular = diagonal == 0 && column == 0;
    __syncthreads();
    const int64_t last = k + size - 1;
    if (with != last && with != k) {
      if (size == 2 && threadIdx.x == 0) {
        const T t = s.at(last, k);
        s.at(last, k) = s.at(with, k), s.at(with, k) = t;
      }
      __syncthreads();
      exchange_symmetric(s, last, with);
    }
    if (threadIdx.x == 0 && p.pivots) {
      int32_t *pivots = pivots_of(p);
      const int name = size == 2 ? -s.pivot(with) : s.pivot(with);
#pragma unroll 1
      for (int64_t i = k; i <= last; i++) pivots[s.pivot(i) - 1] = name;
    }
    if (!singular) eliminate(s, k, (int)size);
  }
  if (threadIdx.x == 0 && p.info) p.info[blockIdx.x] = info;
}

// With the factors of ldl; pivots have 64 bits (p.pivots_64). blockIdx.y: the right side.
template <typename T> __device__ void ldl_solve(const ws_solve_args &p)
{
  const symmetric<T> s = {matrix<T>(p.a, p), p.lda, p.n, p.upper != 0};
  T *b = matrix<T>(p.b, p) + blockIdx.y * p.ldb;
  const T one = number<T>(1, 0);
  auto x = [&](int64_t i) -> T & { return s.upper ? b[s.n - 1 - i] : b[i]; };
  auto pivot = [&](int64_t i) { return p.pivots_64[s.pivot(i) - 1]; };
  auto place = [&](int64_t v) { v = v < 0 ? -v : v; return s.upper ? s.n - v : v - 1; };
  auto swap = [&](int64_t i, int64_t r) {
    if (threadIdx.x == 0 && i != r && r >= 0 && r < s.n) {
      const T t = x(i);
      x(i) = x(r), x(r) = t;
    }
    __syncthreads();
  };
#pragma unroll 1
  for (int64_t k = 0, size; k < s.n; k += size) {
    size = pivot(k) < 0 && k + 1 < s.n ? 2 : 1;
    swap(k + size - 1, place(pivot(k)));
    const T u = x(k), v = size == 2 ? x(k + 1) : zero<T>();
    __syncthreads();
#pragma unroll 1
    for (int64_t i = k + size + threadIdx.x; i < s.n; i += 256)
      x(i) = x(i) - s.at(i, k) * u - (size == 2 ? s.at(i, k + 1) * v : zero<T>());
    if (threadIdx.x == 0) {
      if (size == 1) {
        x(k) = u / s.at(k, k);
      } else {
        const T d21 = s.at(k + 1, k), q = s.at(k + 1, k + 1) / d21, r = s.at(k, k) / d21;
        const T scale = one / (d21 * (q * r - one));
        x(k) = (q * u - v) * scale, x(k + 1) = (r * v - u) * scale;
      }
    }
    __syncthreads();
  }
#pragma unroll 1
  for (int64_t k = s.n - 1, size; k >= 0; k -= size) {
    size = pivot(k) < 0 && k ? 2 : 1;
#pragma unroll 1
    for (int64_t j = k - size + 1 + threadIdx.x / 32; threadIdx.x / 32 < size && j <= k; j += size) {
      T sum = zero<T>();
#pragma unroll 1
      for (int64_t i = k + 1 + threadIdx.x % 32; i < s.n; i += 32) sum = sum + s.at(i, j) * x(i);
      sum = over_warp(sum);
      if (threadIdx.x % 32 == 0) x(j) = x(j) - sum;
    }
    __syncthreads();
    swap(k, place(pivot(k)));
  }
  if (threadIdx.x == 0 && blockIdx.y == 0 && p.info) p.info[blockIdx.x] = 0;
}

#define KERNEL_OF(name, call, threads) \
  extern "C" __global__ void __launch_bounds__(threads) warpstep_##name(const __grid_constant__ ws_solve_args p) { call(p); }
#define KERNEL(name, call) KERNEL_OF(name, call, 256)
#define SOLVE(l, T)                           \
  KERNEL_OF(l##solve_lu, lu<T>, WS_SOLVE_PANEL) \
  KERNEL(l##solve_cholesky, cholesky<T>)      \
  KERNEL_OF(l##solve_qr, qr<T>, WS_SOLVE_PANEL) \
  KERNEL(l##solve_form_q, form_q<T>)          \
  KERNEL(l##solve_apply_q, apply_q<T>)        \
  KERNEL(l##solve_with_lu, lu_solve<T>)       \
  KERNEL(l##solve_with_cholesky, cholesky_solve<T>) \
  KERNEL(l##solve_with_upper, upper_solve<T>) \
  KERNEL(l##solve_ldl, ldl<T>)                \
  KERNEL(l##solve_with_ldl, ldl_solve<T>)
SOLVE(s, float)
SOLVE(d, double)
SOLVE(c, c32)
SOLVE(z, c64)
