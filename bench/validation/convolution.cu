// A 15 x 15 filter over an image of 4096 x 4096 floats, with the tuning parameters of AutoTuningAssociation/benchmark_hub
// (8eeb99e7), convolution: CTA, outputs per thread, input staged in shared memory, its rows padded, loads by the read-only
// path. The filter is in constant memory. One kernel for each line of variants.h, conv_BX_BY_TX_TY_READONLY_PAD_SHARED.

enum { FILTER = 15, PITCH = 4096 + FILTER - 1, WIDTH = 4096, BANKS = 32 };

__constant__ float filter[FILTER * FILTER];

// Rows of `width` floats of which the next ones begin in the bank where the block's width ends.
static __host__ __device__ constexpr int padding(int width, int block)
{
  return block % BANKS == 0 ? 0 : (BANKS - width % BANKS + block) % BANKS;
}

template <bool READ_ONLY> static __device__ float load(const float *p) { return READ_ONLY ? __ldg(p) : *p; }

// Outputs of a thread are a CTA's width and height apart; `at(row, column)` is the CTA's input.
template <int BX, int BY, int TX, int TY, class At> static __device__ void convolve(float *out, At at)
{
  float sum[TY][TX] = {{0}};
#pragma unroll
  for (int i = 0; i < FILTER; i++)
#pragma unroll
    for (int j = 0; j < FILTER; j++)
#pragma unroll
      for (int y = 0; y < TY; y++)
#pragma unroll
        for (int x = 0; x < TX; x++)
          sum[y][x] += at(threadIdx.y + y * BY + i, threadIdx.x + x * BX + j) * filter[i * FILTER + j];
#pragma unroll
  for (int y = 0; y < TY; y++)
#pragma unroll
    for (int x = 0; x < TX; x++)
      out[(blockIdx.y * BY * TY + threadIdx.y + y * BY) * WIDTH + blockIdx.x * BX * TX + threadIdx.x + x * BX] = sum[y][x];
}

template <int BX, int BY, int TX, int TY, bool READ_ONLY, bool PAD, bool SHARED>
static __device__ void convolution(float *out, const float *in)
{
  const float *mine = in + blockIdx.y * BY * TY * PITCH + blockIdx.x * BX * TX;
  if constexpr (SHARED) {
    enum { W = BX * TX + FILTER - 1, H = BY * TY + FILTER - 1 };
    __shared__ float tile[H][W + (PAD ? padding(W, BX) : 0)];
    for (int i = threadIdx.y; i < H; i += BY)
      for (int j = threadIdx.x; j < W; j += BX) tile[i][j] = load<READ_ONLY>(&mine[i * PITCH + j]);
    __syncthreads();
    convolve<BX, BY, TX, TY>(out, [&](int row, int column) { return tile[row][column]; });
  } else {
    convolve<BX, BY, TX, TY>(out, [&](int row, int column) { return load<READ_ONLY>(&mine[row * PITCH + column]); });
  }
}

#define VARIANT(BX, BY, TX, TY, READ_ONLY, PAD, SHARED)                                                            \
  extern "C" __global__ void __launch_bounds__(BX *BY)                                                             \
      conv_##BX##_##BY##_##TX##_##TY##_##READ_ONLY##_##PAD##_##SHARED(float *out, const float *in)                 \
  {                                                                                                                \
    convolution<BX, BY, TX, TY, READ_ONLY, PAD, SHARED>(out, in);                                                  \
  }
#include "variants.h"
