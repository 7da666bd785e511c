// Pooling, a thread for each result, and softmax, a CTA for each group, with sums in a fixed order.
#include "memory.cuh"
#include "pool_args.h"

enum { POOL_THREADS = 128 };

template <typename C> __device__ inline C get(const ws_pool_tensor &t, int type, int64_t at)
{
  return any_memory<C>::load(t.at, type, at);
}
template <typename C> __device__ inline void blend(const ws_pool_tensor &t, int type, int64_t at, C v, double alpha, double beta)
{
  v *= (C)alpha;
  if (beta != 0) v += (C)beta * any_memory<C>::load(t.at, type, at);
  any_memory<C>::store(t.at, type, at, v);
}

// A place: image, channel, depth, row, column.
struct place {
  int at[WS_POOL_DIMS];
  __device__ place(int64_t i, int channels, const int *space)
  {
    for (int d = WS_POOL_SPACE - 1; d >= 0; d--) at[2 + d] = i % space[d], i /= space[d];
    at[1] = i % channels;
    at[0] = i / channels;
  }
  __device__ int64_t in(const ws_pool_tensor &t) const
  {
    int64_t sum = 0;
    for (int d = 0; d < WS_POOL_DIMS; d++) sum += at[d] * t.stride[d];
    return sum;
  }
};

// The part of a result's window that lies in the tensor: [from, to).
struct window {
  int from[WS_POOL_SPACE], to[WS_POOL_SPACE];
  __device__ window(const ws_pool_args &p, const int *pooled)
  {
    for (int d = 0; d < WS_POOL_SPACE; d++) {
      const int first = pooled[d] * p.step[d] - p.before[d];
      from[d] = max(first, 0);
      to[d] = min(first + p.window[d], p.in[d]);
    }
  }
  __device__ int inside() const
  {
    int n = 1;
    for (int d = 0; d < WS_POOL_SPACE; d++) n *= max(to[d] - from[d], 0);
    return n;
  }
  __device__ int counted(const ws_pool_args &p) const
  {
    return p.mode == WS_POOL_AVERAGE_INSIDE ? inside() : p.window[0] * p.window[1] * p.window[2];
  }
};

// What a window's largest element is, and its number in x: the first of equal ones.
template <typename C> struct largest {
  C value;
  int64_t at;
  __device__ largest(const ws_pool_args &p, const window &w, int64_t base)
  {
    value = -(C)INFINITY;
    at = -1;
    for (int z = w.from[0]; z < w.to[0]; z++)
      for (int y = w.from[1]; y < w.to[1]; y++)
        for (int x = w.from[2]; x < w.to[2]; x++) {
          const int64_t i = base + z * p.x.stride[2] + y * p.x.stride[3] + x * p.x.stride[4];
          const C v = get<C>(p.x, p.type, i);
          const bool nan = v != v;
          if (nan && !p.keep_nan) continue;
          if (at < 0 || v > value || (nan && value == value)) value = v, at = i;
        }
  }
};

template <typename C> __device__ void pool_forward(const ws_pool_args &p)
{
  const int64_t i = (int64_t)blockIdx.x * POOL_THREADS + threadIdx.x;
  const place o(i, p.channels, p.pooled);
  if (o.at[0] >= p.images) return;
  const window w(p, o.at + 2);
  const int64_t base = o.at[0] * p.x.stride[0] + o.at[1] * p.x.stride[1];
  C v = 0;
  if (p.mode == WS_POOL_MAX || p.mode == WS_POOL_MAX_FIXED) {
    v = largest<C>(p, w, base).value;
  } else {
    for (int z = w.from[0]; z < w.to[0]; z++)
      for (int y = w.from[1]; y < w.to[1]; y++)
        for (int x = w.from[2]; x < w.to[2]; x++)
          v += get<C>(p.x, p.type, base + z * p.x.stride[2] + y * p.x.stride[3] + x * p.x.stride[4]);
    v /= (C)w.counted(p);
  }
  blend<C>(p.out, p.type, o.in(p.out), v, p.alpha, p.beta);
}

// Of each element of x: from all results whose windows it lies in.
template <typename C> __device__ void pool_backward(const ws_pool_args &p)
{
  const int64_t i = (int64_t)blockIdx.x * POOL_THREADS + threadIdx.x;
  const place e(i, p.channels, p.in);
  if (e.at[0] >= p.images) return;
  int first[WS_POOL_SPACE], last[WS_POOL_SPACE];
  for (int d = 0; d < WS_POOL_SPACE; d++) {
    const int at = e.at[2 + d] + p.before[d], beyond = at - p.window[d] + 1;
    first[d] = beyond > 0 ? (beyond + p.step[d] - 1) / p.step[d] : 0;
    last[d] = min(at / p.step[d], p.pooled[d] - 1);
  }
  const bool of_largest = p.mode == WS_POOL_MAX || p.mode == WS_POOL_MAX_FIXED;
  const int64_t base = e.at[0] * p.x.stride[0] + e.at[1] * p.x.stride[1], mine = e.in(p.x);
  C sum = 0;
  int o[WS_POOL_SPACE];
  for (o[0] = first[0]; o[0] <= last[0]; o[0]++)
    for (o[1] = first[1]; o[1] <= last[1]; o[1]++)
      for (o[2] = first[2]; o[2] <= last[2]; o[2]++) {
        const window w(p, o);
        if (of_largest && largest<C>(p, w, base).at != mine) continue;
        const C dy = get<C>(p.dy, p.type, e.at[0] * p.dy.stride[0] + e.at[1] * p.dy.stride[1] + o[0] * p.dy.stride[2] +
                                            o[1] * p.dy.stride[3] + o[2] * p.dy.stride[4]);
        sum += of_largest ? dy : dy / (C)w.counted(p);
      }
  blend<C>(p.out, p.type, e.in(p.out), sum, p.alpha, p.beta);
}

