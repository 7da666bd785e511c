// Vectors: level 1, matrix times vector, triangular systems. Simple kernels: a thread per element, a tree per sum.
#include "memory.cuh"
#include "vector_args.h"

#define AT(n, inc) for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (int64_t)gridDim.x * blockDim.x)

template <typename T> __device__ void axpy(const ws_vector_args &p)
{
  const T alpha = scalar<T>(p.alpha, sizeof(T) == 8 ? WS_F64 : WS_F32);
  const T *x = (const T *)p.x;
  T *y = (T *)p.y;
  AT(p.n, 1) y[i * p.incy] = y[i * p.incy] + alpha * x[i * p.incx];
}
template <typename T> __device__ void scal(const ws_vector_args &p)
{
  using R = typename traits<T>::real;
  T alpha;
  if constexpr (traits<T>::complex)
    alpha = p.real_alpha ? T{scalar<R>(p.alpha, sizeof(R) == 8 ? WS_F64 : WS_F32), 0} : scalar<T>(p.alpha, 0);
  else alpha = scalar<T>(p.alpha, sizeof(T) == 8 ? WS_F64 : WS_F32);
  T *y = (T *)p.y;
  AT(p.n, 1) y[i * p.incy] = alpha * y[i * p.incy];
}
template <typename T> __device__ void copy(const ws_vector_args &p)
{
  AT(p.n, 1)((T *)p.y)[i * p.incy] = ((const T *)p.x)[i * p.incx];
}
template <typename T> __device__ void swap(const ws_vector_args &p)
{
  T *x = (T *)p.x, *y = (T *)p.y;
  AT(p.n, 1)
  {
    const T t = x[i * p.incx];
    x[i * p.incx] = y[i * p.incy];
    y[i * p.incy] = t;
  }
}
template <typename T> __device__ void rot(const ws_vector_args &p)
{
  const int type = sizeof(T) == 8 ? WS_F64 : WS_F32;
  const T c = scalar<T>(p.alpha, type), s = scalar<T>(p.beta, type);
  T *x = (T *)p.x, *y = (T *)p.y;
  AT(p.n, 1)
  {
    const T u = x[i * p.incx], v = y[i * p.incy];
    x[i * p.incx] = c * u + s * v;
    y[i * p.incy] = c * v - s * u;
  }
}

// Of 16-bit numbers of the kind p.type, in FP32.
struct half_vector {
  void *at;
  int64_t inc;
  int type;

  __device__ float operator[](int64_t i) const { return any_memory<float>::load(at, type, i * inc); }
  __device__ void set(int64_t i, float v) const { any_memory<float>::store(at, type, i * inc, v); }
};
__device__ inline half_vector half_x(const ws_vector_args &p) { return {(void *)p.x, p.incx, p.type}; }
__device__ inline half_vector half_y(const ws_vector_args &p) { return {p.y, p.incy, p.type}; }

__device__ void half_axpy(const ws_vector_args &p)
{
  const float alpha = scalar<float>(p.alpha, WS_F32);
  AT(p.n, 1) half_y(p).set(i, half_y(p)[i] + alpha * half_x(p)[i]);
}
__device__ void half_scal(const ws_vector_args &p)
{
  const float alpha = scalar<float>(p.alpha, WS_F32);
  AT(p.n, 1) half_y(p).set(i, alpha * half_y(p)[i]);
}
__device__ void half_rot(const ws_vector_args &p)
{
  const float c = scalar<float>(p.alpha, p.type), s = scalar<float>(p.beta, p.type);
  AT(p.n, 1)
  {
    const float u = half_x(p)[i], v = half_y(p)[i];
    half_x(p).set(i, c * u + s * v);
    half_y(p).set(i, c * v - s * u);
  }
}

template <typename R> __device__ inline R size1(R v) { return v < 0 ? -v : v; }
template <typename R> __device__ inline R size1(complex_of<R> v) { return size1(v.x) + size1(v.y); }
template <typename R> __device__ inline double square(R v) { return (double)v * (double)v; }
template <typename R> __device__ inline double square(complex_of<R> v) { return square(v.x) + square(v.y); }

