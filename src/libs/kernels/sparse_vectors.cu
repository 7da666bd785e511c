// Sparse vectors beside dense ones.
#include "sparse.cuh"

__device__ inline int64_t place_of(const ws_sparse_vector &p, int64_t k) { return number(p.indices, p.wide, k) - p.base; }

__device__ inline void move(char *to, const char *from, int bytes)
{
  for (int b = 0; b < bytes; b++) to[b] = from[b];
}

extern "C" __global__ void __launch_bounds__(256) warpstep_sparse_gather(const __grid_constant__ ws_sparse_vector p)
{
  AT(k, p.count) move((char *)p.x + k * p.bytes, (const char *)p.y + place_of(p, k) * p.bytes, p.bytes);
}

extern "C" __global__ void __launch_bounds__(256) warpstep_sparse_put(const __grid_constant__ ws_sparse_vector p)
{
  AT(k, p.count) move((char *)p.y + place_of(p, k) * p.bytes, (const char *)p.x + k * p.bytes, p.bytes);
}

// Each index is there once.
template <typename T> __device__ void add_to(const ws_sparse_vector &p)
{
  const T alpha = scalar<T>(p.alpha, kind<T>());
  AT(k, p.count)
  {
    T *y = (T *)p.y + place_of(p, k);
    *y = *y + alpha * ((const T *)p.x)[k];
  }
}

// (x, y) becomes (c x + s y, c y - s x).
template <typename T> __device__ void rotate(const ws_sparse_vector &p)
{
  const T cosine = scalar<T>(p.alpha, kind<T>()), sine = scalar<T>(p.beta, kind<T>());
  AT(k, p.count)
  {
    T *x = (T *)p.x + k, *y = (T *)p.y + place_of(p, k);
    const T old = *x;
    *x = cosine * old + sine * *y;
    *y = cosine * *y - sine * old;
  }
}

// One CTA, whose sums have a fixed order.
template <typename T> __device__ void dot(const ws_sparse_vector &p)
{
  __shared__ T sums[256];
  T sum = zero<T>();
  for (int64_t k = threadIdx.x; k < p.count; k += 256) {
    const T x = ((const T *)p.x)[k];
    sum = sum + (p.conj ? conjugate(x) : x) * ((const T *)p.y)[place_of(p, k)];
  }
  sums[threadIdx.x] = sum;
  for (int half = 128; half; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) sums[threadIdx.x] = sums[threadIdx.x] + sums[threadIdx.x + half];
  }
  if (threadIdx.x == 0) *(T *)p.result = sums[0];
}

#define KERNEL(name, call) \
  extern "C" __global__ void __launch_bounds__(256) warpstep_##name(const __grid_constant__ ws_sparse_vector p) { call(p); }
#define VECTORS(l, T)                 \
  KERNEL(l##sparse_add, add_to<T>)    \
  KERNEL(l##sparse_dot, dot<T>)       \
  KERNEL(l##sparse_rotate, rotate<T>)
VECTORS(s, float)
VECTORS(d, double)
VECTORS(c, c32)
VECTORS(z, c64)
