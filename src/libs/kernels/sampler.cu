// Spatial transformers: affine grids, bilinear samples of images, and the gradients of both. What lies outside of an image is 0.
#include "elements.cuh"
#include "sampler_args.h"

#define AT(i, n) for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (int64_t)gridDim.x * blockDim.x)

// Pixel i of the results, and the four pixels of the image around its place.
template <typename C> struct sample {
  int64_t image, row, column;
  int64_t above, left;
  C down, right; // how far from them
  __device__ sample(const ws_sampler_args &p, int64_t i) : image(i / p.wide / p.high), row(i / p.wide % p.high), column(i % p.wide)
  {
    const C x = (read_as<C>(p.grid, p.type, 2 * i) + 1) / 2 * (p.in_wide - 1);
    const C y = (read_as<C>(p.grid, p.type, 2 * i + 1) + 1) / 2 * (p.in_high - 1);
    left = whole(x), above = whole(y);
    right = x - left, down = y - above;
  }
  // Far away, and what is not a number, is outside like all else there.
  static __device__ int64_t whole(C v) { return v > -2 && v < 2147483648. ? (int64_t)floor(v) : -2; }
  __device__ bool inside(const ws_sampler_args &p, int corner) const
  {
    const int64_t r = above + corner / 2, c = left + corner % 2;
    return r >= 0 && r < p.in_high && c >= 0 && c < p.in_wide;
  }
  __device__ int64_t in_image(const ws_sampler_tensor &t, int channel, int corner) const
  {
    return image * t.stride[0] + channel * t.stride[1] + (above + corner / 2) * t.stride[2] + (left + corner % 2) * t.stride[3];
  }
  __device__ int64_t in_result(const ws_sampler_tensor &t, int channel) const
  {
    return image * t.stride[0] + channel * t.stride[1] + row * t.stride[2] + column * t.stride[3];
  }
  __device__ C weight(int corner) const { return (corner / 2 ? down : 1 - down) * (corner % 2 ? right : 1 - right); }
};

template <typename C> __device__ inline void blend(void *to, int type, int64_t at, C v, double alpha, double beta)
{
  v *= (C)alpha;
  if (beta != 0) v += (C)beta * read_as<C>(to, type, at);
  write_as<C>(to, type, at, v);
}

template <typename C> __device__ inline void add(void *to, int type, int64_t at, C v)
{
  switch (type) {
  case WS_F16: atomicAdd((__half *)to + at, __float2half((float)v)); break;
  case WS_BF16: atomicAdd((__nv_bfloat16 *)to + at, __float2bfloat16((float)v)); break;
  case WS_F64: atomicAdd((double *)to + at, (double)v); break;
  default: atomicAdd((float *)to + at, (float)v);
  }
}

template <typename C> __device__ void forward(const ws_sampler_args &p)
{
  AT(i, (int64_t)p.images * p.high * p.wide)
  {
    const sample<C> s(p, i);
#pragma unroll 1
    for (int c = 0; c < p.channels; c++) {
      C v = 0;
#pragma unroll 1
      for (int k = 0; k < 4; k++)
        if (s.inside(p, k)) v += s.weight(k) * read_as<C>(p.x.at, p.type, s.in_image(p.x, c, k));
      blend(p.y.at, p.type, s.in_result(p.y, c), v, p.alpha, p.beta);
    }
  }
}

// dx before anything is added to it.
template <typename C> __device__ void scale(const ws_sampler_args &p)
{
  const int64_t space = (int64_t)p.in_high * p.in_wide;
  AT(i, (int64_t)p.images * p.channels * space)
  {
    const int64_t plane = i / space, r = i % space / p.in_wide, c = i % p.in_wide;
    const int64_t at = plane / p.channels * p.dx.stride[0] + plane % p.channels * p.dx.stride[1] + r * p.dx.stride[2] + c * p.dx.stride[3];
    blend<C>(p.dx.at, p.type, at, 0, 0, p.beta);
  }
}

