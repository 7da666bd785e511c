// Groups and asynchronous copies of the C++ headers: partitions by label and by bit, scan and reduction, cuda::barrier,
// cuda::pipeline, cuda::atomic_ref.
#include "check.h"
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/pipeline>
namespace cg = cooperative_groups;

enum { N = 4096, CTA = 256, STEPS = 8, WIDTH = 128 };

struct sums {
  int sum, wrong_scans, labeled, by_bit, at_barrier;
};

__global__ void groups(const int *in, sums *out)
{
  __shared__ int tile[CTA];
  auto block = cg::this_thread_block();
  cg::memcpy_async(block, tile, in + blockIdx.x * CTA, sizeof tile);
  cg::wait(block);
  auto warp = cg::tiled_partition<32>(block);
  int v = tile[block.thread_rank()];
  int sum = cg::reduce(warp, v, cg::plus<int>()), scanned = cg::inclusive_scan(warp, v);
  if (warp.thread_rank() == 31 && scanned != sum) atomicAdd(&out->wrong_scans, 1);
  if (warp.thread_rank() == 0) atomicAdd(&out->sum, sum);
  auto same = cg::labeled_partition(warp, v & 3);
  int members = cg::reduce(same, 1, cg::plus<int>());
  if (same.thread_rank() == 0) atomicAdd(&out->labeled, members);
  auto half = cg::binary_partition(warp, v & 1);
  if (half.thread_rank() == 0) atomicAdd(&out->by_bit, (int)half.size());
}

__global__ void barriers(sums *out)
{
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  __shared__ int sum;
  if (threadIdx.x == 0) {
    init(&barrier, blockDim.x);
    sum = 0;
  }
  __syncthreads();
  barrier.arrive_and_wait();
  atomicAdd(&sum, (int)threadIdx.x);
  barrier.wait(barrier.arrive());
  cuda::atomic_ref<int, cuda::thread_scope_device> total(out->at_barrier);
  if (threadIdx.x == 5) total.fetch_add(sum);
}

// Sums columns; the next row is on its way while one is added.
__global__ void pipelined(const float *in, float *out)
{
  __shared__ float row[2][WIDTH];
  auto pipe = cuda::make_pipeline();
  const unsigned i = threadIdx.x;
  float sum = 0;
  pipe.producer_acquire();
  cuda::memcpy_async(&row[0][i], in + i, sizeof(float), pipe);
  pipe.producer_commit();
  for (int k = 0; k < STEPS; k++) {
    if (k + 1 < STEPS) {
      pipe.producer_acquire();
      cuda::memcpy_async(&row[(k + 1) & 1][i], in + (k + 1) * WIDTH + i, sizeof(float), pipe);
      pipe.producer_commit();
      cuda::pipeline_consumer_wait_prior<1>(pipe);
    } else {
      cuda::pipeline_consumer_wait_prior<0>(pipe);
    }
    sum += row[k & 1][i];
    pipe.consumer_release();
  }
  out[i] = sum;
}

int main()
{
  int *in, sum = 0;
  float *rows, *columns;
  sums *out;
  CUDA(cudaMallocManaged(&in, N * sizeof *in));
  CUDA(cudaMallocManaged(&out, sizeof *out));
  CUDA(cudaMallocManaged(&rows, STEPS * WIDTH * sizeof *rows));
  CUDA(cudaMallocManaged(&columns, WIDTH * sizeof *columns));
  for (int i = 0; i < N; i++) sum += in[i] = i % 17;
  for (int i = 0; i < STEPS * WIDTH; i++) rows[i] = (float)i;
  *out = {};
  groups<<<N / CTA, CTA>>>(in, out);
  barriers<<<2, 64>>>(out);
  pipelined<<<1, WIDTH>>>(rows, columns);
  CUDA(cudaDeviceSynchronize());
  CHECK(out->sum == sum && out->wrong_scans == 0 && out->labeled == N && out->by_bit == N);
  CHECK(out->at_barrier == 2 * (63 * 64 / 2));
  for (int i = 0; i < WIDTH; i++) CHECK(columns[i] == STEPS * i + WIDTH * (STEPS * (STEPS - 1) / 2));
}
