// Eigenvalues and right eigenvectors of general matrices: to Hessenberg's form by reflectors, to Schur's by QR steps with implicit shifts
// (one for complex matrices, two for real ones: Francis 1961), vectors by substitution in the triangle. One CTA for a matrix, straight from
// memory. Rows and columns are not balanced first.
#include "dense.cuh"
#include "schur_args.h"

constexpr int warps = 8, most_steps = 40; // QR steps of one eigenvalue

template <typename R> struct limits;
template <> struct limits<float> {
  static constexpr float eps = 0x1p-23f, tiny = 0x1p-126f, large = 0x1p40f;
};
template <> struct limits<double> {
  static constexpr double eps = 0x1p-52, tiny = 0x1p-1022, large = 0x1p300;
};

template <typename R> __device__ inline R magnitude(R v) { return v < 0 ? -v : v; }
template <typename R> __device__ inline R magnitude(complex_of<R> v) { return hypot(v.x, v.y); }
template <typename R> __device__ inline complex_of<R> widen(R v) { return {v, 0}; }
template <typename R> __device__ inline complex_of<R> widen(complex_of<R> v) { return v; }

// The root that is closer to the positive real axis.
template <typename R> __device__ complex_of<R> root(complex_of<R> v)
{
  const R x = sqrt((hypot(v.x, v.y) + magnitude(v.x)) / 2), y = x > 0 ? v.y / (2 * x) : 0;
  if (v.x >= 0) return {x, y};
  return {magnitude(y), v.y < 0 ? -x : x};
}

// 1 - t v v^H, of up to three elements, which makes (beta, 0, 0) of x; v[0] = 1.
template <typename T> struct reflector {
  T v[3], t;
  typename traits<T>::real beta;
  __device__ reflector(const T *x, int size)
  {
    using R = typename traits<T>::real;
    R squares = 0;
#pragma unroll 1
    for (int i = 1; i < size; i++) squares += square(x[i]);
    v[0] = number<T>(1, 0), v[1] = v[2] = t = zero<T>();
    beta = real(x[0]);
    if (squares == 0 && imaginary(x[0]) == 0) return;
    beta = sqrt(square(x[0]) + squares);
    if (real(x[0]) >= 0) beta = -beta;
    t = number<T>((beta - real(x[0])) / beta, -imaginary(x[0]) / beta);
    const T scale = number<T>(1, 0) / (x[0] - number<T>(beta, 0));
#pragma unroll 1
    for (int i = 1; i < size; i++) v[i] = x[i] * scale;
  }
  // From the left, conjugate transposed, to `size` elements of a column.
  __device__ void left(T *x, int size) const
  {
    T sum = zero<T>();
#pragma unroll 1
    for (int i = 0; i < size; i++) sum = sum + conjugate(v[i]) * x[i];
    sum = conjugate(t) * sum;
#pragma unroll 1
    for (int i = 0; i < size; i++) x[i] = x[i] - v[i] * sum;
  }
  // From the right, to elements of a row `step` apart.
  __device__ void right(T *x, int64_t step, int size) const
  {
    T sum = zero<T>();
#pragma unroll 1
    for (int i = 0; i < size; i++) sum = sum + x[i * step] * v[i];
    sum = sum * t;
#pragma unroll 1
    for (int i = 0; i < size; i++) x[i * step] = x[i * step] - sum * conjugate(v[i]);
  }
};

