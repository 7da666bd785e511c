// Tridiagonal systems: a CTA for each. One thread eliminates with partial pivoting (a row changes places with the next one where that has the larger
// element below the diagonal), then each thread has right sides of its own.
#include "sparse.cuh"

template <typename T> __device__ inline T size_of(T v) { return fabs(v); }
template <typename R> __device__ inline R size_of(complex_of<R> v) { return fabs(v.x) + fabs(v.y); }

// What elimination leaves: a diagonal and the two above it; what each row was multiplied with, and whether it changed places.
template <typename T> struct upper {
  T *d, *u, *u2, *factor;
  int *changed;
};

template <typename T> __device__ void eliminate(const ws_tridiagonal &p, int64_t at, const upper<T> &w)
{
  const T *lower = (const T *)p.lower + at, *diagonal = (const T *)p.diagonal + at, *above = (const T *)p.upper + at;
  T d = diagonal[0], u = p.m > 1 ? above[0] : zero<T>();
  for (int64_t i = 0; i + 1 < p.m; i++) {
    const T l = lower[(i + 1) * p.step], next = diagonal[(i + 1) * p.step], next_u = i + 2 < p.m ? above[(i + 1) * p.step] : zero<T>();
    const bool change = size_of(l) > size_of(d);
    const T f = change ? d / l : is_zero(d) ? zero<T>() : l / d;
    w.changed[i] = change;
    w.factor[i] = f;
    w.d[i] = change ? l : d;
    w.u[i] = change ? next : u;
    w.u2[i] = change ? next_u : zero<T>();
    d = change ? u - f * next : next - f * u;
    u = change ? zero<T>() - f * next_u : next_u;
  }
  w.d[p.m - 1] = d;
}

template <typename T> __device__ void substitute(const ws_tridiagonal &p, T *x, const upper<T> &w)
{
  T now = x[0], after = zero<T>(), after2 = zero<T>();
  for (int64_t i = 0; i + 1 < p.m; i++) {
    const T next = x[(i + 1) * p.step];
    x[i * p.step] = w.changed[i] ? next : now;
    now = w.changed[i] ? now - w.factor[i] * next : next - w.factor[i] * now;
  }
  for (int64_t i = p.m; i-- > 0;) {
    T v = i + 1 < p.m ? x[i * p.step] : now;
    if (i + 1 < p.m) v = v - w.u[i] * after;
    if (i + 2 < p.m) v = v - w.u2[i] * after2;
    after2 = after;
    after = x[i * p.step] = v / w.d[i];
  }
}

template <typename T> __device__ void tridiagonal(const ws_tridiagonal &p)
{
  T *const room = (T *)p.work + (int64_t)blockIdx.x * WS_TRIDIAGONAL_ROOM * p.m;
  const upper<T> w = {room, room + p.m, room + 2 * p.m, room + 3 * p.m, (int *)(room + 4 * p.m)};
  const int64_t at = (int64_t)blockIdx.x * p.stride;
  if (threadIdx.x == 0) eliminate(p, at, w);
  __syncthreads();
  for (int64_t j = threadIdx.x; j < p.n; j += blockDim.x) substitute(p, (T *)p.x + at + j * p.ldx, w);
}

#define TRIDIAGONAL(l, T)                                                                                              \
  extern "C" __global__ void __launch_bounds__(128) warpstep_##l##tridiagonal(const __grid_constant__ ws_tridiagonal p) \
  {                                                                                                                    \
    tridiagonal<T>(p);                                                                                                 \
  }
TRIDIAGONAL(s, float)
TRIDIAGONAL(d, double)
TRIDIAGONAL(c, c32)
TRIDIAGONAL(z, c64)
