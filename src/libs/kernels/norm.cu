// Batch normalisation, one CTA per channel: statistics in two passes (mean, then squares about it), sums in a fixed order.
#include "memory.cuh"
#include "norm_args.h"

enum { NORM_THREADS = 256 };

template <typename C> __device__ C sum_of_cta(C v)
{
  __shared__ C all[NORM_THREADS];
  __syncthreads();
  all[threadIdx.x] = v;
  for (int step = NORM_THREADS / 2; step; step /= 2) {
    __syncthreads();
    if (threadIdx.x < step) all[threadIdx.x] += all[threadIdx.x + step];
  }
  __syncthreads();
  return all[0];
}

// Walks the elements of a channel that a thread has: image and place in space without a division per element.
struct walk {
  int image, place;
  __device__ walk(int first, const ws_norm_args &p) : image(first / p.space), place(first % p.space) {}
  __device__ bool more(const ws_norm_args &p) const { return image < p.images; }
  __device__ void next(int step, const ws_norm_args &p)
  {
    place += step;
    if (place >= p.space) {
      image += place / p.space;
      place %= p.space;
    }
  }
  __device__ int64_t in(const ws_norm_tensor &t, int channel) const
  {
    return image * t.image + channel * t.channel + place * t.space;
  }
};

template <typename C> __device__ inline C get(const ws_norm_tensor &t, int type, int64_t at)
{
  return any_memory<C>::load(t.at, type, at);
}
template <typename C> __device__ inline void blend(void *p, int type, int64_t at, C v, double alpha, double beta)
{
  v *= (C)alpha;
  if (beta != 0) v += (C)beta * any_memory<C>::load(p, type, at);
  any_memory<C>::store(p, type, at, v);
}

template <typename C> struct statistics {
  C mean, inv, var;
};

template <typename C> __device__ statistics<C> batch_statistics(const ws_norm_args &p, int channel)
{
  const C n = (C)p.images * (C)p.space;
  statistics<C> s;
  C sum = 0;
  for (walk w(threadIdx.x, p); w.more(p); w.next(NORM_THREADS, p)) sum += get<C>(p.x, p.type, w.in(p.x, channel));
  s.mean = sum_of_cta(sum) / n;
  sum = 0;
  for (walk w(threadIdx.x, p); w.more(p); w.next(NORM_THREADS, p)) {
    const C d = get<C>(p.x, p.type, w.in(p.x, channel)) - s.mean;
    sum += d * d;
  }
  s.var = sum_of_cta(sum) / n;
  s.inv = 1 / sqrt(s.var + (C)p.epsilon);
  return s;
}

template <typename C> __device__ void normalise(const ws_norm_args &p, int channel, int first, int step, C mean, C inv)
{
  const C scale = any_memory<C>::load(p.scale, p.param_type, channel) * inv, bias = any_memory<C>::load(p.bias, p.param_type, channel);
  for (walk w(first, p); w.more(p); w.next(step, p))
    blend<C>(p.y.at, p.type, w.in(p.y, channel), (get<C>(p.x, p.type, w.in(p.x, channel)) - mean) * scale + bias,
             p.alpha, p.beta);
}

template <typename C> __device__ void train(const ws_norm_args &p)
{
  const int channel = blockIdx.x;
  const statistics<C> s = batch_statistics<C>(p, channel);
  if (threadIdx.x == 0) {
    const C n = (C)p.images * (C)p.space;
    if (p.running_mean) {
      blend<C>(p.running_mean, p.param_type, channel, s.mean, p.factor, 1 - p.factor);
      blend<C>(p.running_var, p.param_type, channel, n > 1 ? s.var * (n / (n - 1)) : s.var, p.factor, 1 - p.factor);
    }
    if (p.save_mean) {
      any_memory<C>::store(p.save_mean, p.param_type, channel, s.mean);
      any_memory<C>::store(p.save_inv, p.param_type, channel, s.inv);
    }
  }
  normalise<C>(p, channel, threadIdx.x, NORM_THREADS, s.mean, s.inv);
}

template <typename C> __device__ void infer(const ws_norm_args &p)
{
  const int channel = blockIdx.x, step = NORM_THREADS * gridDim.y;
  const C var = any_memory<C>::load(p.running_var, p.param_type, channel);
  normalise<C>(p, channel, blockIdx.y * NORM_THREADS + threadIdx.x, step,
               any_memory<C>::load(p.running_mean, p.param_type, channel), 1 / sqrt(var + (C)p.epsilon));
}

template <typename C> __device__ void backward(const ws_norm_args &p)
{
  const int channel = blockIdx.x;
  const C n = (C)p.images * (C)p.space, scale = any_memory<C>::load(p.scale, p.param_type, channel);
  C mean, inv;
  if (p.save_mean) {
    mean = any_memory<C>::load(p.save_mean, p.param_type, channel);
    inv = any_memory<C>::load(p.save_inv, p.param_type, channel);
  } else {
    const statistics<C> s = batch_statistics<C>(p, channel);
    mean = s.mean, inv = s.inv;
  }
  C dbias = 0, dscale = 0;
  for (walk w(threadIdx.x, p); w.more(p); w.next(NORM_THREADS, p)) {
    const C dy = get<C>(p.dy, p.type, w.in(p.dy, channel));
    dbias += dy;
    dscale += dy * (get<C>(p.x, p.type, w.in(p.x, channel)) - mean) * inv;
  }
  dbias = sum_of_cta(dbias);
  dscale = sum_of_cta(dscale);
  if (threadIdx.x == 0) {
    blend<C>(p.dscale, p.param_type, channel, dscale, p.param_alpha, p.param_beta);
    blend<C>(p.dbias, p.param_type, channel, dbias, p.param_alpha, p.param_beta);
  }
  for (walk w(threadIdx.x, p); w.more(p); w.next(NORM_THREADS, p)) {
    const C dy = get<C>(p.dy, p.type, w.in(p.dy, channel));
    const C at = (get<C>(p.x, p.type, w.in(p.x, channel)) - mean) * inv;
    blend<C>(p.y.at, p.type, w.in(p.y, channel), scale * inv * (dy - dbias / n - at * dscale / n), p.alpha, p.beta);
  }
}

#define NORM_KERNEL(name, what, C)                                                                          \
  extern "C" __global__ void __launch_bounds__(NORM_THREADS) name(const __grid_constant__ ws_norm_args p)   \
  {                                                                                                         \
    what<C>(p);                                                                                             \
  }
NORM_KERNEL(warpstep_norm_train_f32, train, float)
NORM_KERNEL(warpstep_norm_train_f64, train, double)
NORM_KERNEL(warpstep_norm_infer_f32, infer, float)
NORM_KERNEL(warpstep_norm_infer_f64, infer, double)
NORM_KERNEL(warpstep_norm_backward_f32, backward, float)
NORM_KERNEL(warpstep_norm_backward_f64, backward, double)