template <typename C> __device__ void backward(const ws_sampler_args &p)
{
  AT(i, (int64_t)p.images * p.high * p.wide)
  {
    const sample<C> s(p, i);
    C gx = 0, gy = 0;
#pragma unroll 1
    for (int c = 0; c < p.channels; c++) {
      const C dy = read_as<C>(p.y.at, p.type, s.in_result(p.y, c));
#pragma unroll 1
      for (int k = 0; k < 4; k++) {
        if (!s.inside(p, k)) continue;
        const C v = read_as<C>(p.x.at, p.type, s.in_image(p.x, c, k)) * dy;
        gx += (k % 2 ? v : -v) * (k / 2 ? s.down : 1 - s.down);
        gy += (k / 2 ? v : -v) * (k % 2 ? s.right : 1 - s.right);
        add(p.dx.at, p.type, s.in_image(p.dx, c, k), (C)p.alpha * s.weight(k) * dy);
      }
    }
    blend(p.dgrid, p.type, 2 * i, gx * (p.in_wide - 1) / 2, p.grid_alpha, p.grid_beta);
    blend(p.dgrid, p.type, 2 * i + 1, gy * (p.in_high - 1) / 2, p.grid_alpha, p.grid_beta);
  }
}

// Coordinate i of n from -1 to 1; one alone is in the middle.
template <typename C> __device__ inline C place(int64_t i, int n) { return n > 1 ? (C)(2 * i) / (n - 1) - 1 : 0; }

template <typename C> __device__ void grid(const ws_sampler_args &p)
{
  AT(i, (int64_t)p.images * p.high * p.wide)
  {
    const C x = place<C>(i % p.wide, p.wide), y = place<C>(i / p.wide % p.high, p.high);
#pragma unroll 1
    for (int k = 0; k < 2; k++) {
      const int64_t t = i / p.wide / p.high * 6 + 3 * k;
      const C v = read_as<C>(p.theta, p.type, t) * x + read_as<C>(p.theta, p.type, t + 1) * y + read_as<C>(p.theta, p.type, t + 2);
      write_as<C>(p.grid, p.type, 2 * i + k, v);
    }
  }
}

// A warp for each number of theta.
template <typename C> __device__ void grid_backward(const ws_sampler_args &p)
{
  const int64_t pixels = (int64_t)p.high * p.wide, all = (int64_t)p.images * 6;
  for (int64_t t = (int64_t)blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32; t < all; t += (int64_t)gridDim.x * (blockDim.x / 32)) {
    const int64_t first = t / 6 * pixels;
    const int k = t % 6 / 3, what = t % 3;
    C sum = 0;
#pragma unroll 1
    for (int64_t i = threadIdx.x % 32; i < pixels; i += 32) {
      const C by = what == 0 ? place<C>(i % p.wide, p.wide) : what == 1 ? place<C>(i / p.wide, p.high) : C(1);
      sum += read_as<C>(p.dgrid, p.type, 2 * (first + i) + k) * by;
    }
    for (int by = 16; by; by /= 2) sum += __shfl_down_sync(~0u, sum, by);
    if (threadIdx.x % 32 == 0) write_as<C>(p.theta, p.type, t, sum);
  }
}

#define KERNEL(what, name, C) \
  extern "C" __global__ void __launch_bounds__(256) warpstep_##name(const __grid_constant__ ws_sampler_args p) { what<C>(p); }
#define SAMPLER(l, C)                               \
  KERNEL(forward, sampler_forward_##l, C)           \
  KERNEL(scale, sampler_scale_##l, C)               \
  KERNEL(backward, sampler_backward_##l, C)         \
  KERNEL(grid, sampler_grid_##l, C)                 \
  KERNEL(grid_backward, sampler_grid_backward_##l, C)
SAMPLER(f32, float)
SAMPLER(f64, double)