template <typename T> struct schur {
  using R = typename traits<T>::real;
  using C = complex_of<R>;
  T *h, *z; // n x n each; z: what h was turned by
  int64_t n;
  __device__ T &at(int64_t i, int64_t j) const { return h[j * n + i]; }

  // Column j of rows from j + 1 on becomes (beta, 0 ...), by a reflector of all of them, which is kept in `v`.
  __device__ void to_hessenberg(T *v) const
  {
    __shared__ R part[warps];
#pragma unroll 1
    for (int64_t j = 0; j + 2 < n; j++) {
      const int64_t rows = n - j - 1;
      const T *x = h + j * n + j + 1;
      R squares = 0;
#pragma unroll 1
      for (int64_t i = 1 + threadIdx.x; i < rows; i += 256) squares += square(x[i]);
      squares = over_warp(squares);
      if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = squares;
      __syncthreads();
      squares = 0;
#pragma unroll 1
      for (int w = 0; w < warps; w++) squares += part[w];
      const T alpha = x[0];
      if (squares == 0 && imaginary(alpha) == 0) {
        __syncthreads();
        continue;
      }
      R beta = sqrt(square(alpha) + squares);
      if (real(alpha) >= 0) beta = -beta;
      const T t = number<T>((beta - real(alpha)) / beta, -imaginary(alpha) / beta);
      const T scale = number<T>(1, 0) / (alpha - number<T>(beta, 0));
#pragma unroll 1
      for (int64_t i = threadIdx.x; i < rows; i += 256) v[i] = i ? x[i] * scale : number<T>(1, 0);
      __syncthreads();
#pragma unroll 1
      for (int64_t c = j + threadIdx.x / 32; c < n; c += warps) long_left(v, h + c * n + j + 1, rows, conjugate(t));
      __syncthreads();
#pragma unroll 1
      for (int64_t r = threadIdx.x; r < n; r += 256) {
        long_right(v, h + (j + 1) * n + r, rows, t);
        if (z) long_right(v, z + (j + 1) * n + r, rows, t);
      }
      __syncthreads();
#pragma unroll 1
      for (int64_t i = threadIdx.x; i < rows; i += 256) at(j + 1 + i, j) = i ? zero<T>() : number<T>(beta, 0);
      __syncthreads();
    }
  }
  __device__ void long_left(const T *v, T *x, int64_t rows, T t) const // by a warp
  {
    T sum = zero<T>();
#pragma unroll 1
    for (int64_t i = threadIdx.x % 32; i < rows; i += 32) sum = sum + conjugate(v[i]) * x[i];
    sum = t * over_warp(sum);
#pragma unroll 1
    for (int64_t i = threadIdx.x % 32; i < rows; i += 32) x[i] = x[i] - v[i] * sum;
  }
  __device__ void long_right(const T *v, T *x, int64_t columns, T t) const // by a thread
  {
    T sum = zero<T>();
#pragma unroll 1
    for (int64_t i = 0; i < columns; i++) sum = sum + x[i * n] * v[i];
    sum = sum * t;
#pragma unroll 1
    for (int64_t i = 0; i < columns; i++) x[i * n] = x[i * n] - sum * conjugate(v[i]);
  }

  // The first row of the block that ends at `hi` and hangs together.
  __device__ int64_t begin_of(int64_t hi, R norm) const
  {
    int64_t l = hi;
#pragma unroll 1
    for (; l > 0; l--) {
      R beside = size_of(at(l, l)) + size_of(at(l - 1, l - 1));
      if (beside == 0) beside = norm;
      if (size_of(at(l, l - 1)) <= limits<R>::eps * beside || size_of(at(l, l - 1)) < limits<R>::tiny) break;
    }
    return l;
  }

  // What the step begins with: the first column of the shifted matrix, or of the product of two.
  __device__ void start(int64_t l, int64_t hi, int step, T *x) const
  {
    const bool odd = step % 10 == 9; // a shift out of order, where the usual ones go round in circles
    const T a = at(hi - 1, hi - 1), b = at(hi - 1, hi), c = at(hi, hi - 1), d = at(hi, hi);
    if constexpr (traits<T>::complex) {
      const T p = number<T>((R)0.5, 0) * (a - d), r = root(p * p + b * c);
      const T sum = real(p) * real(r) + imaginary(p) * imaginary(r) < 0 ? p - r : p + r;
      T shift = size_of(sum) == 0 ? d : d - b * c / sum;
      if (odd) shift = d + number<T>((R)0.75 * size_of(c), 0);
      x[0] = at(l, l) - shift, x[1] = at(l + 1, l);
    } else {
      R trace = a + d, det = a * d - b * c;
      if (odd) {
        const R s = size_of(c) + (hi > 1 ? size_of(at(hi - 1, hi - 2)) : 0);
        trace = (R)1.5 * s, det = s * s;
      }
      const R f = at(l, l), g = at(l + 1, l);
      x[0] = f * f + at(l, l + 1) * g - trace * f + det;
      x[1] = g * (f + at(l + 1, l + 1) - trace);
      x[2] = g * at(l + 2, l + 1);
    }
  }

  __device__ void step(int64_t l, int64_t hi, int count) const
  {
    constexpr int most = traits<T>::complex ? 2 : 3;
    T x[3] = {};
    start(l, hi, count, x);
#pragma unroll 1
    for (int64_t k = l; k < hi; k++) {
      const int size = hi - k + 1 < most ? (int)(hi - k + 1) : most;
      if (k > l)
#pragma unroll 1
        for (int i = 0; i < size; i++) x[i] = at(k + i, k - 1);
      const reflector<T> p(x, size);
      __syncthreads();
      if (k > l && threadIdx.x == 0) {
        at(k, k - 1) = number<T>(p.beta, 0);
#pragma unroll 1
        for (int i = 1; i < size; i++) at(k + i, k - 1) = zero<T>();
      }
#pragma unroll 1
      for (int64_t c = k + threadIdx.x; c < n; c += 256) p.left(h + c * n + k, size);
      __syncthreads();
      const int64_t last = k + most < hi ? k + most : hi;
#pragma unroll 1
      for (int64_t r = threadIdx.x; r < n; r += 256) {
        if (r <= last) p.right(h + k * n + r, n, size);
        if (z) p.right(z + k * n + r, n, size);
      }
      __syncthreads();
    }
  }

  // How many values were not found.
  __device__ int64_t iterate(R norm) const
  {
    constexpr int64_t alone = traits<T>::complex ? 0 : 1; // rows that a block may have beside its last
    int64_t hi = n - 1;
#pragma unroll 1
    for (int count = 0; hi >= 0;) {
      const int64_t l = begin_of(hi, norm);
      __syncthreads();
      if (l > 0 && threadIdx.x == 0) at(l, l - 1) = zero<T>();
      __syncthreads();
      if (l >= hi - alone) {
        hi = l - 1, count = 0;
        continue;
      }
      if (count == most_steps) return hi + 1;
      step(l, hi, count++);
    }
    return 0;
  }
};

