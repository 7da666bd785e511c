// Operations of graphs, one at a time: of elements, products, sums along dimensions, softmax along the last one, random bits.
// All compute in FP32.
#include "elements.cuh"
#include "graph_args.h"
#include "random_bits.cuh"

#define AT(i, n) for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (int64_t)gridDim.x * blockDim.x)
enum { DIMS = WS_GRAPH_DIMS, COLUMNS = DIMS - 1, ROWS = DIMS - 2 };

__device__ inline int64_t elements(const ws_graph_tensor &t)
{
  int64_t n = 1;
  for (int d = 0; d < DIMS; d++) n *= t.size[d];
  return n;
}
__device__ inline void place(const ws_graph_tensor &t, int64_t i, int64_t (&at)[DIMS])
{
  for (int d = DIMS; d-- > 0; i /= t.size[d]) at[d] = i % t.size[d];
}
// Where an element of a larger tensor is in this one: sizes of 1 are the same for all, smaller ones for a group of neighbours.
__device__ inline int64_t inside(const ws_graph_tensor &t, const int64_t (&at)[DIMS], const int64_t (&of)[DIMS])
{
  int64_t offset = 0;
  for (int d = 0; d < DIMS; d++) offset += (t.size[d] == of[d] ? at[d] : at[d] * t.size[d] / of[d]) * t.stride[d];
  return offset;
}
__device__ inline float get(const ws_graph_tensor &t, int64_t at) { return t.at ? read_as<float>(t.at, t.type, at) : t.value; }
__device__ inline void set(const ws_graph_tensor &t, int64_t at, float v) { write_as<float>(t.at, t.type, at, v); }

__device__ float alone(int mode, float x)
{
  switch (mode) {
  case WS_SQRT: return sqrtf(x);
  case WS_ABS: return fabsf(x);
  case WS_EXP: return expf(x);
  case WS_LOG: return logf(x);
  case WS_NEG: return -x;
  case WS_RSQRT: return rsqrtf(x);
  case WS_ERF: return erff(x);
  case WS_RECIPROCAL: return 1 / x;
  case WS_RELU_FORWARD: return x > 0 ? x : x != x ? x : 0;
  case WS_TANH_FORWARD: return tanhf(x);
  case WS_SIGMOID_FORWARD: return 1 / (1 + expf(-x));
  case WS_NOT: return x == 0;
  default: return x;
  }
}
__device__ float both(int mode, float x, float b)
{
  switch (mode) {
  case WS_ADD: return x + b;
  case WS_MUL: return x * b;
  case WS_MIN: return fminf(x, b);
  case WS_MAX: return fmaxf(x, b);
  case WS_ADD_SQUARE: return x + b * b;
  case WS_DIV: return x / b;
  case WS_POW: return powf(x, b);
  case WS_SUB: return x - b;
  case WS_EQUAL: return x == b;
  case WS_NOT_EQUAL: return x != b;
  case WS_GREATER: return x > b;
  case WS_NOT_LESS: return x >= b;
  case WS_LESS: return x < b;
  case WS_NOT_GREATER: return x <= b;
  case WS_AND: return x != 0 && b != 0;
  case WS_OR: return x != 0 || b != 0;
  default: return alone(mode, x);
  }
}

extern "C" __global__ void __launch_bounds__(256) warpstep_graph_elements(const __grid_constant__ ws_graph_args p)
{
  const ws_graph_tensor &x = p.tensor[WS_X], &b = p.tensor[WS_B], &t = p.tensor[WS_T], &y = p.tensor[WS_Y];
  AT(i, elements(y))
  {
    int64_t at[DIMS];
    place(y, i, at);
    const float u = p.alpha * get(x, inside(x, at, y.size)), v = p.beta * get(b, inside(b, at, y.size));
    float r;
    if (p.mode == WS_INDEX) r = at[p.axis];
    else if (p.mode == WS_SELECT) r = get(t, inside(t, at, y.size)) != 0 ? u : v;
    else r = both(p.mode, u, v);
    set(y, inside(y, at, y.size), r);
  }
}

// Tiles of 32 x 32, each thread two rows and two columns apart by 16.
extern "C" __global__ void __launch_bounds__(256) warpstep_graph_product(const __grid_constant__ ws_graph_args p)
{
  const ws_graph_tensor &x = p.tensor[WS_X], &b = p.tensor[WS_B], &y = p.tensor[WS_Y], &terms = p.tensor[WS_T], &rows = p.tensor[WS_ROWS];
  __shared__ float xs[32][33], bs[32][33];
  const int64_t m = y.size[ROWS], n = y.size[COLUMNS], across = (n + 31) / 32;
  const int64_t tiles = (m + 31) / 32 * across, batches = y.size[0] * y.size[1] * y.size[2];
  const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
  for (int64_t w = blockIdx.x; w < tiles * batches; w += gridDim.x) {
    const int64_t batch = w / tiles, row = w % tiles / across * 32, column = w % tiles % across * 32;
    int64_t at[DIMS] = {batch / (y.size[1] * y.size[2]), batch / y.size[2] % y.size[1], batch % y.size[2], 0, 0};
    const int64_t x0 = inside(x, at, y.size), b0 = inside(b, at, y.size), y0 = inside(y, at, y.size);
    const int64_t k = terms.at ? min(x.size[COLUMNS], (int64_t)get(terms, inside(terms, at, y.size))) : x.size[COLUMNS];
    const int64_t there = rows.at ? min(m, (int64_t)get(rows, inside(rows, at, y.size))) : m;
    float sum[2][2] = {};
    for (int64_t k0 = 0; k0 < k; k0 += 32) {
      __syncthreads();
      for (int i = threadIdx.x; i < 1024; i += 256) {
        const int64_t r = row + i / 32, c = column + i % 32, kx = k0 + i % 32, kb = k0 + i / 32;
        xs[i / 32][i % 32] = r < there && kx < k ? get(x, x0 + r * x.stride[ROWS] + kx * x.stride[COLUMNS]) : 0;
        bs[i / 32][i % 32] = c < n && kb < k ? get(b, b0 + kb * b.stride[ROWS] + c * b.stride[COLUMNS]) : 0;
      }
      __syncthreads();
      for (int i = 0; i < 32; i++)
        for (int r = 0; r < 2; r++)
          for (int c = 0; c < 2; c++) sum[r][c] += xs[ty + r * 16][i] * bs[i][tx + c * 16];
    }
    for (int r = 0; r < 2; r++)
      for (int c = 0; c < 2; c++)
        if (row + ty + r * 16 < m && column + tx + c * 16 < n)
          set(y, y0 + (row + ty + r * 16) * y.stride[ROWS] + (column + tx + c * 16) * y.stride[COLUMNS], sum[r][c]);
  }
}

