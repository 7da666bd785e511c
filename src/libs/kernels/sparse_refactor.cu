// cusolverRf: LU without pivots on places that are known, level by level, a warp for each row.
#include <cstdint>

#include "refactor_args.h"

__device__ inline double *of_matrix(const ws_refactor_args &p) { return p.values + blockIdx.y * (int64_t)p.count; }

extern "C" __global__ void __launch_bounds__(256) warpstep_refactor_reset(const __grid_constant__ ws_refactor_args p)
{
  const double *a = p.a_array ? p.a_array[blockIdx.y] : p.a;
  double *m = of_matrix(p);
  for (int e = blockIdx.x * blockDim.x + threadIdx.x; e < p.count; e += gridDim.x * blockDim.x) {
    double sum = 0;
    for (int s = p.source_at[e]; s < p.source_at[e + 1]; s++) sum += a[p.sources[s]];
    m[e] = sum;
  }
}

// Where column j is among the places from `low` to `end`, or -1.
__device__ inline int place_of(const int32_t *columns, int low, int end, int j)
{
  int high = end;
  while (low < high) {
    const int middle = low + (high - low) / 2;
    if (columns[middle] < j) low = middle + 1;
    else high = middle;
  }
  return low < end && columns[low] == j ? low : -1;
}

__device__ void pivot(const ws_refactor_args &p, double *m, int i)
{
  double &d = m[p.diagonal[i]];
  if (fabs(d) > p.zero) return;
  if (p.boost != 0) {
    d = copysign(p.boost, d);
    p.boosted[blockIdx.y] = 1;
  } else {
    atomicMin(p.zero_row + blockIdx.y, i);
  }
}

__device__ void factor(const ws_refactor_args &p, double *m, int i)
{
  const int lane = threadIdx.x % 32, end = p.offsets[i + 1];
  for (int k = p.offsets[i]; k < p.diagonal[i]; k++) {
    const int j = p.columns[k], end_j = p.offsets[j + 1];
    const double by = m[k] / m[p.diagonal[j]];
    __syncwarp();
    if (lane == 0) m[k] = by;
    for (int t = p.diagonal[j] + 1 + lane; t < end_j; t += 32) {
      const int at = place_of(p.columns, k + 1, end, p.columns[t]);
      if (at >= 0) m[at] -= by * m[t];
    }
    __syncwarp();
  }
  if (lane == 0) pivot(p, m, i);
}

template <typename F> __device__ void over_levels(const ws_refactor_args &p, F row)
{
  for (int l = p.first; l < p.end; l++) {
    for (int r = p.levels[l] + (blockIdx.x * blockDim.x + threadIdx.x) / 32; r < p.levels[l + 1]; r += gridDim.x * blockDim.x / 32)
      row(p.rows[r]);
    if (p.end - p.first > 1) __syncthreads();
  }
}

extern "C" __global__ void __launch_bounds__(256) warpstep_refactor_lu(const __grid_constant__ ws_refactor_args p)
{
  double *m = of_matrix(p);
  over_levels(p, [&](int i) { factor(p, m, i); });
}

// t[i] less what row i has from `low` to `end`; backwards by its pivot, too.
__device__ void solve(const ws_refactor_args &p, const double *m, double *t, int i, bool backwards)
{
  const int low = backwards ? p.diagonal[i] + 1 : p.offsets[i], end = backwards ? p.offsets[i + 1] : p.diagonal[i];
  double sum = 0;
  for (int k = low + threadIdx.x % 32; k < end; k += 32) sum += m[k] * t[p.columns[k]];
  for (int by = 16; by; by /= 2) sum += __shfl_down_sync(~0u, sum, by);
  if (threadIdx.x % 32 == 0) t[i] = backwards ? (t[i] - sum) / m[p.diagonal[i]] : t[i] - sum;
}

extern "C" __global__ void __launch_bounds__(256) warpstep_refactor_solve(const __grid_constant__ ws_refactor_args p)
{
  const double *m = of_matrix(p);
  double *t = p.t + blockIdx.y * (int64_t)p.n, *x = p.x_array ? p.x_array[blockIdx.y] + p.x_offset : p.x;
  if (p.step == WS_REFACTOR_FORWARD || p.step == WS_REFACTOR_BACKWARD) {
    over_levels(p, [&](int i) { solve(p, m, t, i, p.step == WS_REFACTOR_BACKWARD); });
    return;
  }
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < p.n; i += gridDim.x * blockDim.x) {
    if (p.step == WS_REFACTOR_GATHER) t[i] = x[p.p[i]];
    else x[p.q[i]] = t[i];
  }
}
