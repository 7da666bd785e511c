// Tiles split in k, of products on tensor cores: blockIdx.x has the tiles that are not split, then the first split of
// all others, then their second one, and so on. Parts of D that splits have summed lie tile by tile in p.partial, and a
// second kernel adds them in the order of the splits, so that a product is the same on every run.
#pragma once
#include "elements.cuh"

struct part {
  int row, col;   // the first ones of its tile
  int k0, k_end;
  float *partial; // of its tile; null: the sum is whole
};

// How many tiles come before those that are split: their number and the splits give the grid.
__device__ inline int64_t whole_tiles(const ws_gemm_args &p, int64_t tiles, int64_t ctas)
{
  return (tiles * p.splits - ctas) / (p.splits - 1);
}

template <int BM, int BN> __device__ inline part part_of(const ws_gemm_args &p, int64_t z)
{
  const int rows = (p.m + BM - 1) / BM, cols = (p.n + BN - 1) / BN;
  part q = {0, 0, 0, p.k, nullptr};
  int64_t tile = blockIdx.x;
  if (p.splits > 1) {
    const int64_t tiles = (int64_t)rows * cols, whole = whole_tiles(p, tiles, gridDim.x);
    if (tile >= whole) {
      const int others = (int)(tiles - whole), at = (int)(tile - whole), split = at / others;
      tile = whole + at % others;
      q.k0 = split * p.k_per_split;
      q.k_end = min(p.k, q.k0 + p.k_per_split);
      q.partial = (float *)p.partial + ((z * others + at % others) * p.splits + split) * (BM * BN);
    }
  }
  place_of_tile((unsigned)tile, rows, cols, q.row, q.col);
  q.row *= BM, q.col *= BN;
  return q;
}

enum { PART_THREADS = 256, PART_STEP = 4 * PART_THREADS, PART_GROUPS = WS_PART_CELLS / PART_STEP };

// The end of a product's split tiles: for each thread some groups of four neighbours of a row, PART_STEP apart.
template <int BM, int BN, typename END> __device__ void add_parts(const typename END::args &args)
{
  constexpr int CTAS = BM * BN / WS_PART_CELLS;
  const ws_gemm_args &p = END::product(args);
  const int rows = (p.m + BM - 1) / BM, cols = (p.n + BN - 1) / BN, others = gridDim.x / CTAS;
  const int64_t z = blockIdx.z + p.batch0;
  const int tile = blockIdx.x / CTAS, in_tile = blockIdx.x % CTAS * WS_PART_CELLS + threadIdx.x * 4;
  int row, col;
  place_of_tile((unsigned)((int64_t)rows * cols - others) + tile, rows, cols, row, col);
  const float *at = (const float *)p.partial + (z * others + tile) * p.splits * (BM * BN) + in_tile;
  float4 sum[PART_GROUPS] = {};
#pragma unroll 2
  for (int s = 0; s < p.splits; s++, at += BM * BN)
#pragma unroll
    for (int i = 0; i < PART_GROUPS; i++) {
      const float4 v = *(const float4 *)(at + i * PART_STEP);
      sum[i].x += v.x, sum[i].y += v.y, sum[i].z += v.z, sum[i].w += v.w;
    }
  const END end(args, z);
#pragma unroll
  for (int i = 0; i < PART_GROUPS; i++) {
    const int cell = in_tile + i * PART_STEP;
    const float v[4] = {sum[i].x, sum[i].y, sum[i].z, sum[i].w};
    end.put(p, row * BM + cell / BN, col * BN + cell % BN, v);
  }
}

#define PARTS_KERNEL(name, END, BM, BN)                                                                           \
  extern "C" __global__ void __launch_bounds__(PART_THREADS) name##_##BM##x##BN(const __grid_constant__ END::args p) \
  {                                                                                                               \
    add_parts<BM, BN, END>(p);                                                                                    \
  }
