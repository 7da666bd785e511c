// Eigenvalues of symmetric and Hermitian matrices, and singular values, by Jacobi's rotations: pairs of columns that do not
// meet are turned at the same time (a round of a tournament), until a sweep over all pairs turns none. One CTA for each
// matrix, straight from memory: exact to rounding, quick for small matrices, slow for large ones.
#include "dense.cuh"
#include "eigen_args.h"

constexpr int warps = 8, sweeps = 60;

template <typename R> struct epsilon;
// `nothing`: of a column of a matrix near 1, squares that sum to less are rounding, and products of them would be lost.
template <> struct epsilon<float> {
  static constexpr float value = 0x1p-23f, nothing = 0x1p-80f;
};
template <> struct epsilon<double> {
  static constexpr double value = 0x1p-52, nothing = 0x1p-800;
};

template <typename R> __device__ inline R magnitude(R v) { return v < 0 ? -v : v; }
template <typename R> __device__ inline R magnitude(complex_of<R> v) { return hypot(v.x, v.y); }
template <typename R> __device__ inline R over(R v, R by) { return v / by; }
template <typename R> __device__ inline complex_of<R> over(complex_of<R> v, R by) { return {v.x / by, v.y / by}; }

// The pair `k` of round `r` among n players (n even): each round all meet, after n - 1 rounds each has met each.
__device__ inline void pair_of(int64_t n, int64_t r, int64_t k, int64_t &p, int64_t &q)
{
  p = k ? (r + k) % (n - 1) : r;
  q = k ? (r + n - 1 - k) % (n - 1) : n - 1;
  if (p > q) {
    const int64_t t = p;
    p = q, q = t;
  }
}

// The largest or the sum of what the threads of the CTA have.
template <typename R, bool largest> __device__ R over_block(R v)
{
  __shared__ R part[warps];
#pragma unroll 1
  for (int by = 16; by; by /= 2) {
    const R other = __shfl_xor_sync(~0u, v, by);
    v = largest ? (other > v ? other : v) : v + other;
  }
  __syncthreads();
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
  __syncthreads();
  v = part[0];
#pragma unroll 1
  for (int w = 1; w < warps; w++) v = largest ? (part[w] > v ? part[w] : v) : v + part[w];
  return v;
}

// A power of two that brings the largest part of an element near 1; 1 of zeros and of what is not finite.
template <typename R> __device__ R scale_of(R largest)
{
  if (!(largest > 0) || isinf(largest)) return 1;
  const int e = ilogb(largest);
  return ldexp((R)1, e < -120 ? 120 : -e); // also of the smallest its reciprocal is a number
}

// The rotation that makes 0 of what is between two columns, whose own are a and b, between them g: p' = c p - s u q, q' = s p + c u q.
template <typename T> struct rotation {
  typename traits<T>::real c, s;
  T u;
  __device__ static rotation of(typename traits<T>::real a, typename traits<T>::real b, T g)
  {
    using R = typename traits<T>::real;
    const R size = magnitude(g), z = (b - a) / (2 * size);
    const R t = (z < 0 ? (R)-1 : (R)1) / ((z < 0 ? -z : z) + sqrt(1 + z * z));
    const R c = 1 / sqrt(1 + t * t);
    return {c, t * c, over(conjugate(g), size)};
  }
  // Element of two columns, or with `rows` of two rows (the conjugate rotation from the left).
  __device__ void turn(T &x, T &y, bool rows) const
  {
    const T v = (rows ? conjugate(u) : u) * y, w = x;
    x = number<T>(c, 0) * w - number<T>(s, 0) * v;
    y = number<T>(s, 0) * w + number<T>(c, 0) * v;
  }
};

// Symmetric and Hermitian ------------------------------------------------------------------------------------------------

