// Random numbers: the words of a sequence, and what a distribution makes of them.
#include "rand_numbers.h"

#define EACH(i, n) \
  for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (uint64_t)gridDim.x * blockDim.x)

extern "C" __global__ void __launch_bounds__(256) warpstep_rand_philox(const __grid_constant__ ws_rand_args p)
{
  const uint64_t first = p.position >> 2, last = (p.position + p.count + 3) >> 2;
  EACH(b, last - first)
  {
    const uint64_t at = first + b;
    const philox_block c = {{(uint32_t)at, (uint32_t)(at >> 32), 0, 0}};
    const philox_block r = philox(c, (uint32_t)p.seed, (uint32_t)(p.seed >> 32));
#pragma unroll
    for (int w = 0; w < 4; w++) {
      const uint64_t i = 4 * at + w - p.position; // wraps in front of the first word
      if (i < p.count) p.out[i] = r.word[w];
    }
  }
}

extern "C" __global__ void __launch_bounds__(256) warpstep_rand_lanes(const __grid_constant__ ws_rand_args p)
{
  const uint32_t lane = blockIdx.x * blockDim.x + threadIdx.x;
  uint32_t s[WS_RAND_LANE_WORDS];
  uint64_t i = (lane - p.position) % WS_RAND_LANES;
  if (i >= p.count) return;
#pragma unroll
  for (int w = 0; w < WS_RAND_LANE_WORDS; w++) s[w] = p.state[w * WS_RAND_LANES + lane];
  for (; i < p.count; i += WS_RAND_LANES) p.out[i] = lane_next(p.kind, s);
#pragma unroll
  for (int w = 0; w < WS_RAND_LANE_WORDS; w++) p.state[w * WS_RAND_LANES + lane] = s[w];
}

// One CTA: a block of 624 words is made from the one before in three steps, each of words that do not need each other.
extern "C" __global__ void __launch_bounds__(256) warpstep_rand_mt19937(const __grid_constant__ ws_rand_args p)
{
  __shared__ uint32_t s[WS_MT_WORDS + 1];
  const int far = 397, near = WS_MT_WORDS - far;
  for (int i = threadIdx.x; i <= WS_MT_WORDS; i += blockDim.x) s[i] = p.state[i];
  __syncthreads();
  uint32_t at = s[WS_MT_WORDS];
  for (uint64_t done = 0; done < p.count;) {
    if (at == WS_MT_WORDS) {
      for (int from = 0; from < WS_MT_WORDS; from += near) {
        const int i = from + threadIdx.x;
        const bool mine = threadIdx.x < near && i < WS_MT_WORDS;
        uint32_t v = 0;
        if (mine) v = mt_twist(s[i], s[(i + 1) % WS_MT_WORDS], s[(i + far) % WS_MT_WORDS]);
        __syncthreads();
        if (mine) s[i] = v;
        __syncthreads();
      }
      at = 0;
    }
    const uint64_t left = p.count - done;
    const uint32_t n = left < WS_MT_WORDS - at ? (uint32_t)left : WS_MT_WORDS - at;
    for (uint32_t i = threadIdx.x; i < n; i += blockDim.x) p.out[done + i] = mt_temper(s[at + i]);
    at += n;
    done += n;
    __syncthreads();
  }
  for (int i = threadIdx.x; i < WS_MT_WORDS; i += blockDim.x) p.state[i] = s[i];
  if (threadIdx.x == 0) p.state[WS_MT_WORDS] = at;
}

extern "C" __global__ void __launch_bounds__(256) warpstep_rand_sobol(const __grid_constant__ ws_rand_args p)
{
  EACH(i, p.count)
  {
    const uint64_t dimension = i / p.points;
    const uint64_t x = sobol_point(p.directions + dimension * WS_SOBOL_WORDS, p.position + i - dimension * p.points);
    if (p.wide) ((uint64_t *)p.out)[i] = x;
    else p.out[i] = (uint32_t)(x >> 32);
  }
}

extern "C" __global__ void __launch_bounds__(256) warpstep_rand_numbers(const __grid_constant__ ws_rand_number_args p)
{
  const uint32_t step = number_step(&p);
  EACH(i, p.count / step) make_number(&p, i * step);
}