// A sum in A; of the place of an extreme: its size and its index (from 1).
template <typename A> struct running {
  A v;
  int64_t at;
};
template <typename T> __device__ inline double real_of(T v) { return (double)v; }
template <typename R> __device__ inline double real_of(complex_of<R> v) { return (double)v.x; }

template <typename A> __device__ inline running<A> join(running<A> a, running<A> b, int what)
{
  if (what < WS_IAMAX) return {a.v + b.v, 0};
  if (!a.at) return b;
  if (!b.at) return a;
  const double x = real_of(a.v), y = real_of(b.v);
  const bool better = what == WS_IAMAX ? y > x : y < x;
  return better || (x == y && b.at < a.at) ? b : a;
}

template <typename A> __device__ running<A> over_cta(running<A> mine, int what)
{
  __shared__ __align__(16) char room[256 * sizeof(running<A>)];
  running<A> *all = (running<A> *)room;
  all[threadIdx.x] = mine;
  for (int step = 128; step; step /= 2) {
    __syncthreads();
    if (threadIdx.x < step) all[threadIdx.x] = join(all[threadIdx.x], all[threadIdx.x + step], what);
  }
  __syncthreads();
  return all[0];
}

template <typename A> __device__ void leave(const ws_vector_args &p, running<A> r)
{
  if (p.what >= WS_IAMAX && p.wide_index) *(int64_t *)p.result = r.at;
  else if (p.what >= WS_IAMAX) *(int *)p.result = (int)r.at;
  else if (p.what >= WS_ASUM) {
    const double v = p.what == WS_NRM2 ? sqrt(real_of(r.v)) : real_of(r.v);
    write_as<double>(p.result, p.result_type, 0, v);
  } else write_as<A>(p.result, p.result_type, 0, r.v);
}

template <typename T, typename A> __device__ inline running<A> term(const ws_vector_args &p, int64_t i)
{
  const T v = ((const T *)p.x)[i * p.incx];
  if (p.what <= WS_DOTC) {
    const A a = from<A>(v), b = from<A>(((const T *)p.y)[i * p.incy]);
    return {(p.what == WS_DOTC ? conjugate(a) : a) * b, 0};
  }
  A r = zero<A>();
  if constexpr (traits<A>::complex) r.x = p.what == WS_NRM2 ? square(v) : size1(v);
  else r = p.what == WS_NRM2 ? (A)square(from<A>(v)) : (A)size1(from<A>(v));
  return {r, i + 1};
}

template <typename T, typename A> __device__ void sum(const ws_vector_args &p)
{
  running<A> mine = {zero<A>(), 0};
  AT(p.n, 1) mine = join(mine, term<T, A>(p, i), p.what);
  mine = over_cta(mine, p.what);
  if (threadIdx.x) return;
  if (gridDim.x > 1) ((running<A> *)p.partial)[blockIdx.x] = mine;
  else leave(p, mine);
}
// The sums of CTAs, n of them.
template <typename A> __device__ void sum_last(const ws_vector_args &p)
{
  running<A> mine = {zero<A>(), 0};
  if (threadIdx.x < p.n) mine = ((const running<A> *)p.partial)[threadIdx.x];
  mine = over_cta(mine, p.what);
  if (!threadIdx.x) leave(p, mine);
}