template <typename T> struct eigen {
  using R = typename traits<T>::real;
  T *a, *v, *turns; // turns: of each pair of a round the tangent (0: none) and u
  int64_t n, lda;

  __device__ R prepare(bool upper, bool vectors) const
  {
    R most = 0;
#pragma unroll 1
    for (int64_t j = threadIdx.x / 32; j < n; j += warps)
#pragma unroll 1
      for (int64_t i = threadIdx.x % 32; i < n; i += 32) {
        if (vectors) v[j * n + i] = number<T>(i == j, 0);
        if (upper ? i > j : i < j) continue;
        T &x = a[j * lda + i];
        if (i == j) x = number<T>(real(x), 0);
        else a[i * lda + j] = conjugate(x);
        const R size = size_of(x);
        most = size > most ? size : most;
      }
    return scale_of(over_block<R, true>(most));
  }

  __device__ R rescale(R by) const // the norm after it
  {
    R squares = 0;
#pragma unroll 1
    for (int64_t j = threadIdx.x / 32; j < n; j += warps)
#pragma unroll 1
      for (int64_t i = threadIdx.x % 32; i < n; i += 32) {
        T &x = a[j * lda + i];
        x = x * number<T>(by, 0);
        squares += square(x);
      }
    return sqrt(over_block<R, false>(squares));
  }

  // All pairs of a round. True: one was turned.
  __device__ bool round(int64_t players, int64_t r, R small, bool vectors) const
  {
    bool any = false;
#pragma unroll 1
    for (int64_t k = threadIdx.x; k < players / 2; k += 256) {
      int64_t p, q;
      pair_of(players, r, k, p, q);
      const T g = q < n ? a[q * lda + p] : zero<T>();
      const bool turn = q < n && magnitude(g) > small;
      any = any || turn;
      rotation<T> t = {0, 0, zero<T>()};
      if (turn) t = rotation<T>::of(real(a[p * lda + p]), real(a[q * lda + q]), g);
      *(R *)(turns + 2 * k) = turn ? t.s / t.c : 0; // the tangent, which is not 0 of a pair that turns
      turns[2 * k + 1] = t.u;
    }
    if (!__syncthreads_or(any)) return false;
    apply(players, r, false, vectors);
    __syncthreads();
    apply(players, r, true, false);
    __syncthreads();
    return true;
  }

  __device__ void apply(int64_t players, int64_t r, bool rows, bool vectors) const
  {
#pragma unroll 1
    for (int64_t k = threadIdx.x / 32; k < players / 2; k += warps) {
      const R tangent = *(const R *)(turns + 2 * k), c = 1 / sqrt(1 + tangent * tangent);
      if (tangent == 0) continue;
      const rotation<T> t = {c, tangent * c, turns[2 * k + 1]};
      int64_t p, q;
      pair_of(players, r, k, p, q);
#pragma unroll 1
      for (int64_t i = threadIdx.x % 32; i < n; i += 32) {
        if (rows) t.turn(a[i * lda + p], a[i * lda + q], true);
        else t.turn(a[p * lda + i], a[q * lda + i], false);
        if (vectors) t.turn(v[p * n + i], v[q * n + i], false);
      }
      __syncwarp();
      if (rows && threadIdx.x % 32 == 0) {
        T &x = a[p * lda + p], &y = a[q * lda + q];
        x = number<T>(real(x), 0), y = number<T>(real(y), 0);
        a[p * lda + q] = a[q * lda + p] = zero<T>();
      }
    }
  }

  __device__ bool diagonalise(R small, bool vectors) const
  {
    const int64_t players = n + n % 2;
#pragma unroll 1
    for (int sweep = 0; sweep < sweeps; sweep++) {
      bool turned = false;
#pragma unroll 1
      for (int64_t r = 0; r < players - 1; r++) turned = round(players, r, small, vectors) || turned;
      if (!turned) return true;
    }
    return false;
  }

  __device__ void sort(R *w, R by, bool vectors) const
  {
    R *values = (R *)turns;
    __syncthreads();
#pragma unroll 1
    for (int64_t i = threadIdx.x; i < n; i += 256) values[i] = real(a[i * lda + i]);
    __syncthreads();
#pragma unroll 1
    for (int64_t i = threadIdx.x / 32; i < n; i += warps) {
      int before = 0;
#pragma unroll 1
      for (int64_t j = threadIdx.x % 32; j < n; j += 32)
        before += values[j] < values[i] || (!(values[j] > values[i]) && j < i);
#pragma unroll 1
      for (int step = 16; step; step /= 2) before += __shfl_xor_sync(~0u, before, step);
      if (threadIdx.x % 32 == 0) w[before] = values[i] / by;
      if (vectors)
#pragma unroll 1
        for (int64_t j = threadIdx.x % 32; j < n; j += 32) a[before * lda + j] = v[i * n + j];
    }
  }
};

template <typename T> __device__ void symmetric(const ws_eigen_args &p)
{
  using R = typename traits<T>::real;
  T *work = (T *)p.work + blockIdx.x * WS_EIGEN_ROOM(p.n);
  const eigen<T> e = {(T *)p.a + blockIdx.x * p.a_step, work, work + p.n * p.n, p.n, p.lda};
  const R by = e.prepare(p.upper, p.vectors);
  const R small = e.rescale(by) * epsilon<R>::value / 8;
  const bool settled = e.diagonalise(small, p.vectors);
  e.sort((R *)p.w + blockIdx.x * p.w_step, by, p.vectors);
  if (threadIdx.x == 0 && p.info) p.info[blockIdx.x] = !settled;
}

// Singular values --------------------------------------------------------------------------------------------------------

