// Generic loads, stores and atomics of one warp instruction whose lanes lie in several windows: shared memory, local
// memory and global memory in every mixture, also without a lane in global memory, in widths of 4, 8 and 16 bytes.
#include "check.h"

#include <cstdio>

enum { THREADS = 64, WORDS = 4, MIXTURES = 7, WINDOWS = 3 };

template <class T> __device__ __noinline__ T load(const T *p) { return *p; }
template <class T> __device__ __noinline__ void store(T *p, T v) { *p = v; }
__device__ __noinline__ int add(int *p, int v) { return atomicAdd(p, v); }

// Bits of `mixture` name the windows in use: 1 shared, 2 local, 4 global.
__host__ __device__ static int window_of(int mixture, int lane)
{
  int in_use[WINDOWS], n = 0;
  for (int w = 0; w < WINDOWS; w++)
    if (mixture >> w & 1) in_use[n++] = w;
  return in_use[lane % n];
}

__host__ __device__ static int begins(int window, int lane, int word)
{
  return 10000 * window + 10 * lane + word;
}

template <class T> __device__ T twice(T v);
template <> __device__ int twice(int v) { return 2 * v; }
template <> __device__ int2 twice(int2 v) { return make_int2(2 * v.x, 2 * v.y); }
template <> __device__ int4 twice(int4 v) { return make_int4(2 * v.x, 2 * v.y, 2 * v.z, 2 * v.w); }

template <class T> __global__ void mix(int *memory, int *out, int mixture, int spin)
{
  __shared__ int4 shared[THREADS];
  int4 local[WORDS];
  int lane = threadIdx.x, window = window_of(mixture, lane);
  for (int i = 0; i < WORDS; i++)
    for (int k = 0; k < WORDS; k++) (&local[(i + spin) % WORDS].x)[k] = begins(1, lane, k);
  for (int k = 0; k < WORDS; k++) {
    (&shared[lane].x)[k] = begins(0, lane, k);
    memory[lane * WORDS + k] = begins(2, lane, k);
  }
  __syncthreads();
  int *p = window == 0 ? &shared[lane].x : window == 1 ? &local[(lane + spin) % WORDS].x : &memory[lane * WORDS];
  store((T *)p, twice(load((const T *)p)));
  if (window != 1) add(p, 1); // an atomic in local memory is undefined
  for (int k = 0; k < WORDS; k++) out[lane * WORDS + k] = load(p + k);
}

template <class T> static int bad_words(int *memory, int *out, int mixture)
{
  int host[THREADS * WORDS], bad = 0, written = sizeof(T) / sizeof(int);
  mix<T><<<1, THREADS>>>(memory, out, mixture, 3);
  CUDA(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
  for (int i = 0; i < THREADS * WORDS; i++) {
    int lane = i / WORDS, word = i % WORDS, window = window_of(mixture, lane), want = begins(window, lane, word);
    if (word < written) want *= 2;
    if (word == 0 && window != 1) want++;
    bad += host[i] != want;
  }
  return bad;
}

int main()
{
  int *memory, *out, bad = 0;
  CUDA(cudaMalloc(&memory, THREADS * WORDS * sizeof(int)));
  CUDA(cudaMalloc(&out, THREADS * WORDS * sizeof(int)));
  for (int mixture = 1; mixture <= MIXTURES; mixture++) {
    int wrong = bad_words<int>(memory, out, mixture) + bad_words<int2>(memory, out, mixture) +
                bad_words<int4>(memory, out, mixture);
    if (wrong) printf("windows %d: %d words are wrong\n", mixture, wrong);
    bad += wrong;
  }
  return bad != 0;
}