// 32 rows by 8 of the columns; each row's sums are then added.
template <typename T> __device__ void gemv_n(const ws_matvec_args &p)
{
  __shared__ __align__(16) char room[256 * sizeof(T)];
  T *part = (T *)room;
  const int64_t z = blockIdx.z, row = (int64_t)blockIdx.x * 32 + threadIdx.x % 32;
  const T *a = of_batch<const T>(p.a, p.stride_a, p.pointers, z), *x = of_batch<const T>(p.x, p.stride_x, p.pointers, z);
  T *y = of_batch<T>(p.y, p.stride_y, p.pointers, z), s = zero<T>();
  if (row < p.m)
    for (int64_t j = threadIdx.x / 32; j < p.n; j += 8) madd(s, a[j * p.lda + row], x[j * p.incx]);
  part[threadIdx.x] = s;
  __syncthreads();
  if (threadIdx.x >= 32 || row >= p.m) return;
  for (int g = 1; g < 8; g++) s = s + part[g * 32 + threadIdx.x];
  const T beta = scalar<T>(p.beta, sizeof(T) == 8 ? WS_F64 : WS_F32);
  T v = scalar<T>(p.alpha, sizeof(T) == 8 ? WS_F64 : WS_F32) * s;
  if (size1(beta) != 0) v = v + beta * y[row * p.incy];
  y[row * p.incy] = v;
}
// A CTA per column.
template <typename T> __device__ void gemv_t(const ws_matvec_args &p)
{
  const int64_t z = blockIdx.z, col = blockIdx.x;
  const T *a = of_batch<const T>(p.a, p.stride_a, p.pointers, z) + col * p.lda;
  const T *x = of_batch<const T>(p.x, p.stride_x, p.pointers, z);
  T *y = of_batch<T>(p.y, p.stride_y, p.pointers, z) + col * p.incy;
  running<T> s = {zero<T>(), 0};
  for (int64_t i = threadIdx.x; i < p.m; i += 256) madd(s.v, p.conj ? conjugate(a[i]) : a[i], x[i * p.incx]);
  s = over_cta(s, WS_DOT);
  if (threadIdx.x) return;
  const T beta = scalar<T>(p.beta, sizeof(T) == 8 ? WS_F64 : WS_F32);
  T v = scalar<T>(p.alpha, sizeof(T) == 8 ? WS_F64 : WS_F32) * s.v;
  if (size1(beta) != 0) v = v + beta * *y;
  *y = v;
}
template <typename T> __device__ void ger(const ws_matvec_args &p)
{
  const T alpha = scalar<T>(p.alpha, sizeof(T) == 8 ? WS_F64 : WS_F32);
  T *a = (T *)p.a;
  AT(p.m * p.n, 1)
  {
    const int64_t r = i % p.m, c = i / p.m;
    const T y = ((const T *)p.y)[c * p.incy];
    a[c * p.lda + r] = a[c * p.lda + r] + alpha * (((const T *)p.x)[r * p.incx] * (p.conj ? conjugate(y) : y));
  }
}

extern "C" __global__ void __launch_bounds__(256) warpstep_sums(const __grid_constant__ ws_sums_args p)
{
  running<float> s = {0, 0};
  for (int64_t j = threadIdx.x; j < p.terms; j += 256) s.v += read_as<float>(p.x, p.x_type, blockIdx.x * p.si + j * p.sj);
  s = over_cta(s, WS_DOT);
  if (!threadIdx.x) write_as<float>(p.out, p.out_type, blockIdx.x, s.v);
}

#define KERNEL(name, args, call) \
  extern "C" __global__ void __launch_bounds__(256) warpstep_##name(const __grid_constant__ args p) { call(p); }
#define LEVELS(l, T, A)                       \
  KERNEL(l##axpy, ws_vector_args, axpy<T>)    \
  KERNEL(l##scal, ws_vector_args, scal<T>)    \
  KERNEL(l##copy, ws_vector_args, copy<T>)    \
  KERNEL(l##swap, ws_vector_args, swap<T>)    \
  KERNEL(l##gemv_n, ws_matvec_args, gemv_n<T>) \
  KERNEL(l##gemv_t, ws_matvec_args, gemv_t<T>) \
  KERNEL(l##ger, ws_matvec_args, ger<T>)
#define SUMS(l, T, A)                                  \
  KERNEL(l##sum, ws_vector_args, (sum<T, A>))          \
  KERNEL(l##sum_last, ws_vector_args, sum_last<A>)
LEVELS(s, float, )
LEVELS(d, double, )
LEVELS(c, c32, )
LEVELS(z, c64, )
SUMS(s, float, double)
SUMS(d, double, double)
SUMS(c, c32, c64)
SUMS(z, c64, c64)
SUMS(h, __half, float)
SUMS(b, __nv_bfloat16, float)
KERNEL(haxpy, ws_vector_args, half_axpy)
KERNEL(hscal, ws_vector_args, half_scal)
KERNEL(hcopy, ws_vector_args, copy<unsigned short>)
KERNEL(hswap, ws_vector_args, swap<unsigned short>)
KERNEL(hrot, ws_vector_args, half_rot)
KERNEL(srot, ws_vector_args, rot<float>)
KERNEL(drot, ws_vector_args, rot<double>)
