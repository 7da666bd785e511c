// Triangular systems: a CTA has WS_TRSM_SIDE right sides. It takes as many unknowns at a time, in the order in which they are
// found: what the ones before take from them comes off by products of tiles, then the tile on the diagonal is solved.
#include "dense.cuh"
#include "trsm_args.h"

constexpr int SIDE = WS_TRSM_SIDE, EACH = SIDE * SIDE / 256; // of a tile's elements a thread has so many
template <typename T> using tile = T[SIDE][SIDE + 1];

template <typename R> __device__ inline bool is_zero(R v) { return v == 0; }
template <typename R> __device__ inline bool is_zero(complex_of<R> v) { return v.x == 0 && v.y == 0; }
template <typename R> __device__ inline R from_lane(R v, int lane) { return __shfl_sync(~0u, v, lane); }
template <typename R> __device__ inline complex_of<R> from_lane(complex_of<R> v, int lane)
{
  return {from_lane(v.x, lane), from_lane(v.y, lane)};
}

// The system with its unknowns in the order in which they are found, whichever triangle it is.
template <typename T> struct triangular {
  const T *a;
  T *b;
  const ws_trsm_args &p;
  int64_t first; // right side of the CTA
  __device__ int64_t place(int64_t t) const { return p.forward ? t : p.n - 1 - t; }
  __device__ T *side(int64_t t, int c) const { return b + (first + c) * p.next + place(t) * p.step; }
  __device__ bool has(int64_t t, int c) const { return t < p.n && first + c < p.columns; }
  __device__ T element(int64_t t, int64_t u) const
  {
    const int64_t i = place(t), j = place(u);
    const T v = p.by_rows ? a[i * p.lda + j] : a[j * p.lda + i];
    return p.conj ? conjugate(v) : v;
  }
  // Lanes go along memory: which element of a tile of the right sides is the q-th of this thread.
  __device__ bool along() const { return p.step == 1; }
  __device__ int row(int q) const { return along() ? threadIdx.x % 32 : threadIdx.x / 32 * EACH + q; }
  __device__ int column(int q) const { return along() ? threadIdx.x / 32 * EACH + q : threadIdx.x % 32; }
};

// to[k][i] = element(t + i, u + k); where there is none, a unit matrix's.
template <typename T> __device__ void take(const triangular<T> &s, tile<T> &to, int64_t t, int64_t u)
{
  for (int q = 0; q < EACH; q++) {
    const int fast = threadIdx.x % 32, slow = threadIdx.x / 32 * EACH + q;
    const int i = s.p.by_rows ? slow : fast, k = s.p.by_rows ? fast : slow;
    const bool counts = t + i < s.p.n && u + k < s.p.n && (t != u || i > k || (i == k && !s.p.unit));
    T v = zero<T>();
    if (counts) v = s.element(t + i, u + k);
    else if (t == u && i == k) v = number<T>(1, 0);
    to[k][i] = v;
  }
}

// What unknowns before t take from those of this thread.
template <typename T>
__device__ void take_off(const triangular<T> &s, tile<T> &a, tile<T> &x, int64_t t, T (&y)[EACH])
{
  for (int64_t u = 0; u < t; u += SIDE) {
    __syncthreads();
    take(s, a, t, u);
    for (int q = 0; q < EACH; q++) {
      const int k = s.row(q), c = s.column(q);
      x[k][c] = s.has(u + k, c) ? *s.side(u + k, c) : zero<T>();
    }
    __syncthreads();
    if (s.along() && s.first + threadIdx.x / 32 * EACH >= s.p.columns) continue; // none of this warp's
    const T(*lanes)[SIDE + 1] = s.along() ? a : x, (*lines)[SIDE + 1] = s.along() ? x : a;
#pragma unroll 4
    for (int k = 0; k < SIDE; k++) {
      const T v = zero<T>() - lanes[k][threadIdx.x % 32];
      for (int q = 0; q < EACH; q++) madd(y[q], v, lines[k][threadIdx.x / 32 * EACH + q]);
    }
  }
}

// Lane i has unknown i of EACH right sides.
template <typename T> __device__ void solve_tile(const tile<T> &a, tile<T> &x, int64_t sides)
{
  const int lane = threadIdx.x % 32, first = threadIdx.x / 32 * EACH;
  const T pivot = a[lane][lane];
  if (first >= sides) return;
  T z[EACH];
  for (int q = 0; q < EACH; q++) z[q] = x[lane][first + q];
  for (int k = 0; k < SIDE; k++) {
    const T f = zero<T>() - a[k][lane];
    for (int q = 0; q < EACH; q++) {
      const T found = from_lane(z[q] / pivot, k);
      if (lane == k) z[q] = found;
      if (lane > k) madd(z[q], f, found);
    }
  }
  for (int q = 0; q < EACH; q++) x[lane][first + q] = z[q];
}

template <typename T> __device__ void trsm(const ws_trsm_args &p)
{
  __shared__ tile<T> a, x;
  const triangular<T> s = {p.pointers ? ((const T *const *)p.a)[blockIdx.y] : (const T *)p.a,
                           p.pointers ? ((T *const *)p.b)[blockIdx.y] : (T *)p.b, p, (int64_t)blockIdx.x * SIDE};
  const T alpha = scalar<T>(p.alpha, sizeof(typename traits<T>::real) == 8 ? WS_F64 : WS_F32);
  const bool nothing = is_zero(alpha); // then A is not looked at
  for (int64_t t = 0; t < p.n; t += SIDE) {
    T y[EACH];
    for (int q = 0; q < EACH; q++)
      y[q] = !nothing && s.has(t + s.row(q), s.column(q)) ? alpha * *s.side(t + s.row(q), s.column(q)) : zero<T>();
    if (!nothing) take_off(s, a, x, t, y);
    __syncthreads();
    for (int q = 0; q < EACH; q++) x[s.row(q)][s.column(q)] = y[q];
    if (!nothing) {
      take(s, a, t, t);
      __syncthreads();
      solve_tile(a, x, p.columns - s.first);
      __syncthreads();
    }
    for (int q = 0; q < EACH; q++)
      if (s.has(t + s.row(q), s.column(q))) *s.side(t + s.row(q), s.column(q)) = x[s.row(q)][s.column(q)];
  }
}

#define KERNEL(l, T) \
  extern "C" __global__ void __launch_bounds__(256) warpstep_##l##trsm(const __grid_constant__ ws_trsm_args p) { trsm<T>(p); }
KERNEL(s, float)
KERNEL(d, double)
KERNEL(c, c32)
KERNEL(z, c64)