__device__ inline float join(int mode, float a, float b)
{
  switch (mode) {
  case WS_PRODUCT_OF: return a * b;
  case WS_LEAST_OF: return fminf(a, b);
  case WS_MOST_OF:
  case WS_LARGEST_OF: return fmaxf(a, b);
  default: return a + b;
  }
}

// A warp per element of y, its lanes along what is joined, in a fixed order.
extern "C" __global__ void __launch_bounds__(256) warpstep_graph_reduce(const __grid_constant__ ws_graph_args p)
{
  const ws_graph_tensor &x = p.tensor[WS_X], &y = p.tensor[WS_Y];
  const int64_t terms = elements(x) / elements(y), warps = (int64_t)gridDim.x * 8;
  const float none = p.mode == WS_PRODUCT_OF ? 1.0f : p.mode == WS_LEAST_OF ? INFINITY : p.mode == WS_MOST_OF ? -INFINITY : 0.0f;
  for (int64_t i = (int64_t)blockIdx.x * 8 + threadIdx.x / 32; i < elements(y); i += warps) {
    int64_t at[DIMS];
    place(y, i, at);
    float all = none;
    for (int64_t t = threadIdx.x % 32; t < terms; t += 32) {
      int64_t left = t, offset = 0;
      for (int d = DIMS; d-- > 0;) {
        const int64_t group = x.size[d] / y.size[d];
        offset += (at[d] * group + left % group) * x.stride[d];
        left /= group;
      }
      const float v = get(x, offset);
      all = join(p.mode, all, p.mode == WS_LARGEST_OF ? fabsf(v) : v);
    }
    for (int by = 16; by; by /= 2) all = join(p.mode, all, __shfl_xor_sync(~0u, all, by));
    if (threadIdx.x % 32 == 0) set(y, inside(y, at, y.size), p.mode == WS_MEAN_OF ? all / terms : all);
  }
}

// A warp per row. Of a row of which everything is masked nothing is left: zeros.
extern "C" __global__ void __launch_bounds__(256) warpstep_graph_softmax(const __grid_constant__ ws_graph_args p)
{
  const ws_graph_tensor &x = p.tensor[WS_X], &y = p.tensor[WS_Y], &stats = p.tensor[WS_STATS];
  const int64_t n = x.size[COLUMNS], rows = elements(x) / n, warps = (int64_t)gridDim.x * 8;
  const int lane = threadIdx.x % 32;
  for (int64_t i = (int64_t)blockIdx.x * 8 + threadIdx.x / 32; i < rows; i += warps) {
    int64_t at[DIMS];
    place(x, i * n, at);
    const int64_t from = inside(x, at, x.size), to = inside(y, at, x.size);
    float most = -INFINITY, sum = 0;
    for (int64_t j = lane; j < n; j += 32) most = fmaxf(most, get(x, from + j * x.stride[COLUMNS]));
    for (int by = 16; by; by /= 2) most = fmaxf(most, __shfl_xor_sync(~0u, most, by));
    const float base = most == -INFINITY ? 0 : most;
    for (int64_t j = lane; j < n; j += 32) sum += expf(get(x, from + j * x.stride[COLUMNS]) - base);
    for (int by = 16; by; by /= 2) sum += __shfl_xor_sync(~0u, sum, by);
    const float scale = sum == 0 ? 0 : 1 / sum;
    for (int64_t j = lane; j < n; j += 32)
      set(y, to + j * y.stride[COLUMNS], expf(get(x, from + j * x.stride[COLUMNS]) - base) * scale);
    if (lane == 0 && stats.at) set(stats, inside(stats, at, x.size), base + logf(sum));
  }
}

// Bits that are 1 with a probability.
extern "C" __global__ void __launch_bounds__(256) warpstep_graph_random(const __grid_constant__ ws_graph_args p)
{
  const ws_graph_tensor &seeds = p.tensor[WS_X], &offsets = p.tensor[WS_B], &y = p.tensor[WS_Y];
  const uint64_t seed = *(const uint64_t *)seeds.at, offset = *(const uint64_t *)offsets.at;
  AT(i, elements(y))
  {
    int64_t at[DIMS];
    place(y, i, at);
    set(y, inside(y, at, y.size), stays(seed, offset, i, p.probability));
  }
}
