// Rows of a block that change places.
#pragma once
#include "solve.cuh"

enum { PLACES = 2 * WS_SOLVE_BLOCK };

// Where each of a block's rows, and of those that its pivots name, gets its numbers from, so that all move at once.
struct moves {
  int64_t row[PLACES]; // -1: none
  int from[PLACES];
};

__device__ inline void plan(const ws_exchange_args &p, moves &s, int64_t first, int count)
{
  const int lane = threadIdx.x;
  const int64_t named = lane < count && p.pivots ? (int64_t)p.pivots[first + lane] - 1 : -1;
  const bool counts = named >= first && named < p.rows, near = named < first + count;
  const int same = __ffs(__match_any_sync(~0u, named)) - 1;
  const int place = !counts ? lane : near ? (int)(named - first) : WS_SOLVE_BLOCK + same;
  s.row[lane] = lane < count ? first + lane : -1;
  s.row[WS_SOLVE_BLOCK + lane] = counts && !near && same == lane ? named : -1;
  s.from[lane] = lane, s.from[WS_SOLVE_BLOCK + lane] = WS_SOLVE_BLOCK + lane;
  __syncwarp();
#pragma unroll 1
  for (int u = 0; u < count; u++) {
    const int i = p.backwards ? count - 1 - u : u, with = __shfl_sync(~0u, place, i);
    if (lane == 0) {
      const int t = s.from[i];
      s.from[i] = s.from[with], s.from[with] = t;
    }
  }
}
