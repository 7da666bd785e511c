// Tiles of more than one warp in code that is not optimised: the offset of the reserved shared memory, which they use, is a number in a
// register there, not an operand.
#include "check.h"

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

enum { THREADS = 512, TILE = 128 };

__global__ void sums(int *out)
{
  __shared__ cg::block_tile_memory<THREADS> memory;
  cg::thread_block block = cg::this_thread_block(memory);
  auto tile = cg::tiled_partition<TILE>(block);
  __shared__ int value[THREADS];
  value[threadIdx.x] = threadIdx.x * 3;
  tile.sync();
  int sum = 0;
  for (int i = 0; i < TILE; i++) sum += value[threadIdx.x / TILE * TILE + i];
  tile.sync();
  out[threadIdx.x] = sum + tile.shfl(threadIdx.x, 5);
}

int main()
{
  int *out, host[THREADS];
  CUDA(cudaMalloc(&out, sizeof host));
  sums<<<1, THREADS>>>(out);
  CUDA(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
  for (int t = 0; t < THREADS; t++) {
    int first = t / TILE * TILE, sum = 3 * (TILE * first + TILE * (TILE - 1) / 2);
    CHECK(host[t] == sum + first + 5);
  }
}