// The complex triangle and what it was turned by, in place of real blocks of two: each is turned by a rotation of its own. Values of
// a pair are exactly conjugate, the one with the positive imaginary part first.
template <typename R> struct triangle {
  using C = complex_of<R>;
  C *t, *z;
  int64_t n;
  __device__ C &at(int64_t i, int64_t j) const { return t[j * n + i]; }

  __device__ void split(int64_t m) const // rows m - 1 and m
  {
    const R a = at(m - 1, m - 1).x, b = at(m - 1, m).x, c = at(m, m - 1).x, d = at(m, m).x;
    const R p = (a - d) / 2, disc = p * p + b * c;
    const R with = p < 0 ? p - sqrt(disc) : p + sqrt(disc); // NaN of a pair, and then not used
    const C mu = disc < 0 ? C{p, sqrt(-disc)} : C{with, 0};
    const R r = hypot(magnitude(mu), c);
    const C cs = {mu.x / r, mu.y / r}, sn = {c / r, 0};
    __syncthreads();
#pragma unroll 1
    for (int64_t j = m - 1 + threadIdx.x; j < n; j += 256) {
      const C x = at(m - 1, j), y = at(m, j);
      at(m - 1, j) = conjugate(cs) * x + sn * y, at(m, j) = cs * y - sn * x;
    }
    __syncthreads();
#pragma unroll 1
    for (int64_t i = threadIdx.x; i < n; i += 256) {
      if (i <= m) turn(at(i, m - 1), at(i, m), cs, sn);
      if (z) turn(z[(m - 1) * n + i], z[m * n + i], cs, sn);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
      const C first = disc < 0 ? C{d + p, mu.y} : C{d + with, 0};
      at(m, m - 1) = {0, 0}, at(m - 1, m - 1) = first;
      at(m, m) = disc < 0 ? conjugate(first) : C{with != 0 ? d - b * c / with : d, 0};
    }
    __syncthreads();
  }
  __device__ static void turn(C &x, C &y, C cs, C sn)
  {
    const C u = x, v = y;
    x = u * cs + v * sn, y = v * conjugate(cs) - u * sn;
  }

  // Eigenvector j in the triangle, by a warp.
  __device__ void solve(C *x, int64_t j, R norm) const
  {
    const int lane = threadIdx.x % 32;
    const R least = limits<R>::eps * norm > limits<R>::tiny ? limits<R>::eps * norm : limits<R>::tiny;
    const C value = at(j, j);
#pragma unroll 1
    for (int64_t i = lane; i < n; i += 32) x[i] = i < j ? C{-at(i, j).x, -at(i, j).y} : C{(R)(i == j), 0};
    __syncwarp();
#pragma unroll 1
    for (int64_t k = j - 1; k >= 0; k--) {
      C gap = at(k, k) - value;
      if (size_of(gap) < least) gap = {least, 0};
      C found = x[k] / gap;
      const R size = size_of(found);
      __syncwarp();
      if (size > limits<R>::large) {
#pragma unroll 1
        for (int64_t i = lane; i <= j; i += 32) x[i] = {x[i].x / size, x[i].y / size};
        found = {found.x / size, found.y / size};
        __syncwarp();
      }
      if (lane == 0) x[k] = found;
#pragma unroll 1
      for (int64_t i = lane; i < k; i += 32) x[i] = x[i] - at(i, k) * found;
      __syncwarp();
    }
  }

  // z x, of length 1, its largest element real; in the place of x. `room`: n elements.
  __device__ void turned(C *x, C *to, int64_t j) const
  {
    const int lane = threadIdx.x % 32;
    R squares = 0, most = -1;
    int64_t where = 0;
#pragma unroll 1
    for (int64_t i = lane; i < n; i += 32) {
      C sum = {0, 0};
#pragma unroll 1
      for (int64_t k = 0; k <= j; k++) sum = sum + z[k * n + i] * x[k];
      to[i] = sum;
      squares += square(sum);
      if (square(sum) > most) most = square(sum), where = i;
    }
#pragma unroll 1
    for (int by = 16; by; by /= 2) {
      const R other = __shfl_xor_sync(~0u, most, by);
      const int64_t place = __shfl_xor_sync(~0u, where, by);
      if (other > most || (other == most && place < where)) most = other, where = place;
    }
    squares = over_warp(squares);
    __syncwarp();
    const C big = to[where];
    const R norm = sqrt(squares), size = magnitude(big);
    const C by = size > 0 ? C{big.x / size / norm, -big.y / size / norm} : C{1, 0};
    __syncwarp();
#pragma unroll 1
    for (int64_t i = lane; i < n; i += 32) {
      to[i] = to[i] * by;
      if (i == where) to[i].y = 0;
    }
  }
};