template <typename C, typename F> __device__ C over_cta(C v, F both)
{
  __shared__ C all[POOL_THREADS];
  __syncthreads();
  all[threadIdx.x] = v;
  for (int step = POOL_THREADS / 2; step; step /= 2) {
    __syncthreads();
    if (threadIdx.x < step) all[threadIdx.x] = both(all[threadIdx.x], all[threadIdx.x + step]);
  }
  __syncthreads();
  return all[0];
}

// The group of a CTA: places in it by number.
struct softmax_group {
  const ws_softmax_args &p;
  int n;
  __device__ softmax_group(const ws_softmax_args &a) : p(a)
  {
    n = p.whole_image ? p.size[1] * p.size[2] * p.size[3] * p.size[4] : p.size[1];
  }
  __device__ int64_t in(const ws_pool_tensor &t, int i) const
  {
    if (p.whole_image) {
      place e(i, p.size[1], p.size + 2);
      e.at[0] = blockIdx.x;
      return e.in(t);
    }
    place e(blockIdx.x, 1, p.size + 2); // the image and the place in it
    e.at[1] = i;
    return e.in(t);
  }
};

template <typename C> __device__ void softmax_forward(const ws_softmax_args &p)
{
  const softmax_group g(p);
  C most = -(C)INFINITY, sum = 0;
  for (int i = threadIdx.x; i < g.n; i += POOL_THREADS) most = max(most, get<C>(p.x, p.type, g.in(p.x, i)));
  most = over_cta(most, [](C a, C b) { return max(a, b); });
  for (int i = threadIdx.x; i < g.n; i += POOL_THREADS) sum += exp(get<C>(p.x, p.type, g.in(p.x, i)) - most);
  sum = over_cta(sum, [](C a, C b) { return a + b; });
  const C whole = log(sum);
  for (int i = threadIdx.x; i < g.n; i += POOL_THREADS) {
    const C v = get<C>(p.x, p.type, g.in(p.x, i)) - most;
    blend<C>(p.out, p.type, g.in(p.out, i), p.mode == WS_SOFTMAX_LOG ? v - whole : exp(v) / sum, p.alpha, p.beta);
  }
}

template <typename C> __device__ void softmax_backward(const ws_softmax_args &p)
{
  const softmax_group g(p);
  C sum = 0;
  for (int i = threadIdx.x; i < g.n; i += POOL_THREADS) {
    const C dy = get<C>(p.dy, p.type, g.in(p.dy, i));
    sum += p.mode == WS_SOFTMAX_LOG ? dy : dy * get<C>(p.x, p.type, g.in(p.x, i));
  }
  sum = over_cta(sum, [](C a, C b) { return a + b; });
  for (int i = threadIdx.x; i < g.n; i += POOL_THREADS) {
    const C y = get<C>(p.x, p.type, g.in(p.x, i)), dy = get<C>(p.dy, p.type, g.in(p.dy, i));
    blend<C>(p.out, p.type, g.in(p.out, i), p.mode == WS_SOFTMAX_LOG ? dy - exp(y) * sum : (dy - sum) * y, p.alpha, p.beta);
  }
}

#define POOL_KERNEL(name, args, what, C)                                                                  \
  extern "C" __global__ void __launch_bounds__(POOL_THREADS) name(const __grid_constant__ args p) { what<C>(p); }
POOL_KERNEL(warpstep_pool_forward_f32, ws_pool_args, pool_forward, float)
POOL_KERNEL(warpstep_pool_forward_f64, ws_pool_args, pool_forward, double)
POOL_KERNEL(warpstep_pool_backward_f32, ws_pool_args, pool_backward, float)
POOL_KERNEL(warpstep_pool_backward_f64, ws_pool_args, pool_backward, double)
POOL_KERNEL(warpstep_softmax_forward_f32, ws_softmax_args, softmax_forward, float)
POOL_KERNEL(warpstep_softmax_forward_f64, ws_softmax_args, softmax_forward, double)
POOL_KERNEL(warpstep_softmax_backward_f32, ws_softmax_args, softmax_backward, float)
POOL_KERNEL(warpstep_softmax_backward_f64, ws_softmax_args, softmax_backward, double)
