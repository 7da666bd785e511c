// Steps of a sum of each row of a matrix, row-major: the same grids, blocks and ways to add up as those of
// gau-nernst/learn-cuda (1454f8b7, 03_sum), which others have timed on 64 rows of 32,000.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

// One element for each thread of the CTA.
extern __shared__ float part[];

#define SUM const float *all, float *out, int rows, int columns

// A thread for each row, with the error that each addition makes (Kahan).
extern "C" __global__ void sum1_row(SUM)
{
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  const float *in = all + row * columns;
  float sum = 0, error = 0;
  for (int i = 0; i < columns; i++) {
    float item = in[i] - error, next = sum + item;
    error = next - sum - item;
    sum = next;
  }
  out[row] = sum;
}

// The elements that one thread of a CTA of `n` adds up, of the `tile` of a row that is the CTA's.
static __device__ float own(const float *in, int tile, int n, int left)
{
  float sum = 0;
  for (int i = threadIdx.x; i < tile; i += n)
    if (i < left) sum += in[i];
  return sum;
}

// Halves of `part` are added up until `last` elements are left.
static __device__ void halves(int n, int last)
{
  __syncthreads();
  for (int stride = n / 2; stride >= last; stride /= 2) {
    if (threadIdx.x < stride) part[threadIdx.x] += part[threadIdx.x + stride];
    __syncthreads();
  }
}

enum class warp_sum { volatile_, syncwarp, shuffle, groups };

// The first warp adds up the 32 elements that are left.
template <warp_sum How> static __device__ float of_warp()
{
  int lane = threadIdx.x;
  if constexpr (How == warp_sum::volatile_) {
    volatile float *p = part;
    for (int stride = 16; stride > 0; stride /= 2) p[lane] += p[lane + stride];
    return p[lane];
  }
  if constexpr (How == warp_sum::syncwarp) {
    for (int stride = 16; stride > 0; stride /= 2) {
      part[lane] += part[lane + stride];
      __syncwarp();
    }
    return part[lane];
  }
  if constexpr (How == warp_sum::groups) {
    using namespace cooperative_groups;
    return reduce(tiled_partition<32>(this_thread_block()), part[lane], plus<float>());
  }
  float sum = part[lane];
  for (int stride = 16; stride > 0; stride /= 2) sum += __shfl_down_sync(~0u, sum, stride);
  return sum;
}

// One element a thread, a tree in shared memory.
extern "C" __global__ void sum2_tree(SUM)
{
  int n = blockDim.x, column = blockIdx.x * n + threadIdx.x;
  part[threadIdx.x] = column < columns ? all[blockIdx.y * columns + column] : 0;
  halves(n, 1);
  if (threadIdx.x == 0) atomicAdd(&out[blockIdx.y], part[0]);
}

// Several elements a thread.
extern "C" __global__ void sum3_tile(SUM, int tile)
{
  int begin = blockIdx.x * tile;
  part[threadIdx.x] = own(all + blockIdx.y * columns + begin, tile, blockDim.x, columns - begin);
  halves(blockDim.x, 1);
  if (threadIdx.x == 0) atomicAdd(&out[blockIdx.y], part[0]);
}

template <warp_sum How> static __device__ void finish(float *out)
{
  halves(blockDim.x, 32);
  float sum = 0;
  if (threadIdx.x < 32) sum = of_warp<How>();
  if (threadIdx.x == 0) atomicAdd(&out[blockIdx.y], sum);
}

template <warp_sum How> static __device__ void tiles(SUM, int tile)
{
  int begin = blockIdx.x * tile;
  part[threadIdx.x] = own(all + blockIdx.y * columns + begin, tile, blockDim.x, columns - begin);
  finish<How>(out);
}

extern "C" __global__ void sum4_volatile(SUM, int tile) { tiles<warp_sum::volatile_>(all, out, rows, columns, tile); }
extern "C" __global__ void sum4_syncwarp(SUM, int tile) { tiles<warp_sum::syncwarp>(all, out, rows, columns, tile); }
extern "C" __global__ void sum4_shuffle(SUM, int tile) { tiles<warp_sum::shuffle>(all, out, rows, columns, tile); }
extern "C" __global__ void sum5_groups(SUM, int tile) { tiles<warp_sum::groups>(all, out, rows, columns, tile); }

// 128-bit loads.
extern "C" __global__ void sum6_vector(SUM, int tile)
{
  const float *in = all + blockIdx.y * columns + blockIdx.x * tile;
  float sum = 0;
  for (int i = threadIdx.x * 4; i < tile; i += blockDim.x * 4)
    if (i < columns - (int)blockIdx.x * tile) {
      float4 v = *reinterpret_cast<const float4 *>(&in[i]);
      sum += v.x + v.y + v.z + v.w;
    }
  part[threadIdx.x] = sum;
  finish<warp_sum::shuffle>(out);
}