// Of a value: the vector, or of the first of a real matrix's pair its parts.
template <typename T, typename C> __device__ void put(const ws_schur_args &p, const C *x, int64_t j, C value)
{
  T *v = (T *)p.v + j * p.ldv;
#pragma unroll 1
  for (int64_t i = threadIdx.x % 32; i < p.n; i += 32) {
    if constexpr (traits<T>::complex) {
      v[i] = x[i];
    } else {
      if (value.y < 0) continue; // the conjugate of the one before
      v[i] = x[i].x;
      if (value.y > 0) v[p.ldv + i] = x[i].y;
    }
  }
}

template <typename T> __device__ typename traits<T>::real bring(const ws_schur_args &p, T *h, T *z)
{
  using R = typename traits<T>::real;
  __shared__ R part[warps];
  const T *a = (const T *)p.a;
  R most = 0;
#pragma unroll 1
  for (int64_t j = threadIdx.x / 32; j < p.n; j += warps)
#pragma unroll 1
    for (int64_t i = threadIdx.x % 32; i < p.n; i += 32) {
      h[j * p.n + i] = a[j * p.lda + i];
      if (z) z[j * p.n + i] = number<T>(i == j, 0);
      const R size = size_of(a[j * p.lda + i]);
      most = size > most ? size : most;
    }
#pragma unroll 1
  for (int by = 16; by; by /= 2) {
    const R other = __shfl_xor_sync(~0u, most, by);
    most = other > most ? other : most;
  }
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = most;
  __syncthreads();
#pragma unroll 1
  for (int w = 0; w < warps; w++) most = part[w] > most ? part[w] : most;
  if (!(most > 0) || isinf(most)) return 1;
  const int e = ilogb(most);
  const R by = ldexp((R)1, e < -120 ? 120 : -e); // a power of two that brings the largest near 1
#pragma unroll 1
  for (int64_t i = threadIdx.x; i < p.n * p.n; i += 256) h[i] = h[i] * number<T>(by, 0);
  __syncthreads();
  return by;
}