template <typename T> struct singular {
  using R = typename traits<T>::real;
  T *b, *x;    // the matrix, whose columns become orthogonal, and what they were turned by
  R *norms;
  T *shares;   // of a new column in the others
  int64_t rows, columns;

  __device__ R prepare(const T *a, int64_t lda, bool turned) const
  {
    R most = 0;
#pragma unroll 1
    for (int64_t j = threadIdx.x / 32; j < columns; j += warps)
#pragma unroll 1
      for (int64_t i = threadIdx.x % 32; i < rows; i += 32) {
        const T v = turned ? conjugate(a[i * lda + j]) : a[j * lda + i];
        const R size = size_of(v);
        most = size > most ? size : most;
        b[j * rows + i] = v;
      }
#pragma unroll 1
    for (int64_t i = threadIdx.x; i < columns * columns; i += 256) x[i] = number<T>(i % (columns + 1) == 0, 0);
    const R by = scale_of(over_block<R, true>(most));
#pragma unroll 1
    for (int64_t i = threadIdx.x; i < rows * columns; i += 256) b[i] = b[i] * number<T>(by, 0);
    __syncthreads();
    return by;
  }

  // By a warp. True: the two were not orthogonal.
  __device__ bool meet(int64_t p, int64_t q, R small) const
  {
    T *u = b + p * rows, *v = b + q * rows, g = zero<T>();
    R uu = 0, vv = 0;
#pragma unroll 1
    for (int64_t i = threadIdx.x % 32; i < rows; i += 32) {
      uu += square(u[i]), vv += square(v[i]);
      g = g + conjugate(u[i]) * v[i];
    }
    uu = over_warp(uu), vv = over_warp(vv), g = over_warp(g);
    if (uu < epsilon<R>::nothing || vv < epsilon<R>::nothing) return false;
    if (!(magnitude(g) > small * sqrt(uu) * sqrt(vv))) return false;
    const rotation<T> t = rotation<T>::of(uu, vv, g);
#pragma unroll 1
    for (int64_t i = threadIdx.x % 32; i < rows; i += 32) t.turn(u[i], v[i], false);
#pragma unroll 1
    for (int64_t i = threadIdx.x % 32; i < columns; i += 32) t.turn(x[p * columns + i], x[q * columns + i], false);
    return true;
  }

  __device__ bool orthogonalise() const
  {
    const R small = epsilon<R>::value * (rows > 16 ? sqrt((R)rows) : (R)4);
    const int64_t players = columns + columns % 2;
#pragma unroll 1
    for (int sweep = 0; sweep < sweeps; sweep++) {
      bool turned = false;
#pragma unroll 1
      for (int64_t r = 0; r < players - 1; r++) {
#pragma unroll 1
        for (int64_t k = threadIdx.x / 32; k < players / 2; k += warps) {
          int64_t p, q;
          pair_of(players, r, k, p, q);
          if (q < columns) turned = meet(p, q, small) || turned;
        }
        __syncthreads();
      }
      if (!__syncthreads_or(turned)) return true;
    }
    return false;
  }

  __device__ void measure() const
  {
#pragma unroll 1
    for (int64_t j = threadIdx.x / 32; j < columns; j += warps) {
      R squares = 0;
#pragma unroll 1
      for (int64_t i = threadIdx.x % 32; i < rows; i += 32) squares += square(b[j * rows + i]);
      squares = over_warp(squares);
      if (threadIdx.x % 32 == 0) norms[j] = squares < epsilon<R>::nothing ? 0 : sqrt(squares);
    }
    __syncthreads();
  }

  // Values and columns in descending order.
  __device__ void put(const ws_singular_args &p, R *s, T *q, T *to, R by) const
  {
#pragma unroll 1
    for (int64_t j = threadIdx.x / 32; j < columns; j += warps) {
      int before = 0;
#pragma unroll 1
      for (int64_t i = threadIdx.x % 32; i < columns; i += 32)
        before += norms[i] > norms[j] || (!(norms[i] < norms[j]) && i < j);
#pragma unroll 1
      for (int step = 16; step; step /= 2) before += __shfl_xor_sync(~0u, before, step);
      if (threadIdx.x % 32 == 0) s[before] = norms[j] / by;
      if (before < p.n_q && norms[j] != 0)
#pragma unroll 1
        for (int64_t i = threadIdx.x % 32; i < rows; i += 32) q[before * p.ldq + i] = b[j * rows + i] * number<T>(1 / norms[j], 0);
      if (before >= p.n_x) continue;
#pragma unroll 1
      for (int64_t i = threadIdx.x % 32; i < columns; i += 32) {
        const T v = x[j * columns + i];
        if (p.x_turned) to[i * p.ldx + before] = conjugate(v);
        else to[before * p.ldx + i] = v;
      }
    }
    __syncthreads();
  }

  // Column `c` of q, orthogonal to those before it: of the axis that they share least, what they leave of it.
  __device__ void complete(T *q, int64_t ldq, int64_t c) const
  {
    __shared__ unsigned long long axis;
    R least = 4;
    int64_t mine = 0;
#pragma unroll 1
    for (int64_t i = threadIdx.x; i < rows; i += 256) {
      R share = 0;
#pragma unroll 1
      for (int64_t k = 0; k < c; k++) share += square(q[k * ldq + i]);
      if (share < least) least = share, mine = i;
    }
    const R over_all = -over_block<R, true>(-least);
    if (threadIdx.x == 0) axis = rows - 1;
    __syncthreads();
    if (least == over_all) atomicMin(&axis, (unsigned long long)mine);
    __syncthreads();
    T *v = q + c * ldq;
#pragma unroll 1
    for (int64_t i = threadIdx.x; i < rows; i += 256) v[i] = number<T>(i == axis, 0);
    __syncthreads();
#pragma unroll 1
    for (int pass = 0; pass < 2; pass++) {
#pragma unroll 1
      for (int64_t k = threadIdx.x / 32; k < c; k += warps) {
        T sum = zero<T>();
#pragma unroll 1
        for (int64_t i = threadIdx.x % 32; i < rows; i += 32) sum = sum + conjugate(q[k * ldq + i]) * v[i];
        sum = over_warp(sum);
        if (threadIdx.x % 32 == 0) shares[k] = sum;
      }
      __syncthreads();
#pragma unroll 1
      for (int64_t i = threadIdx.x; i < rows; i += 256)
#pragma unroll 1
        for (int64_t k = 0; k < c; k++) v[i] = v[i] - shares[k] * q[k * ldq + i];
      __syncthreads();
    }
    R squares = 0;
#pragma unroll 1
    for (int64_t i = threadIdx.x; i < rows; i += 256) squares += square(v[i]);
    const R norm = sqrt(over_block<R, false>(squares));
#pragma unroll 1
    for (int64_t i = threadIdx.x; i < rows; i += 256) v[i] = v[i] * number<T>(1 / norm, 0);
    __syncthreads();
  }
};

