// Givens rotations of complex vectors, modified Givens rotations, and what makes them: reference BLAS (netlib.org/blas) has the formulas.
#include "elements.cuh"
#include "rotation_args.h"

#define AT(n) for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < (n); i += (int64_t)gridDim.x * blockDim.x)

// T: of the vectors; S: of the sine. The cosine is real.
template <typename T, typename S> __device__ void rotate(const ws_rotation_args &p)
{
  using R = typename traits<T>::real;
  const int type = sizeof(R) == 8 ? WS_F64 : WS_F32;
  const R c = scalar<R>(p.c, type);
  const S s = scalar<S>(p.s, type);
  T *x = (T *)p.x, *y = (T *)p.y;
  AT(p.n)
  {
    const T u = x[i * p.incx], v = y[i * p.incy];
    T sv, su;
    if constexpr (traits<S>::complex) sv = s * v, su = conjugate(s) * u;
    else sv = {s * v.x, s * v.y}, su = {s * u.x, s * u.y};
    x[i * p.incx] = {c * u.x + sv.x, c * u.y + sv.y};
    y[i * p.incy] = {c * v.x - su.x, c * v.y - su.y};
  }
}

template <typename T> __device__ void rotate_modified(const ws_rotation_args &p)
{
  const T *q = (const T *)p.param;
  const T flag = q ? q[0] : (T)p.flag;
  if (flag == -2) return;
  const T h11 = flag == 0 ? 1 : q ? q[1] : (T)p.h11, h21 = flag == 1 ? -1 : q ? q[2] : (T)p.h21;
  const T h12 = flag == 1 ? 1 : q ? q[3] : (T)p.h12, h22 = flag == 0 ? 1 : q ? q[4] : (T)p.h22;
  T *x = (T *)p.x, *y = (T *)p.y;
  AT(p.n)
  {
    const T u = x[i * p.incx], v = y[i * p.incy];
    x[i * p.incx] = h11 * u + h12 * v;
    y[i * p.incy] = h21 * u + h22 * v;
  }
}

template <typename T> __device__ T size(T v) { return v < 0 ? -v : v; }
template <typename R> __device__ R size(complex_of<R> v) { return hypot(v.x, v.y); }

template <typename T> __device__ void make(const ws_make_rotation_args &p)
{
  using R = typename traits<T>::real;
  T &a = *(T *)p.at[0], &b = *(T *)p.at[1], &s = *(T *)p.at[3];
  R &c = *(R *)p.at[2];
  const R sa = size(a), sb = size(b), scale = sa + sb;
  if constexpr (traits<T>::complex) {
    if (sa == 0) {
      c = 0, s = {1, 0}, a = b;
      return;
    }
    const R norm = scale * sqrt(sa / scale * (sa / scale) + sb / scale * (sb / scale));
    const T alpha = {a.x / sa, a.y / sa}, t = alpha * conjugate(b);
    c = sa / norm;
    s = {t.x / norm, t.y / norm};
    a = {alpha.x * norm, alpha.y * norm};
  } else {
    if (scale == 0) {
      c = 1, s = a = b = 0;
      return;
    }
    const R norm = scale * sqrt(a / scale * (a / scale) + b / scale * (b / scale)), r = (sa > sb ? a : b) < 0 ? -norm : norm;
    c = a / r;
    s = b / r;
    b = sa > sb ? s : c != 0 ? 1 / c : 1;
    a = r;
  }
}

// H of rotmg; which of its numbers are 1 or -1 is in the flag until something scales it.
template <typename T> struct modified {
  T flag, h11, h21, h12, h22;

  __device__ void write_out() // all four
  {
    if (flag == 0) h11 = h22 = 1;
    if (flag == 1) h21 = -1, h12 = 1;
    flag = -1;
  }
};

template <typename T> __device__ modified<T> make_modified_of(T &d1, T &d2, T &x1, T y1)
{
  const T gam = 4096, most = gam * gam, least = 1 / most, p1 = d1 * x1, p2 = d2 * y1, q1 = p1 * x1, q2 = p2 * y1;
  modified<T> h = {-1};
  T u = 0;
  if (d1 < 0) return d1 = d2 = x1 = 0, h;
  if (p2 == 0) return h.flag = -2, h;
  if (size(q1) > size(q2)) {
    h.flag = 0, h.h21 = -y1 / x1, h.h12 = p2 / p1;
    u = 1 - h.h12 * h.h21;
    if (!(u > 0)) return d1 = d2 = x1 = 0, modified<T>{-1};
    d1 /= u, d2 /= u, x1 *= u;
  } else {
    if (q2 < 0) return d1 = d2 = x1 = 0, h;
    h.flag = 1, h.h11 = p1 / p2, h.h22 = x1 / y1;
    u = 1 + h.h11 * h.h22;
    const T t = d2 / u;
    d2 = d1 / u, d1 = t, x1 = y1 * u;
  }
  while (d1 != 0 && isfinite(d1) && (d1 <= least || d1 >= most)) {
    h.write_out();
    const T f = d1 <= least ? 1 / gam : gam;
    d1 = d1 / f / f, x1 *= f, h.h11 *= f, h.h12 *= f;
  }
  while (d2 != 0 && isfinite(d2) && (size(d2) <= least || size(d2) >= most)) {
    h.write_out();
    const T f = size(d2) <= least ? 1 / gam : gam;
    d2 = d2 / f / f, h.h21 *= f, h.h22 *= f;
  }
  return h;
}

template <typename T> __device__ void make_modified(const ws_make_rotation_args &p)
{
  T *param = (T *)p.at[4];
  const modified<T> h = make_modified_of(*(T *)p.at[0], *(T *)p.at[1], *(T *)p.at[2], *(const T *)p.at[3]);
  param[0] = h.flag;
  if (h.flag == -1 || h.flag == 1) param[1] = h.h11, param[4] = h.h22;
  if (h.flag == -1 || h.flag == 0) param[2] = h.h21, param[3] = h.h12;
}

#define KERNEL(name, args, body) \
  extern "C" __global__ void __launch_bounds__(256) warpstep_##name(const __grid_constant__ args p) { body(p); }
#define ROTATE(name, T, S) \
  extern "C" __global__ void __launch_bounds__(256) warpstep_##name(const __grid_constant__ ws_rotation_args p) { rotate<T, S>(p); }
ROTATE(crot, c32, c32)
ROTATE(zrot, c64, c64)
ROTATE(csrot, c32, float)
ROTATE(zdrot, c64, double)
KERNEL(srotm, ws_rotation_args, rotate_modified<float>)
KERNEL(drotm, ws_rotation_args, rotate_modified<double>)
KERNEL(srotg, ws_make_rotation_args, make<float>)
KERNEL(drotg, ws_make_rotation_args, make<double>)
KERNEL(crotg, ws_make_rotation_args, make<c32>)
KERNEL(zrotg, ws_make_rotation_args, make<c64>)
KERNEL(srotmg, ws_make_rotation_args, make_modified<float>)
KERNEL(drotmg, ws_make_rotation_args, make_modified<double>)