template <typename T> __device__ void values(const ws_schur_args &p)
{
  using R = typename traits<T>::real;
  using C = complex_of<R>;
  const int64_t n = p.n, all = n * n;
  C *x = (C *)p.work, *t = x + all, *zt = t + all;
  T *h = traits<T>::complex ? (T *)t : (T *)(zt + all), *z = traits<T>::complex ? (T *)zt : h + all;
  const schur<T> s = {h, p.v ? z : nullptr, n};
  const R by = bring(p, h, s.z);
  s.to_hessenberg((T *)x);
  const R norm = n;
  const int64_t lost = s.iterate(norm);
  const triangle<R> r = {t, p.v ? zt : nullptr, n};
  if constexpr (!traits<T>::complex) {
#pragma unroll 1
    for (int64_t i = threadIdx.x; i < all; i += 256) {
      t[i] = widen(h[i]);
      if (p.v) zt[i] = widen(z[i]);
    }
    __syncthreads();
#pragma unroll 1
    for (int64_t m = n - 1; m > 0; m--)
      if (r.at(m, m - 1).x != 0) r.split(m);
  }
  __syncthreads();
#pragma unroll 1
  for (int64_t j = threadIdx.x; j < n; j += 256) {
    const C value = {t[j * n + j].x / by, t[j * n + j].y / by};
    if (p.apart) ((R *)p.w)[j] = value.x, ((R *)p.w)[n + j] = value.y;
    else ((C *)p.w)[j] = value;
  }
  if (p.v) {
    const int64_t working = n / 2 < warps ? n / 2 : warps; // each warp has two columns of x
    C *to = x + threadIdx.x / 32 * 2 * n;
#pragma unroll 1
    for (int64_t j = threadIdx.x / 32; j < n && threadIdx.x / 32 < working; j += working) {
      r.solve(to, j, norm);
      r.turned(to, to + n, j);
      __syncwarp();
      put<T>(p, to + n, j, t[j * n + j]);
      __syncwarp();
    }
    if (n == 1 && threadIdx.x == 0) *(T *)p.v = number<T>(1, 0);
  }
  if (threadIdx.x == 0 && p.info) *p.info = (int32_t)lost;
}

#define KERNEL(l, T)                                                                                                \
  extern "C" __global__ void __launch_bounds__(256) warpstep_##l##schur(const __grid_constant__ ws_schur_args p) \
  {                                                                                                                 \
    values<T>(p);                                                                                                   \
  }
KERNEL(s, float)
KERNEL(d, double)
KERNEL(c, c32)
KERNEL(z, c64)