// Of a - q diag(s) x^H.
template <typename T> __device__ double residual(const ws_singular_args &p, const T *a, const typename traits<T>::real *s,
                                                 const T *q, const T *x)
{
  const int64_t kept = p.n_q < p.n_x ? p.n_q : p.n_x;
  double squares = 0;
#pragma unroll 1
  for (int64_t j = threadIdx.x / 32; j < p.columns; j += warps)
#pragma unroll 1
    for (int64_t i = threadIdx.x % 32; i < p.rows; i += 32) {
      T left = p.turned ? conjugate(a[i * p.lda + j]) : a[j * p.lda + i];
#pragma unroll 1
      for (int64_t k = 0; k < kept; k++) left = left - q[k * p.ldq + i] * number<T>(s[k], 0) * conjugate(x[k * p.ldx + j]);
      squares += (double)square(left);
    }
  return sqrt(over_block<double, false>(squares));
}

template <typename T> __device__ void values(const ws_singular_args &p)
{
  using R = typename traits<T>::real;
  T *b = (T *)p.work + blockIdx.x * WS_SINGULAR_ROOM(p.rows, p.columns), *x = b + p.rows * p.columns;
  T *rest = x + p.columns * p.columns;
  const singular<T> s = {b, x, (R *)rest, rest + p.columns, p.rows, p.columns};
  const T *a = (const T *)p.a + blockIdx.x * p.a_step;
  T *q = (T *)p.q + blockIdx.x * p.q_step, *to = (T *)p.x + blockIdx.x * p.x_step;
  R *found = (R *)p.s + blockIdx.x * p.s_step;
  const R by = s.prepare(a, p.lda, p.turned);
  const bool settled = s.orthogonalise();
  s.measure();
  s.put(p, found, q, to, by);
  int64_t known = 0;
  while (known < p.columns && known < p.n_q && found[known] != 0) known++; // what is 0 has no column yet
#pragma unroll 1
  for (; known < p.n_q; known++) s.complete(q, p.ldq, known);
  if (p.residual) {
    const double left = residual(p, a, found, q, to);
    if (threadIdx.x == 0) p.residual[blockIdx.x] = left;
  }
  if (threadIdx.x == 0 && p.info) p.info[blockIdx.x] = settled ? 0 : p.unsettled;
}

#define KERNEL(name, args, call) \
  extern "C" __global__ void __launch_bounds__(256) warpstep_##name(const __grid_constant__ args p) { call(p); }
#define EIGEN(l, T)                                \
  KERNEL(l##eigen, ws_eigen_args, symmetric<T>)    \
  KERNEL(l##singular, ws_singular_args, values<T>)
EIGEN(s, float)
EIGEN(d, double)
EIGEN(c, c32)
EIGEN(z, c64)
